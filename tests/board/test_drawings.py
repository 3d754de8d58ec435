"""What is drawn is what is there: drawings are compared with counting after random histories."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core import locks
from core.models import Asset, Drawing, DrawnBlock, HeldRun, Outlet, Partition
from core.models.drawings import BLOCK
from scheduling import claims, drawings, dynamic, runs
from scheduling.algebra import specs
from scheduling.board import Look, read
from scheduling.board.changes import LOOKS
from scheduling.holds import cancel
from scheduling.journal import Deed
from scheduling.runs import Ask
from scheduling.sdk import DailyPartitions, DynamicPartitions, MultiPartitions, StaticPartitions
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, NOW, asset, consumer, emit, hours, turn

DAYS = [f"2026-03-{day:02}" for day in range(1, 13)]
DEFINITIONS = (
    None,
    specs.dump(DailyPartitions("2026-03-02", end_offset=1)),
    specs.dump(DailyPartitions("2026-03-04", "2026-03-09")),
)
STEPS = st.one_of(
    st.tuples(st.just("emit"), st.sampled_from([*DAYS, "oops"])),
    st.tuples(st.just("hour"), st.sampled_from(DAYS)),
    st.tuples(st.just("run"), st.sampled_from(DAYS)),
    st.tuples(st.just("fail"), st.sampled_from(DAYS)),
    st.tuples(st.just("stale"), st.sampled_from(DAYS)),
    st.tuples(st.just("cancel"), st.sampled_from(DAYS)),
    st.tuples(st.just("wipe"), st.sampled_from(DAYS)),
    st.tuples(st.just("define"), st.sampled_from(range(len(DEFINITIONS)))),
    st.tuples(st.just("writer"), st.booleans()),
    st.tuples(st.just("wait"), st.sampled_from(range(3))),
    st.tuples(st.just("draw"), st.sampled_from([1, 3, 100])),
)


def shown(name="daily", now=NOW):
    cells = read([asset(name)], now=now)[asset(name).pk].cells
    found = {place.key: cells.look(at) for at, place in enumerate(cells.places)} | dict(cells.apart)
    assert cells.tally.total == len(cells.places)
    return found


def counted(name="daily", now=NOW):
    """The same by a look at every row."""
    row = asset(name)
    held = set(HeldRun.objects.held().filter(dag__outlets__asset=row).values_list("partition_key", flat=True))
    definition = specs.load(row.partitions, "partitions") if row.partitions else None
    found = dict.fromkeys(dynamic.bound(definition).keys(now=now), Look.MISSING) if definition else {}
    for part in Partition.objects.filter(asset=row):
        found[part.key] = LOOKS[part.state, part.is_stale]
    for key in held:
        if found.get(key, Look.MISSING) is Look.MISSING:
            found[key] = Look.HELD
    return found


def draw_all(now=NOW):
    while drawings.draw(now=now):
        pass


class History:
    """Steps of one history, taken on a Dag that makes days of hours and on what it writes."""

    def __init__(self):
        self.now = NOW
        self.dag = consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])

    def take(self, kind, what):
        getattr(self, kind)(what)
        self.now += timedelta(seconds=1)

    def emit(self, key):
        emit("daily", key, at=self.now)

    def hour(self, day):
        emit("hourly", *hours(day, 3), at=self.now)
        turn(self.now)

    def run(self, day):
        world.start(runs.trigger(self.dag, Ask(day, settle_held=False), deed=ALICE, at=self.now), at=self.now)

    def fail(self, day):
        run = self.dag.runs.filter(state="running", partition_key=day).first()
        if run:
            claims.fail(run, "boom", at=self.now)

    def stale(self, day):
        Partition.objects.filter(key=day).update(stale_since=self.now)

    def cancel(self, day):
        row = HeldRun.objects.held().filter(partition_key=day).first()
        if row:
            cancel(row, deed=ALICE, at=self.now)

    def wipe(self, day):
        Partition.objects.filter(key=day).update(data_at=None, attempt="")

    def define(self, which):
        Asset.objects.filter(name="daily").update(partitions=DEFINITIONS[which])

    def writer(self, there):
        other = self.dag.__class__.objects.filter(dag_id="other").first() or world.dag("other")
        Outlet.objects.filter(dag=other).delete()
        if there:
            Outlet.objects.create(dag=other, asset=asset("daily"), task_id="write")

    def wait(self, days):
        self.now += timedelta(days=days)

    def draw(self, portion):
        drawings.draw(now=self.now, portion=portion)


@pytest.mark.django_db
class TestDraw:
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


@pytest.mark.pg
@pytest.mark.django_db(transaction=True)
class TestTogether:
    """Writers and those who draw, at the same time, on a database that lets them."""

    def test_nothing_is_lost_and_nobody_waits_for_ever(self):
        crowd = Crowd()
        writers = [crowd.start(lambda n=number: crowd.write(n)) for number in range(3)]
        others = [crowd.start(crowd.draw), crowd.start(crowd.draw), crowd.start(crowd.look)]
        for thread in writers:
            thread.join()
        crowd.over.set()
        for thread in others:
            thread.join()
        assert not crowd.troubles
        assert crowd.drawn
        assert shown() == counted()
        draw_all()
        assert shown() == counted()
        assert Drawing.objects.filter(asset__name="daily").exists()


class Crowd:
    """Writers of the same few partitions, those who draw them, and those who look."""

    KEYS = tuple(f"{day}T{hour:02}" for day in DAYS for hour in range(24))

    def __init__(self):
        self.dag = world.dag("load", {"type": "PartitionedAtRuntime"}, writes=["daily"])
        self.over, self.troubles, self.drawn = threading.Event(), [], 0

    def start(self, work):
        thread = threading.Thread(target=self._guarded, args=(work,))
        thread.start()
        return thread

    def _guarded(self, work):
        try:
            work()
        except Exception as error:
            self.troubles.append(error)
        finally:
            connections.close_all()

    def write(self, number):
        for again in range(12):
            emit("daily", *self.KEYS[number * 30 : number * 30 + 120])
            run = runs.trigger(self.dag, Ask(self.KEYS[number * 7 + again]), deed=ALICE, at=NOW)
            started = claims.claim(run.pk, worker=f"w{number}", now=NOW)
            if started and again % 2:
                claims.fail(started, "boom", at=NOW + timedelta(seconds=again))

    def draw(self):
        while not self.over.is_set():
            self.drawn += drawings.draw(now=NOW, portion=50)

    def look(self):
        while not self.over.is_set():
            assert len(shown()) <= len(self.KEYS)


@pytest.mark.django_db
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
def test_only_blocks_are_written_whose_keys_look_otherwise():
    keys = [f"k{number}" for number in range(2 * BLOCK)]
    emit("loose", *keys)
    draw_all()
    before = dict(DrawnBlock.objects.values_list("number", "edition"))
    Partition.objects.filter(key=keys[BLOCK]).update(stale_since=NOW)
    draw_all()
    after = dict(DrawnBlock.objects.values_list("number", "edition"))
    assert (before[0] == after[0], before[1] == after[1]) == (True, False)
