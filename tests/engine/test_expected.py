"""When keys are expected: by the tick that makes them, by when others came, or nobody knows."""

from datetime import UTC, datetime, timedelta

import pytest

from core.models import Asset, Dag, DagRun
from scheduling import newruns, overdue, runs
from scheduling.algebra import specs
from scheduling.algebra.time_shorthands import DailyPartitions, HourlyPartitions
from scheduling.assessing import assess
from scheduling.expected import Expectations
from scheduling.newruns import NewRun
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY, IDENTITY, MINUTE, NOW, asset, emit

pytestmark = pytest.mark.django_db

HOURLY = {"type": "CronPartitionTimetable", "cron": "0 * * * *"}
BEGAN = datetime(2026, 3, 1, tzinfo=UTC)


def at(hour, minute=0, day=10):
    return datetime(2026, 3, day, hour, minute, tzinfo=UTC)


def expected(name, key):
    return Expectations([asset(name)]).of(asset(name), key)


def days_from(start):
    return specs.dump(DailyPartitions(start=start))


def took(dag, minutes, key="x"):
    """A run of `dag` that took so long and ended well."""
    [run] = newruns.create([NewRun(dag=dag, run_type=runs.Type.MANUAL, partition_key=key)], at=NOW)
    DagRun.objects.filter(pk=run.pk).update(state="success", started_at=NOW, ended_at=NOW + minutes * MINUTE)


class TestNever:
    def owed(self, mapper, key):
        """By what is held of `key` after another asset has it; the words about each key of `daily`."""
        world.consumer("joined", {"a": IDENTITY, "daily": mapper})
        emit("a", key)
        world.turn()
        row = world.held("joined", key)
        owing = overdue.owed([row], assess([row], now=NOW))[row.pk]
        return {each.key: each.expected.words for each in owing if each.expected.is_never}

    @pytest.mark.parametrize("key", ["2026-3-9", "2026-02-28"])
    def test_what_the_definition_can_never_have_cannot_come(self, key):
        asset("daily", partitions=days_from("2026-03-01"))
        assert self.owed(IDENTITY, key) == {key: "cannot come: daily is to have no such key"}

    @pytest.mark.parametrize(
        ("definition", "key"),
        [
            (days_from("2026-03-01"), "2999-01-01"),
            ({"type": "DynamicPartitions", "name": "store"}, "north"),
            ({"type": "NoSuchPartitions"}, "x"),
            (None, "x"),
        ],
    )
    def test_what_it_may_have_can(self, definition, key):
        asset("daily", partitions=definition)
        assert self.owed(IDENTITY, key) == {}

    def test_what_counts_as_another_spelling_of_a_key_that_it_has_can(self):
        """An hour of UTC that is asked for comes by its name in Berlin."""
        form = "%Y-%m-%dT%H:%M:%S%z"
        berlin = HourlyPartitions("2026-03-01", timezone="Europe/Berlin", key_format=form)
        asset("daily", partitions=specs.dump(berlin))
        by_hour = HOURS_TO_DAY | {"upstream_mapper": {"type": "StartOfDayMapper", "input_format": form}}
        assert self.owed(by_hour, "2026-03-10") == {}


class TestByTick:
    @pytest.fixture
    def hourly(self, db):
        return world.dag("ingest", HOURLY, writes=["hourly"], start_date=BEGAN)

    def test_is_the_tick_that_makes_the_key(self, hourly):
        found = expected("hourly", "2026-03-10T09:00:00")
        assert (found.at, found.words) == (at(9), "the tick of ingest, and as long as its runs take")

    def test_and_as_long_as_its_runs_usually_take(self, hourly):
        for minutes in (4, 5, 90):
            took(hourly, minutes)
        assert expected("hourly", "2026-03-10T09:00:00").at == at(9, 5)

    def test_a_run_that_failed_says_nothing(self, hourly):
        took(hourly, 7)
        DagRun.objects.update(state="failed")
        assert expected("hourly", "2026-03-10T09:00:00").at == at(9)

    def test_an_offset_is_counted_back(self):
        world.dag("late", HOURLY | {"run_offset": -1}, writes=["hourly"], start_date=BEGAN)
        assert expected("hourly", "2026-03-10T09:00:00").at == at(10)

    def test_of_many_ticks_for_one_key_the_first_makes_it(self):
        refresh = {"type": "CronPartitionTimetable", "cron": "*/5 * * * *", "key_format": "%Y-%m-%d"}
        world.dag("refresh", refresh, writes=["daily"], start_date=BEGAN)
        assert expected("daily", "2026-03-10").at == at(0)

    def test_a_key_from_before_the_dag_began_is_not_known(self, hourly):
        found = expected("hourly", "2026-02-10T09:00:00")
        assert (found.at, found.words) == (
            None,
            "its tick passed before ingest began at 2026-03-01 00:00 UTC: nobody makes it unless you"
            " trigger or backfill it",
        )

    def test_nor_is_one_from_after_its_end(self):
        world.dag("over", HOURLY, writes=["hourly"], start_date=BEGAN, end_date=at(8))
        found = expected("hourly", "2026-03-10T09:00:00")
        assert (found.at, found.words) == (
            None,
            "its tick comes after over ends at 2026-03-10 08:00 UTC: nobody makes it unless you"
            " trigger or backfill it",
        )

    @pytest.mark.parametrize("key", ["tw", "2026-03-10", "2026-03-10T09:30:00"])
    def test_a_key_that_no_tick_makes_is_looked_for_in_the_history(self, hourly, key):
        found = expected("hourly", key)
        assert found.at is None
        assert "too few partitions" in found.words

    def test_a_dag_that_nothing_defines_any_more_makes_nothing(self, hourly):
        hourly.is_active = False
        hourly.save()
        assert expected("hourly", "2026-03-10T09:00:00").at is None


class TestByHistory:
    @pytest.fixture
    def days(self, db):
        """A week of days, each of which came at about six the morning after."""
        daily = asset("daily", partitions=days_from("2026-03-01"))
        for day, minute in zip(range(2, 9), (0, 10, 20, 30, 5, 15, 25), strict=True):
            emit("daily", f"2026-03-{day:02}", at=at(6, minute, day=day + 1))
        return daily

    def test_is_as_long_after_the_date_as_usual(self, days):
        found = expected("daily", "2026-03-10")
        assert found.at == at(6, 15, day=11)
        assert found.words == "the last 7 partitions came as long after their dates"

    def test_the_first_arrival_counts_not_a_correction(self, days):
        emit("daily", "2026-03-08", "2026-03-07", "2026-03-06", at=NOW + timedelta(days=30))
        assert expected("daily", "2026-03-10").at == at(6, 15, day=11)

    def test_a_few_say_nothing(self):
        asset("daily", partitions=days_from("2026-03-01"))
        emit("daily", "2026-03-01", "2026-03-02")
        assert "too few partitions" in expected("daily", "2026-03-10").words

    def test_a_replay_of_the_past_says_nothing(self):
        asset("daily", partitions=days_from("2026-02-01"))
        emit("daily", *(f"2026-02-{day:02}" for day in range(1, 21)))
        found = expected("daily", "2026-03-10")
        assert (found.at, found.words) == (
            None,
            "not known: no timetable makes it, and its partitions come at no regular time",
        )

    def test_a_key_without_time_has_none(self, days):
        Asset.objects.filter(name="daily").update(partitions=None)
        assert expected("daily", "tw").words == "not known: the key has no time in it"


class TestManyAssets:
    def grow(self, *numbers):
        """Each number: an asset with a timetable, one with a definition, one dated by who writes it."""
        for number in numbers:
            world.dag(f"ingest {number}", HOURLY, writes=[f"ticked {number}"], start_date=BEGAN)
            asset(f"daily {number}", partitions=days_from("2026-03-01"))
            world.consumer(f"names {number}", {"hourly": HOURS_TO_DAY}, writes=[f"named {number}"])
            for day in range(1, 6):
                for name in ("daily", "named"):
                    emit(f"{name} {number}", f"2026-03-{day:02}", at=at(6, number, day=day + 1))
        return [asset(f"{name} {number}") for name in ("ticked", "daily", "named") for number in numbers]

    def found(self, assets):
        expectations = Expectations(assets)
        keys = {each: "2026-03-10T09:00:00" if "ticked" in each.name else "2026-03-10" for each in assets}
        return {each.name: expectations.of(each, key).at for each, key in keys.items()}

    def test_each_has_its_own_times(self):
        found = self.found(self.grow(1, 2))
        assert found == {
            "ticked 1": at(9),
            "ticked 2": at(9),
            "daily 1": at(6, 1, day=11),
            "daily 2": at(6, 2, day=11),
            "named 1": at(6, 1, day=11),
            "named 2": at(6, 2, day=11),
        }

    def test_ask_no_more_than_few(self, django_assert_num_queries):
        few, many = self.grow(1), self.grow(2, 3, 4, 5)
        for assets in (few, few + many):
            self.found(assets)  # what a process reads once, it has read now
            with django_assert_num_queries(6):
                self.found(assets)

    def test_a_writer_that_cannot_be_read_spoils_its_own_asset_only(self):
        assets = self.grow(1, 2)
        Dag.objects.filter(dag_id="names 1").update(schedule={"type": "NoSuch"}, revision=5)
        found = self.found(assets)
        assert (found["named 1"], found["named 2"]) == (None, at(6, 2, day=11))
