from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import Asset
from scheduling import board, claims, listening, runs
from scheduling.algebra import specs
from scheduling.algebra.time_shorthands import DailyPartitions
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, IDENTITY, NOW, REGIONS, consumer, emit, hours, turn

pytestmark = pytest.mark.django_db

DAILY = {"type": "CronPartitionTimetable", "cron": "0 6 * * *", "key_format": "%Y-%m-%d"}


def words(dag):
    return board.lines([dag])[0].schedule


class TestScheduleWords:
    def test_a_cron_is_said_in_words(self):
        assert words(world.dag("nightly", DAILY)) == listening.timetable_of(world.Dag.objects.get()).words()

    def test_no_timetable_is_said(self):
        assert words(world.dag("report")) == "only when somebody triggers it"

    @pytest.mark.parametrize(
        ("mapper", "said"),
        [
            (HOURS_TO_DAY, "when all hours of sales have arrived"),
            (REGIONS, "when all keys of sales have arrived"),
            (
                HOURS_TO_DAY | {"wait_policy": {"type": "MinimumCount", "n": 20}},
                "when at least 20 hours of sales have arrived",
            ),
            (
                HOURS_TO_DAY | {"wait_policy": {"type": "MinimumCount", "n": -2}},
                "when the hours of sales (at most 2 missing) have arrived",
            ),
        ],
    )
    def test_a_rollup_says_what_it_waits_for(self, mapper, said):
        assert words(consumer("sum", {"sales": mapper})) == said

    def test_several_assets_are_joined(self):
        made = consumer("sum", {"sales": HOURS_TO_DAY, "prices": IDENTITY})
        assert words(made) == "when all hours of sales and prices have arrived"

    def test_a_broken_definition_is_said(self):
        assert words(world.dag("broken", {"type": "NoSuchTimetable"})).startswith("never: ")


class TestLate:
    """What late keys do, to stand after "they"."""

    @pytest.mark.parametrize(
        ("late", "said"),
        [
            (None, "start it again when all have come anew, or after 10 minutes in which none comes"),
            ("hold", "wait until a person fires them"),
            ("mark_stale", "start nothing: the partition shows as stale"),
            ("restart", "start it again when all have come anew"),
            ("immediate", "start it again at once"),
        ],
    )
    def test_is_said_for_each_rule(self, late, said):
        [line] = board.lines([consumer("sum", {"sales": HOURS_TO_DAY}, late=late)])
        assert line.late == said

    def test_a_start_that_needs_one_key_starts_again_at_once(self):
        [line] = board.lines([consumer("copy", {"sales": IDENTITY})])
        assert line.late == "start it again at once"

    def test_a_dag_that_listens_to_nothing_has_none(self):
        [line] = board.lines([world.dag("nightly", {"type": "PartitionedAtRuntime"})])
        assert line.late == ""


class TestLines:
    def test_the_last_runs_stand_oldest_first(self):
        made = world.dag("nightly", {"type": "PartitionedAtRuntime"})
        for number in range(20):
            runs.trigger(made, Ask(f"{number:02}"), deed=ALICE, at=NOW)
        [line] = board.lines([made])
        assert [run.partition_key for run in line.runs] == [f"{number:02}" for number in range(6, 20)]
        assert line.active_count == 20

    def test_count_what_is_held_and_what_is_wrong(self):
        problem = {"code": "x", "level": "error", "sentence": "never"}
        made = consumer("sum", {"hourly": HOURS_TO_DAY})
        made.problems = [problem, problem | {"level": "warning"}]
        emit("hourly", *hours("2026-03-09", 1), *hours("2026-03-10", 1))
        turn()
        [line] = board.lines([made])
        assert (line.held_count, line.error_count) == (2, 1)

    def test_show_the_last_runs_of_each_oldest_first(self):
        many, few = (world.dag(name, DAILY) for name in ("many", "few"))
        days = [f"2026-02-{day:02}" for day in range(1, 21)]
        for day in days:
            runs.trigger(many, Ask(day), deed=ALICE, at=NOW)
        runs.trigger(few, Ask("2026-02-01"), deed=ALICE, at=NOW)
        shown = {
            line.dag.dag_id: [run.partition_key for run in line.runs] for line in board.lines([many, few])
        }
        assert shown == {"many": days[-board.dags.LAST_RUNS :], "few": ["2026-02-01"]}

    def test_cost_the_same_for_many_as_for_one(self):
        def queries(dags):
            board.lines(dags)
            with CaptureQueriesContext(connection) as found:
                board.lines(dags)
            return len(found)

        dags = [consumer(f"sum {number}", {"hourly": HOURS_TO_DAY}) for number in range(8)]
        assert queries(dags) == queries(dags[:1]) == 4


class TestNextTicks:
    def test_are_those_after_now(self):
        ticks = board.next_ticks(world.dag("nightly", DAILY), now=NOW, count=2)
        assert [tick.at for tick in ticks] == [datetime(2026, 3, day, 6, tzinfo=UTC) for day in (12, 13)]
        assert [tick.partition_key for tick in ticks] == ["2026-03-12", "2026-03-13"]

    def test_end_with_the_dag(self):
        made = world.dag("nightly", DAILY, end_date=NOW + timedelta(days=1))
        assert len(board.next_ticks(made, now=NOW)) == 1

    def test_a_dag_without_a_cadence_has_none(self):
        assert board.next_ticks(consumer("copy", {"daily": IDENTITY}), now=NOW) == []
        assert board.next_ticks(world.dag("report"), now=NOW) == []

    def test_a_broken_one_has_none(self):
        assert board.next_ticks(world.dag("broken", {"type": "NoSuchTimetable"}), now=NOW) == []


class TestSuggestions:
    def test_begin_with_what_is_held(self):
        made = consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours("2026-03-09", 1), *hours("2026-03-10", 1))
        turn()
        assert list(board.suggestions(made, now=NOW)) == ["held"]
        assert board.suggestions(made, now=NOW)["held"] == ["2026-03-10", "2026-03-09"]

    def test_name_what_failed_and_the_newest_that_is_missing(self):
        made = world.dag("nightly", DAILY, writes=["daily"], start_date=NOW - timedelta(days=10))
        run = runs.trigger(made, Ask("2026-03-09"), deed=ALICE, at=NOW)
        claims.fail(world.start(run), "boom", at=NOW)
        found = board.suggestions(made, now=NOW)
        assert found["failed"] == ["2026-03-09"]
        assert found["missing"][:2] == ["2026-03-11", "2026-03-10"]
        assert found["recent"] == ["2026-03-09"]

    def test_name_what_is_missing_around_the_newest_data(self):
        year = specs.dump(DailyPartitions("2026-01-01", end="2027-01-01"))
        made = world.dag("load", DAILY, writes=["days"])
        Asset.objects.filter(name="days").update(partitions=year)
        emit("days", "2026-03-02", "2026-03-04")
        turn()
        later = datetime(2027, 2, 1, tzinfo=UTC)
        assert board.suggestions(made, now=later)["missing"] == [
            *(f"2026-03-0{day}" for day in (5, 6, 7, 8)),
            *("2026-03-03", "2026-03-01", "2026-02-28", "2026-02-27"),
        ]

    def test_name_what_is_waited_for_before_what_is_only_missing(self):
        hourly = {"type": "CronPartitionTimetable", "cron": "0 * * * *", "key_format": "%Y-%m-%dT%H:%M:%S"}
        made = world.dag("load", hourly, writes=["hourly"], start_date=NOW - timedelta(days=10))
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours("2026-03-05", *range(3, 24)))
        turn()
        found = board.suggestions(made, now=NOW)
        assert list(found)[:2] == ["waited for", "missing"]
        assert found["waited for"] == hours("2026-03-05", 0, 1, 2)

    def test_name_a_key_that_is_held_and_waited_for_once(self):
        made = consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        monday = {"type": "StartOfWeekMapper", "input_format": "%Y-%m-%d"}
        week = {"upstream_mapper": monday, "window": {"type": "WeekWindow"}}
        consumer("weekly", {"daily": {"type": "RollupMapper"} | week})
        emit("hourly", *hours("2026-03-09", 1))
        emit("daily", "2026-03-10")
        turn()
        found = board.suggestions(made, now=NOW)
        assert found["held"] == ["2026-03-09"]
        assert found["waited for"] == [f"2026-03-{day}" for day in range(11, 16)]

    def test_name_a_key_that_ran_often_once(self):
        made = world.dag("nightly", {"type": "PartitionedAtRuntime"})
        for key in ("b", "a", "b"):
            runs.trigger(made, Ask(key), deed=ALICE, at=NOW)
        assert board.suggestions(made, now=NOW) == {"recent": ["b", "a"]}
