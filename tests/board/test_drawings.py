"""What is drawn is what is there: drawings are compared with counting after random histories."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core import locks
from core.models import Asset, Drawing, DrawnBlock, HeldRun, Partition
from scheduling import drawings, dynamic, sheets
from scheduling.algebra import specs
from scheduling.board import Look, drawn, read
from scheduling.holds import cancel
from scheduling.journal import Deed
from scheduling.sdk import DailyPartitions, DynamicPartitions, MultiPartitions, StaticPartitions
from tests.board.counting import counted, draw_all, shown
from tests.board.histories import DAYS, STEPS, History
from tests.chance import examples
from tests.engine.world import ALICE, HOURS_TO_DAY, NOW, asset, consumer, emit, hours, turn


@pytest.mark.django_db
class TestDraw:
    @settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(STEPS, max_size=25))
    def test_shows_at_every_moment_what_counting_does(self, steps):
        with transaction.atomic():
            history = History()
            for step in steps:
                history.take(*step)
                assert shown(now=history.now) == counted(now=history.now)
            draw_all(history.now)
            assert not Partition.objects.filter(is_undrawn=True).exists()
            assert not HeldRun.objects.filter(is_undrawn=True).exists()
            assert shown(now=history.now) == counted(now=history.now)
            drawings.forget(Asset.objects.all())
            draw_all(history.now)
            assert shown(now=history.now) == counted(now=history.now)
            transaction.set_rollback(True)

    def test_comes_to_an_end(self):
        emit("daily", *DAYS)
        assert drawings.draw(now=NOW) == len(DAYS)
        assert drawings.draw(now=NOW) == 0

    def test_works_out_what_there_is_before_it_locks_anything(self):
        asset("daily", partitions=specs.dump(DailyPartitions("2026-03-01")))
        emit("daily", *DAYS)
        drawings.draw(now=NOW)
        emit("daily", DAYS[0])
        with CaptureQueriesContext(connection) as found:
            drawings.draw(now=NOW)
        statements = [each["sql"] for each in found]
        locking = next(at for at, sql in enumerate(statements) if "is_undrawn" in sql)
        assert not [sql for sql in statements[locking:] if 'FROM "core_asset"' in sql]

    def test_a_definition_that_has_changed_since_is_drawn_in_the_next_call(self, monkeypatch):
        asset("daily", partitions=specs.dump(DailyPartitions("2026-03-01")))
        emit("daily", DAYS[0])
        draw_all()
        emit("daily", DAYS[1])
        renew = drawings._renew

        def and_then_it_changes(expected):
            count = renew(expected)
            definition = specs.dump(DailyPartitions("2026-03-02"))
            Asset.objects.filter(name="daily").update(partitions=definition)
            Drawing.objects.update(name="another")
            return count

        monkeypatch.setattr(drawings, "_renew", and_then_it_changes)
        assert drawings.draw(now=NOW) == 1
        assert not Drawing.objects.exists()
        assert shown() == counted()
        monkeypatch.undo()
        draw_all()
        assert Drawing.objects.count() == 1
        assert shown() == counted()

    def test_draws_a_portion_at_a_time(self):
        emit("daily", *DAYS)
        assert [drawings.draw(now=NOW, portion=5) for _ in range(4)] == [5, 5, 2, 0]
        assert shown() == counted()

    def test_a_second_one_draws_nothing_meanwhile(self):
        emit("daily", *DAYS)
        if connection.vendor == "postgresql":
            with transaction.atomic():
                assert locks.try_drawing()
                assert _elsewhere(lambda: drawings.draw(now=NOW)) == 0

    def test_an_asset_of_many_keys_has_several_blocks(self):
        store = StaticPartitions([f"store {number}" for number in range(3000)])
        asset(
            "stores",
            partitions=specs.dump(MultiPartitions({"store": store, "day": DailyPartitions("2026-03-01")})),
        )
        emit("stores", "store 7|2026-03-01", "store 2999|2026-03-10")
        draw_all()
        assert set(DrawnBlock.objects.values_list("number", flat=True)) == {0, 3}
        cells = read([asset("stores")], now=NOW)[asset("stores").pk].cells
        assert cells.tally.words == "2 materialized, 29,998 missing"
        assert cells.places.places_at([7, 29_999])[1].key == "store 2999|2026-03-10"

    def test_a_key_that_is_early_is_shown_and_takes_its_place_in_time(self):
        asset("daily", partitions=specs.dump(DailyPartitions("2026-03-08")))
        emit("daily", "2026-03-12")
        draw_all()
        assert shown() == counted()
        later = NOW + timedelta(days=3)
        cells = read([asset("daily")], now=later)[asset("daily").pk].cells
        assert cells.unexpected == frozenset()
        assert shown(now=later)["2026-03-12"] is Look.MATERIALIZED

    def test_a_drawing_follows_the_keys_of_dynamic_partitions(self):
        asset("shops", partitions=specs.dump(DynamicPartitions("shops")))
        dynamic.add("shops", ["lyon", "oslo", "bern"], deed=ALICE, at=NOW)
        emit("shops", "oslo", "oops")
        draw_all()
        dynamic.remove("shops", ["lyon"], deed=ALICE, at=NOW)
        assert shown("shops") == counted("shops")
        draw_all()
        assert shown("shops") == counted("shops")

    def test_a_closed_held_run_leaves_no_trace(self):
        made = consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        emit("hourly", *hours("2026-03-09", 3))
        turn()
        draw_all()
        assert shown() == {"2026-03-09": Look.HELD}
        cancel(HeldRun.objects.get(dag=made), deed=Deed(by="alice"), at=NOW)
        assert shown() == {}
        draw_all()
        assert shown() == {}

    def test_what_a_transaction_that_was_undone_has_drawn_is_not_kept(self):
        emit("daily", "2026-03-01")
        with transaction.atomic():
            emit("daily", "2026-03-02")
            draw_all()
            assert len(shown()) == 2
            transaction.set_rollback(True)
        assert shown() == counted() == {"2026-03-01": Look.MATERIALIZED}

    def test_looks_have_the_same_numbers_everywhere(self):
        assert {look.name: look.value for look in Partition.Look}.items() <= {
            look.name: look.value for look in Look
        }.items()


def _elsewhere(function):
    """What a function returns in a thread with a connection of its own."""
    answer = []

    def call():
        try:
            answer.append(function())
        finally:
            connections.close_all()

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    return answer[0]


BLOCK = 64
"""Keys of one block, where there are to be several."""


@pytest.fixture
def small_blocks(monkeypatch):
    for each in (sheets, drawn):
        monkeypatch.setattr(each, "BLOCK", BLOCK)


@pytest.mark.django_db
@pytest.mark.usefixtures("small_blocks")
def test_keys_without_a_definition_keep_their_numbers_over_several_blocks():
    keys = [f"k{number}" for number in range(2 * BLOCK + 10)]
    emit("loose", *keys[:-1])
    draw_all()
    before = dict(DrawnBlock.objects.values_list("number", "keys"))
    changed = {keys[3], keys[BLOCK + 5], keys[2 * BLOCK + 1]}
    Partition.objects.filter(key__in=changed).update(stale_since=NOW)
    emit("loose", keys[-1])
    draw_all()
    assert {key for key, look in shown("loose").items() if look == Look.STALE} == changed
    assert set(shown("loose")) == set(keys)
    after = dict(DrawnBlock.objects.values_list("number", "keys"))
    assert after == before | {2: before[2] + f"\n{keys[-1]}"}


@pytest.mark.django_db
@pytest.mark.usefixtures("small_blocks")
def test_only_blocks_are_written_whose_keys_look_otherwise():
    keys = [f"k{number}" for number in range(2 * BLOCK)]
    emit("loose", *keys)
    draw_all()
    before = dict(DrawnBlock.objects.values_list("number", "edition"))
    Partition.objects.filter(key=keys[BLOCK]).update(stale_since=NOW)
    draw_all()
    after = dict(DrawnBlock.objects.values_list("number", "edition"))
    assert (before[0] == after[0], before[1] == after[1]) == (True, False)
