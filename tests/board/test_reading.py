from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import Asset, Partition
from scheduling import board, claims, corrections, drawings, dynamic, runs
from scheduling.algebra import specs
from scheduling.board import Look
from scheduling.board.reading import read
from scheduling.runs import Ask
from scheduling.sdk import DailyPartitions, DynamicPartitions, MultiPartitions, StaticPartitions
from tests.engine import world
from tests.engine.world import ALICE, DAILY, HOURS_TO_DAY, MINUTE, NOW, asset, consumer, emit, hours, turn

pytestmark = pytest.mark.django_db

DAYS = specs.dump(DailyPartitions("2026-03-08", "2026-03-12"))


def looks(name, now=NOW):
    cells = read([asset(name)], now=now)[asset(name).pk].cells
    return {place.key: cells.look(at) for at, place in enumerate(cells.places)}


class TestLooks:
    def test_what_is_expected_and_not_there_is_missing(self):
        asset("daily", partitions=DAYS)
        assert looks("daily") == dict.fromkeys(["2026-03-08", "2026-03-09", "2026-03-10"], Look.MISSING)

    def test_time_brings_new_keys(self):
        asset("daily", partitions=DAYS)
        looks("daily")
        assert list(looks("daily", NOW + timedelta(days=1)))[-1] == "2026-03-11"

    def test_an_event_makes_it_materialized(self):
        asset("daily", partitions=DAYS)
        emit("daily", "2026-03-09")
        assert looks("daily")["2026-03-09"] is Look.MATERIALIZED

    def test_a_held_run_of_the_producer_makes_it_held(self):
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        Asset.objects.filter(name="daily").update(partitions=DAYS)
        emit("hourly", *hours("2026-03-09", 0, 1))
        turn()
        assert looks("daily")["2026-03-09"] is Look.HELD

    def test_what_has_data_is_not_shown_held_while_the_next_round_waits(self):
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"], late="restart")
        emit("hourly", *hours("2026-03-09", *range(24)))
        turn()
        world.finish(world.start(world.DagRun.objects.get()), "daily")
        emit("hourly", *hours("2026-03-09", 3), at=NOW + MINUTE)
        turn(NOW + MINUTE)
        assert world.HeldRun.objects.held().count() == 1
        assert looks("daily")["2026-03-09"] is Look.STALE

    def test_a_run_shows_while_it_runs_and_when_it_failed(self):
        made = world.dag("daily_dag", DAILY, writes=["daily"])
        run = runs.trigger(made, Ask("2026-03-09"), deed=ALICE, at=NOW)
        started = world.start(run)
        assert looks("daily")["2026-03-09"] is Look.RUNNING
        claims.fail(started, "boom", at=NOW)
        assert looks("daily")["2026-03-09"] is Look.FAILED

    def test_stale_data_is_stale_unless_it_is_worse(self):
        emit("daily", "2026-03-09", "2026-03-10")
        Partition.objects.update(stale_since=NOW)
        Partition.objects.filter(key="2026-03-10").update(attempt=Partition.Attempt.FAILED)
        assert looks("daily") == {"2026-03-09": Look.STALE, "2026-03-10": Look.FAILED}


class TestUniverse:
    def test_a_key_that_the_definition_does_not_have_is_kept_and_named(self):
        asset("daily", partitions=DAYS)
        emit("daily", "2026-02-01", "2026-03-09")
        cells = read([asset("daily")], now=NOW)[asset("daily").pk].cells
        assert cells.unexpected == {"2026-02-01"}
        assert cells.places[0].key == "2026-02-01"
        assert (len(cells.places), cells.tally.total) == (4, 3)

    def test_without_a_definition_the_ticks_of_the_producer_are_expected(self):
        world.dag("nightly", DAILY, writes=["daily"], start_date=NOW - timedelta(days=3))
        assert list(looks("daily")) == ["2026-03-09", "2026-03-10", "2026-03-11"]

    def test_ticks_are_expected_until_the_end_of_the_dag(self):
        dates = {"start_date": NOW - timedelta(days=3), "end_date": NOW - timedelta(days=2)}
        world.dag("nightly", DAILY, writes=["daily"], **dates)
        assert list(looks("daily")) == ["2026-03-09"]

    def test_a_stray_key_that_is_the_first_leaves_the_others_in_their_time(self):
        emit("seen", "oops", *(f"{city}|2026-03-{day:02}" for city in "ba" for day in range(1, 10)))
        cells = read([asset("seen")], now=NOW)[asset("seen").pk].cells
        assert cells.strays() == ["oops"]
        assert [place.label for place in cells.places[1:4]] == ["2026-03-01", "2026-03-01", "2026-03-02"]

    def test_other_keys_than_those_of_the_ticks_are_not_unexpected(self):
        world.dag("nightly", DAILY, writes=["daily"], start_date=NOW - timedelta(days=3))
        emit("daily", "2026-01-01")
        assert read([asset("daily")], now=NOW)[asset("daily").pk].cells.unexpected == frozenset()

    def test_of_two_producers_nothing_is_expected(self):
        for name in ("one", "other"):
            world.dag(name, DAILY, writes=["daily"], start_date=NOW - timedelta(days=3))
        assert looks("daily") == {}

    def test_otherwise_what_was_seen_is_all_there_is(self):
        emit("anything", "b", "a")
        assert set(looks("anything")) == {"a", "b"}

    def test_a_definition_that_cannot_be_read_expects_nothing(self):
        emit("daily", "2026-03-09")
        Asset.objects.update(partitions={"type": "NoSuchPartitions"})
        assert looks("daily") == {"2026-03-09": Look.MATERIALIZED}

    def test_composite_keys_stand_in_the_order_of_time(self):
        dimensions = {"city": StaticPartitions(["sf", "la"]), "day": DailyPartitions("2026-03-08")}
        asset("daily", partitions=specs.dump(MultiPartitions(dimensions)))
        assert list(looks("daily"))[:3] == ["sf|2026-03-08", "la|2026-03-08", "sf|2026-03-09"]

    def test_keys_of_dynamic_partitions_are_those_added_by_now(self):
        asset("shops", partitions=specs.dump(DynamicPartitions("shops")))
        dynamic.add("shops", ["lyon", "oslo"], deed=ALICE, at=NOW)
        emit("shops", "oslo", "oops")
        assert looks("shops") == {"lyon": Look.MISSING, "oslo": Look.MATERIALIZED, "oops": Look.MATERIALIZED}
        dynamic.add("shops", ["bern"], deed=ALICE, at=NOW)
        assert looks("shops")["bern"] is Look.MISSING
        assert read([asset("shops")], now=NOW)[asset("shops").pk].cells.unexpected == {"oops"}

    def test_of_very_many_keys_the_newest_are_read(self, monkeypatch):
        monkeypatch.setattr(board.drawn, "MOST_KEYS", 2)
        emit("daily", *(f"2026-03-{day:02}" for day in range(1, 11)))
        state = read([asset("daily")], now=NOW)[asset("daily").pk]
        assert [place.key for place in state.cells.places] == ["2026-03-09", "2026-03-10"]
        assert state.left_off == 8


class TestWhatIsKept:
    @pytest.mark.parametrize("count", [1, 7])
    def test_any_number_of_assets_costs_a_few_queries(self, count):
        for number in range(count):
            consumer(f"sum {number}", {"hourly": HOURS_TO_DAY}, writes=[f"daily {number}"])
            emit(f"daily {number}", "2026-03-09")
        assets = [asset(f"daily {number}") for number in range(count)]
        while drawings.draw(now=NOW):
            pass
        emit("hourly", *hours("2026-03-10", 0))
        turn()
        for number in range(count):
            emit(f"daily {number}", "2026-03-08")
        with CaptureQueriesContext(connection) as queries:
            found = read(assets, now=NOW)
        assert {state.cells.tally.total for state in found.values()} == {3}
        assert len(queries) == 9
        with CaptureQueriesContext(connection) as queries:
            read(assets, now=NOW)
        assert len(queries) == 8

    def test_every_kind_of_change_is_seen(self):
        made = consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        seen = [looks("daily")]

        def changed():
            seen.append(looks("daily"))
            return seen[-1] != seen[-2]

        emit("hourly", *hours("2026-03-09", *range(23)))
        turn()
        assert changed()  # held
        emit("hourly", *hours("2026-03-09", 23))
        turn()
        assert changed()  # fired: not there any more
        started = world.start(made.runs.get())
        assert changed()  # running
        claims.fail(started, "boom", at=NOW)
        assert changed()  # failed
        corrections.retry(made.runs.get(), deed=ALICE, at=NOW)
        world.finish(world.start(made.runs.get()), "daily")
        assert changed()  # materialized
        Partition.objects.update(stale_since=NOW)
        assert changed()  # stale
