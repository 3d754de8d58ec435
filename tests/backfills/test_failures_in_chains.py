"""What fails upstream blocks just what depends on it, and a definition that breaks stops nobody else."""

import pytest

from core.models import Dag, JournalEntry
from scheduling import backfills
from scheduling.backfills import Reprocess
from tests.backfills.play import (
    SECOND,
    begin,
    counts,
    daily,
    days,
    drive,
    execute,
    hourly,
    item,
    listener,
    of_dag,
    producer,
    states,
    steer,
    turn,
)
from tests.engine.world import HOURS_TO_DAY, NOW, emit, hours

pytestmark = pytest.mark.django_db
AT_LEAST_TWENTY = HOURS_TO_DAY | {"wait_policy": {"type": "MinimumCount", "n": 20}}


def redefine(dag_id, schedule, revision):
    made = Dag.objects.filter(dag_id=dag_id)
    made.update(schedule=schedule, revision=revision, updated_at=NOW + revision * SECOND)


class TestFailures:
    def test_block_just_what_depends_on_them_and_say_so(self, copies):
        backfill = begin(copies, selection="[2026-03-01...2026-03-03]", with_downstream=True)
        drive(backfill, fail=["2026-03-02"])
        assert of_dag(backfill, "first") == dict(zip(days(1, 3), ["done", "failed", "done"], strict=True))
        assert of_dag(backfill, "second") == dict(zip(days(1, 3), ["done", "blocked", "done"], strict=True))
        assert of_dag(backfill, "third")["2026-03-02"] == "blocked"
        assert item(backfill, "2026-03-02", "second").reason == (
            "not run, because it needs 2026-03-02 of first, which did not succeed"
        )
        assert item(backfill, "2026-03-02", "third").reason == (
            "not run, because it needs 2026-03-02 of second, which did not succeed"
        )
        assert counts(backfill) == {"planned": 9, "done": 6, "failed": 3}

    def test_of_one_hour_block_the_day(self, hour):
        backfill = begin(
            hour, selection="[2026-03-09...2026-03-10]", with_downstream=True, max_active_runs=50
        )
        drive(backfill, fail=hours("2026-03-10", 5))
        assert of_dag(backfill, "day") == {"2026-03-09": "done", "2026-03-10": "blocked"}

    def test_of_few_do_not_block_what_can_do_without_them(self):
        hourly("hours", "2026-03-09", key_format="%Y-%m-%dT%H:%M:%S")
        daily("days")
        made = producer("hour", "hours", max_active_runs=1000)
        listener("day", "hours", "days", AT_LEAST_TWENTY)
        backfill = begin(
            made, selection="[2026-03-09...2026-03-10]", with_downstream=True, max_active_runs=50
        )
        drive(backfill, fail=[*hours("2026-03-09", 1, 2, 3, 4), *hours("2026-03-10", 1, 2, 3, 4, 5)])
        assert of_dag(backfill, "day") == {"2026-03-09": "done", "2026-03-10": "blocked"}

    def test_count_although_there_is_older_data(self, copies):
        emit("as", "2026-03-01")
        turn()
        execute()
        backfill = begin(copies, keys=("2026-03-01",), with_downstream=True, reprocess=Reprocess.COMPLETED)
        drive(backfill, fail=["2026-03-01"])
        assert of_dag(backfill, "second") == {"2026-03-01": "blocked"}

    def test_of_many_name_three(self, hour):
        backfill = begin(
            hour, selection="[2026-03-10...2026-03-10]", with_downstream=True, max_active_runs=50
        )
        drive(backfill, fail=hours("2026-03-10", *range(10)))
        assert "and 7 more, which did not succeed" in item(backfill, "2026-03-10").reason

    def test_of_a_run_that_wrote_nothing_leave_the_day_incomplete(self, hour):
        backfill = begin(
            hour, selection="[2026-03-10...2026-03-10]", with_downstream=True, max_active_runs=50
        )
        drive(backfill, silent=hours("2026-03-10", 5))
        assert item(backfill, "2026-03-10").reason == (
            "its upstream is not complete: waiting on 1 of 24: hour 05"
        )


class TestADefinitionThatBreaks:
    def test_fails_what_waits_and_stops_nobody_else(self, copies):
        backfill = begin(copies, keys=("2026-03-01",), with_downstream=True)
        redefine("second", {"type": "Nonsense"}, revision=2)
        drive(backfill)
        assert of_dag(backfill, "first") == {"2026-03-01": "done"}
        assert of_dag(backfill, "second") == {"2026-03-01": "failed"}
        assert "Nonsense" in item(backfill, "2026-03-01", "second").reason
        assert of_dag(backfill, "third") == {"2026-03-01": "blocked"}

    def test_fails_what_is_tried_again_before_it_is_mended(self, copies):
        """All that it waits for has ended: nothing would wake it, nor does mending the definition."""
        backfill = begin(copies, keys=("2026-03-01",), with_downstream=True)
        schedule = Dag.objects.get(dag_id="second").schedule
        redefine("second", {"type": "Nonsense"}, revision=2)
        drive(backfill)
        assert steer(backfills.retry_failed, backfill) == 0
        assert drive(backfill) == []
        assert of_dag(backfill, "second") == {"2026-03-01": "failed"}
        assert "Nonsense" in item(backfill, "2026-03-01", "second").reason
        assert counts(backfill) == {"planned": 3, "done": 1, "failed": 2}
        redefine("second", schedule, revision=3)
        steer(backfills.retry_failed, backfill)
        drive(backfill)
        assert counts(backfill) == {"planned": 3, "done": 3}

    def test_counts_of_what_is_tried_again_only_what_may_run(self, copies):
        """What waited all along fails as well, and is none of it."""
        backfill = begin(copies, keys=("2026-03-01", "2026-03-02"), with_downstream=True, max_active_runs=1)
        turn()
        execute(most=1, fail=["2026-03-01"])
        turn()
        redefine("second", {"type": "Nonsense"}, revision=2)
        assert states(backfill)["third", "2026-03-02"] == "waiting"
        assert steer(backfills.retry_failed, backfill) == 1
        assert of_dag(backfill, "first") == {"2026-03-01": "ready", "2026-03-02": "started"}
        assert of_dag(backfill, "second") == {"2026-03-01": "failed", "2026-03-02": "failed"}
        assert of_dag(backfill, "third") == {"2026-03-01": "blocked", "2026-03-02": "blocked"}
        retried = JournalEntry.objects.get(event="backfill retried")
        assert retried.extra["partitions"] == 1

    def test_what_waits_for_keys_that_none_leads_to_any_more_waits_not_for_ever(self, copies):
        """The Dag listens otherwise since: its key would need one that is not of this backfill."""
        backfill = begin(copies, keys=("2026-03-01",), with_downstream=True)
        second = Dag.objects.get(dag_id="second")
        monthly = {"type": "StartOfMonthMapper", "input_format": "%Y-%m-%d"}
        second.schedule["mapper_config"][0]["mapper"] = monthly
        second.dependencies.update(mapper=monthly)
        second.revision, second.updated_at = 2, NOW + SECOND
        second.save()
        drive(backfill)
        assert of_dag(backfill, "second") == {"2026-03-01": "blocked"}
        assert of_dag(backfill, "third") == {"2026-03-01": "blocked"}

    def test_a_running_backfill_keeps_its_keys(self, copies):
        """TC-32: a definition that changes does not change what was started."""
        backfill = begin(copies, selection="[2026-03-01...2026-03-03]", max_active_runs=1)
        turn()
        execute(most=1)
        asset = copies.outlets.get().asset
        asset.partitions = asset.partitions | {"start": "2026-03-03"}
        asset.save()
        drive(backfill)
        assert counts(backfill) == {"planned": 3, "done": 3}
