"""A chain beside the engine, which makes the same runs of the same events: each key runs once."""

from datetime import timedelta

import pytest

from core.models import AssetEvent, BackfillPartition, Dag, DagRun, HeldRun
from scheduling import backfills, corrections, holds, runs
from scheduling.backfills import Reprocess
from scheduling.runs import Ask as RunAsk
from tests.backfills.play import (
    SECOND,
    begin,
    counts,
    days,
    drive,
    execute,
    item,
    turn,
    unjudged,
)
from tests.engine.world import ALICE, NOW, emit, fired, hours

pytestmark = pytest.mark.django_db


class TestRunsOfListeners:
    """The engine starts listeners on its own; a backfill that has them too never doubles a run."""

    def test_each_key_runs_once(self, copies):
        backfill = begin(copies, with_downstream=True)
        drive(backfill)
        turn(NOW + timedelta(hours=1))
        for dag_id in ("first", "second", "third"):
            assert sorted(fired(dag_id)) == days(1, 10)
        assert not HeldRun.objects.held().exists()

    def test_a_rollup_runs_once(self, hour):
        backfill = begin(hour, with_downstream=True, max_active_runs=100)
        drive(backfill)
        turn(NOW + timedelta(hours=1))
        assert sorted(fired("day")) == ["2026-03-09", "2026-03-10"]

    def test_a_run_of_the_engine_that_comes_first_is_adopted(self, copies):
        backfill = begin(copies, keys=("2026-03-01",), with_downstream=True)
        backfills.advance(now=NOW)
        execute()
        while holds.route_pending(now=NOW) or holds.judge_due(now=NOW):
            pass
        mine = DagRun.objects.get(dag__dag_id="second")
        assert mine.run_type == "asset_triggered"
        turn()
        assert item(backfill, "2026-03-01", "second").run == mine
        drive(backfill)
        assert counts(backfill) == {"planned": 3, "done": 3}
        assert fired("second") == ["2026-03-01"]

    def test_and_also_when_it_has_ended_already(self, copies):
        backfill = begin(copies, keys=("2026-03-01",), with_downstream=True)
        backfills.advance(now=NOW)
        for _ in range(3):
            execute()
            while holds.route_pending(now=NOW) or holds.judge_due(now=NOW):
                pass
        drive(backfill)
        assert fired("third") == ["2026-03-01"]
        assert counts(backfill) == {"planned": 3, "done": 3}

    def test_nothing_starts_before_the_events_it_waits_for_are_mapped(self, copies):
        begin(copies, keys=("2026-03-01",), with_downstream=True)
        backfills.advance(now=NOW)
        execute()
        backfills.advance(now=NOW)
        assert not DagRun.objects.filter(dag__dag_id="second").exists()
        holds.route_pending(now=NOW, at_once=0)
        backfills.advance(now=NOW)
        assert DagRun.objects.get(dag__dag_id="second").run_type == "backfill"

    def test_events_of_others_that_wait_to_be_mapped_keep_nobody(self, copies):
        begin(copies, keys=("2026-03-01",), with_downstream=True)
        backfills.advance(now=NOW)
        execute()
        holds.route_pending(now=NOW)
        emit("as", "2026-03-09", at=NOW - SECOND)
        backfills.advance(now=NOW)
        assert DagRun.objects.filter(dag__dag_id="second").exists()

    def test_the_run_consumes_the_events_it_waited_for(self, hour):
        backfill = begin(
            hour, selection="[2026-03-10...2026-03-10]", with_downstream=True, max_active_runs=30
        )
        drive(backfill)
        run = DagRun.objects.get(dag__dag_id="day")
        consumed = AssetEvent.objects.filter(consumers__held_run__run=run)
        assert sorted(consumed.values_list("partition_key", flat=True)) == hours("2026-03-10", *range(24))

    def test_a_range_is_what_the_held_runs_of_its_keys_become(self, copies):
        Dag.objects.update(max_keys_per_run=None)
        copies.refresh_from_db()
        begin(copies, selection="[2026-03-01...2026-03-02]", with_downstream=True, keys_per_run=2)
        unjudged()
        execute()
        unjudged()
        run = DagRun.objects.get(dag__dag_id="second")
        assert run.keys == days(1, 2)
        held = HeldRun.objects.filter(dag__dag_id="second").values_list("partition_key", "state", "run")
        assert list(held) == [(key, "fired", run.pk) for key in days(1, 2)]
        consumed = AssetEvent.objects.filter(consumers__held_run__run=run)
        assert sorted(consumed.values_list("partition_key", flat=True)) == days(1, 2)


class TestProducersOfWhatIsMissing:
    def test_come_first_and_only_they(self, hour):
        emit("hours", *hours("2026-03-10", *range(22)))
        day = Dag.objects.get(dag_id="day")
        backfill = begin(day, keys=("2026-03-10",), with_upstream=True)
        drive(backfill)
        assert fired("hour") == hours("2026-03-10", 22, 23)
        assert fired("day") == ["2026-03-10"]
        assert counts(backfill) == {"planned": 3, "done": 3}

    def test_a_consumer_whose_upstream_is_there_runs_at_once_with_what_is_there(self, hour):
        emit("hours", *hours("2026-03-10", *range(24)))
        turn()
        execute()
        turn()
        day = Dag.objects.get(dag_id="day")
        backfill = begin(day, keys=("2026-03-10",), reprocess=Reprocess.COMPLETED)
        drive(backfill, at=NOW + SECOND)
        assert fired("day") == ["2026-03-10", "2026-03-10"]
        again = DagRun.objects.filter(dag=day).order_by("pk").last()
        assert again.run_type == "backfill"
        assert again.held_runs.get().round == 2
        assert again.held_runs.get().received.count() == 24

    def test_a_held_run_of_the_key_becomes_the_run(self, hour):
        emit("hours", *hours("2026-03-10", *range(22)))
        turn()
        held = HeldRun.objects.get()
        begin(Dag.objects.get(dag_id="day"), keys=("2026-03-10",), with_upstream=True)
        backfills.advance(now=NOW)
        execute()
        holds.route_pending(now=NOW, at_once=0)
        backfills.advance(now=NOW)
        held.refresh_from_db()
        assert (held.state, held.run.run_type) == ("fired", "backfill")
        turn(NOW + timedelta(hours=1))
        assert fired("day") == ["2026-03-10"]


class TestByHandMeanwhile:
    def test_a_run_by_hand_of_an_older_upstream_is_not_taken_for_the_new_one(self, copies):
        """What ran before the upstream was done is not what was asked for."""
        backfill = begin(copies, keys=("2026-03-01",), with_downstream=True)
        turn()
        second = Dag.objects.get(dag_id="second")
        early = runs.trigger(second, RunAsk("2026-03-01"), deed=ALICE, at=NOW)
        execute(NOW + SECOND)
        drive(backfill, at=NOW + 2 * SECOND)
        assert item(backfill, "2026-03-01", "second").run != early
        assert BackfillPartition.objects.filter(run=early).count() == 0

    def test_a_run_of_the_engine_that_failed_is_not_adopted(self, copies):
        """Nor would it be when the key is tried again, to fail at once for ever."""
        backfill = begin(copies, keys=("2026-03-01",), with_downstream=True)
        backfills.advance(now=NOW)
        execute()
        while holds.route_pending(now=NOW) or holds.judge_due(now=NOW):
            pass
        execute(fail=["2026-03-01"])
        drive(backfill)
        assert fired("second") == ["2026-03-01", "2026-03-01"]
        assert counts(backfill) == {"planned": 3, "done": 3}

    def test_a_run_of_its_own_that_is_tried_again_does_the_key_that_is_tried_again(self, copies):
        backfill = begin(copies, keys=("2026-03-01",), with_downstream=True)
        unjudged()
        execute()
        unjudged()
        execute(fail=["2026-03-01"])
        drive(backfill)
        [mine] = DagRun.objects.filter(dag__dag_id="second")
        backfills.retry_failed(backfill, deed=ALICE, at=NOW + SECOND)
        corrections.retry(mine, deed=ALICE, at=NOW + SECOND)
        drive(backfill, at=NOW + SECOND)
        assert fired("second") == ["2026-03-01"]
        assert counts(backfill) == {"planned": 3, "done": 3}
