import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import DagRun, HeldRun, LogLine, Partition
from scheduling import board, claims, runs
from scheduling.board import Look
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, IDENTITY, NOW, asset, consumer, emit, hours, turn

pytestmark = pytest.mark.django_db


def facts(name, key):
    return board.facts(asset(name), key, now=NOW)


class TestState:
    def test_a_key_that_nobody_knows_is_missing_and_has_no_history(self):
        told = facts("daily", "2026-03-09")
        assert (told.look, told.partition, told.events, told.run) == (Look.MISSING, None, [], None)

    def test_events_are_told_latest_first(self):
        emit("daily", "2026-03-09")
        emit("daily", "2026-03-09", at=NOW + world.MINUTE)
        told = facts("daily", "2026-03-09")
        assert told.look is Look.MATERIALIZED
        assert [event.timestamp for event in told.events] == [NOW + world.MINUTE, NOW]

    def test_stale_data_is_called_stale(self):
        emit("daily", "2026-03-09")
        Partition.objects.update(stale_since=NOW)
        assert facts("daily", "2026-03-09").look is Look.STALE

    def test_a_held_key_says_what_it_waits_for(self):
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        emit("hourly", *hours("2026-03-09", *range(23)))
        turn()
        told = facts("daily", "2026-03-09")
        assert told.look is Look.HELD
        assert [held.verdict.sentence for held in told.held] == ["waiting on 1 of 24: hour 23"]
        assert [dag.dag_id for dag in told.producers] == ["sum"]


class TestRun:
    def test_the_run_that_made_it_is_told_with_its_log_and_what_it_was_made_from(self):
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        emit("hourly", *hours("2026-03-09", *range(24)))
        turn()
        run = world.start(DagRun.objects.get())
        for number in range(20):
            LogLine.objects.create(run=run, attempt=1, at=NOW, text=f"line {number}")
        world.finish(run, "daily")
        told = facts("daily", "2026-03-09")
        assert told.run == run
        assert [line.text for each in told.log for line in each.lines] == [
            f"line {number}" for number in range(12, 20)
        ]
        assert told.made_from == [board.Source("hourly", "24 keys: 00–23")]

    def test_the_latest_attempt_is_told_even_if_an_older_one_made_the_data(self):
        made = world.dag("nightly", {"type": "PartitionedAtRuntime"}, writes=["daily"])
        first = world.start(runs.trigger(made, Ask("2026-03-09"), deed=ALICE, at=NOW))
        world.finish(first, "daily")
        second = world.start(runs.trigger(made, Ask("2026-03-09"), deed=ALICE, at=NOW))
        claims.fail(second, "boom", at=NOW)
        told = facts("daily", "2026-03-09")
        assert (told.run, told.look) == (second, Look.FAILED)
        assert told.partition is not None
        assert told.partition.data_at is not None

    def test_a_key_that_is_not_required_is_told_apart(self):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours("2026-03-09", *range(24)), "2026-03-09T07:30:00")
        turn()
        assert board.made_from(DagRun.objects.get()) == [
            board.Source("hourly", "24 keys: 00–23", ("2026-03-09T07:30:00",))
        ]

    def test_one_key_is_said_as_it_is(self):
        consumer("copy", {"daily": IDENTITY}, writes=["copies"])
        emit("daily", "2026-03-09")
        turn()
        assert board.made_from(DagRun.objects.get()) == [board.Source("daily", "2026-03-09")]

    def test_a_run_by_hand_was_made_from_nothing(self):
        assert board.made_from(None) == []


class TestDependents:
    def test_each_downstream_key_is_told_with_what_became_of_it(self):
        consumer("copy", {"hourly": IDENTITY})
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", "2026-03-09T07:00:00")
        turn()
        copied, summed = facts("hourly", "2026-03-09T07:00:00").dependents
        assert (copied.dag.dag_id, copied.key, copied.run) == (
            "copy",
            "2026-03-09T07:00:00",
            DagRun.objects.get(),
        )
        assert (summed.key, summed.run) == ("2026-03-09", None)
        assert summed.held is not None
        assert summed.held.row == HeldRun.objects.held().get()

    def test_one_that_does_not_require_the_key_is_not_made_of_it(self):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours("2026-03-09", *range(24)), "2026-03-09T07:30:00")
        turn()
        [counted] = facts("hourly", "2026-03-09T07:00:00").dependents
        assert (counted.problem, counted.run) == ("", DagRun.objects.get())
        [passed] = facts("hourly", "2026-03-09T07:30:00").dependents
        assert (passed.key, passed.is_stale) == ("2026-03-09", False)
        assert passed.problem == "does not count this key: it is none of the keys that are needed"

    def test_the_run_told_of_is_the_latest_of_its_key(self):
        consumer("copy", {"hourly": IDENTITY})
        consumer("twin", {"hourly": IDENTITY})
        for minute in range(3):
            emit("hourly", "2026-03-09T07:00:00", at=NOW + minute * world.MINUTE)
            turn(NOW + minute * world.MINUTE)
        told = {each.dag.dag_id: each.run for each in facts("hourly", "2026-03-09T07:00:00").dependents}
        runs = DagRun.objects.order_by("dag", "-pk")
        assert len(runs) == 6
        assert told == {
            "copy": runs.filter(dag__dag_id="copy")[0],
            "twin": runs.filter(dag__dag_id="twin")[0],
        }

    def test_what_was_made_before_newer_data_is_said_to_be_stale(self):
        consumer("copy", {"hourly": IDENTITY}, writes=["copies"])
        key = "2026-03-09T07:00:00"
        emit("hourly", key)
        turn()
        world.finish(world.start(DagRun.objects.get()), "copies")
        assert [each.is_stale for each in facts("hourly", key).dependents] == [False]
        Partition.objects.filter(asset__name="copies").update(stale_since=NOW)
        assert [each.is_stale for each in facts("hourly", key).dependents] == [True]
        assert [each.is_stale for each in facts("hourly", "2026-03-09T08:00:00").dependents] == [False]

    def test_a_key_that_a_mapper_cannot_read_is_said_so(self):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        [told] = facts("hourly", "noon").dependents
        assert "noon" in told.problem

    def test_a_consumer_that_counts_no_keys_is_said_so(self):
        schedule = {"type": "AssetTimetable", "assets": {"asset": "hourly"}}
        made = world.dag("report", schedule)
        made.dependencies.create(asset=asset("hourly"), leaf={"asset": "hourly"}, created_at=NOW)
        [told] = facts("hourly", "2026-03-09T07:00:00").dependents
        assert told.problem == "counts only events without a partition key"

    def test_a_broken_consumer_hides_no_other(self):
        consumer("broken", {"hourly": {"type": "NoSuchMapper"}})
        consumer("copy", {"hourly": IDENTITY})
        told = {each.dag.dag_id: each for each in facts("hourly", "2026-03-09T07:00:00").dependents}
        assert "NoSuchMapper" in told["broken"].problem
        assert told["copy"].key == "2026-03-09T07:00:00"


def test_the_number_of_queries_does_not_grow_with_consumers_or_events():
    def queries():
        with CaptureQueriesContext(connection) as found:
            facts("hourly", "2026-03-09T07:00:00")
        return len(found)

    consumer("sum 0", {"hourly": HOURS_TO_DAY})
    emit("hourly", *hours("2026-03-09", 6, 7))
    turn()
    queries()
    few = queries()
    for number in range(1, 6):
        consumer(f"sum {number}", {"hourly": HOURS_TO_DAY})
    emit("hourly", *hours("2026-03-09", *range(20)))
    turn()
    queries()
    assert queries() == few
