"""How partitions of a backfill end, and ranges of them that fail in part."""

import pytest

from core.models import Dag, DagRun, Outlet
from scheduling import claims, corrections, runs
from scheduling.runs import Ask as RunAsk
from tests.backfills.play import (
    SECOND,
    begin,
    counts,
    daily,
    days,
    drive,
    execute,
    item,
    producer,
    states,
    turn,
)
from tests.engine.world import ALICE, DAILY, NOW, dag, part, start

pytestmark = pytest.mark.django_db


class TestHowPartitionsEnd:
    def test_done_when_the_run_wrote_them(self):
        backfill = begin(producer(), keys=("2026-03-01",))
        drive(backfill)
        assert states(backfill) == {("load", "2026-03-01"): "done"}
        assert item(backfill, "2026-03-01").run.state == "success"
        assert part("days", "2026-03-01").state == "materialized"

    def test_failed_with_the_last_line_of_the_error(self):
        backfill = begin(producer(), keys=("2026-03-01",))
        drive(backfill, fail=["2026-03-01"])
        failed = item(backfill, "2026-03-01")
        assert (failed.state, failed.reason) == ("failed", "boom: no disk")

    def test_skipped_when_the_key_was_taken_from_its_run_before_it_began(self):
        """The run writes an event without a key: nothing that this partition has."""
        backfill = begin(producer(), keys=("2026-03-01",))
        turn()
        made = DagRun.objects.get()
        corrections.forget_keys([made], deed=ALICE, at=NOW)
        drive(backfill)
        one = item(backfill, "2026-03-01")
        assert (one.state, one.reason) == ("skipped", f"the key of run {made.run_id} was cleared")
        assert one.run.state == "success"

    def test_skipped_when_the_run_wrote_nothing(self):
        backfill = begin(producer(), keys=("2026-03-01", "2026-03-02"))
        drive(backfill, silent=["2026-03-01"])
        assert counts(backfill) == {"planned": 2, "done": 1, "skipped": 1}
        assert item(backfill, "2026-03-01").reason.endswith("wrote nothing")

    def test_done_without_output_where_the_dag_writes_nothing(self):
        backfill = begin(dag("silent", {"type": "PartitionedAtRuntime"}), keys=("a",))
        drive(backfill)
        assert counts(backfill) == {"planned": 1, "done": 1}

    def test_cancelled_when_somebody_cancels_the_run(self):
        backfill = begin(producer(), keys=("2026-03-01",))
        turn()
        runs.cancel(DagRun.objects.get(), deed=ALICE, at=NOW)
        turn()
        assert counts(backfill) == {"planned": 1, "cancelled": 1}
        assert "was cancelled" in item(backfill, "2026-03-01").reason

    def test_cancelled_when_somebody_deletes_the_run(self):
        backfill = begin(producer(), keys=("2026-03-01",))
        turn()
        corrections.delete(DagRun.objects.get(), deed=ALICE, at=NOW)
        turn()
        assert item(backfill, "2026-03-01").reason == "its run was deleted"
        backfill.refresh_from_db()
        assert backfill.completed_at == NOW

    def test_as_somebody_says_the_run_ended(self):
        backfill = begin(producer(), keys=("2026-03-01",))
        turn()
        corrections.mark(DagRun.objects.get(), DagRun.State.FAILED, deed=ALICE, at=NOW)
        turn()
        assert counts(backfill) == {"planned": 1, "failed": 1}

    def test_after_a_lost_worker_the_run_is_taken_again(self):
        backfill = begin(producer(), keys=("2026-03-01",))
        turn()
        start(DagRun.objects.get())
        later = NOW + claims.LEASE + SECOND
        claims.take_over_lost(now=later)
        turn(later)
        assert counts(backfill) == {"planned": 1, "open": 1}
        drive(backfill, at=later)
        assert counts(backfill) == {"planned": 1, "done": 1}

    def test_a_run_that_is_under_way_already_is_adopted(self):
        made = producer()
        backfill = begin(made, keys=("2026-03-01", "2026-03-02"))
        other = runs.trigger(made, RunAsk("2026-03-01"), deed=ALICE, at=NOW)
        turn()
        assert item(backfill, "2026-03-01").run == other
        assert DagRun.objects.filter(partition_key="2026-03-01").count() == 1
        drive(backfill)
        assert counts(backfill) == {"planned": 2, "done": 2}

    def test_a_key_that_the_dag_cannot_have_any_more_fails(self):
        made = dag("ticking", DAILY, writes=["out"])
        backfill = begin(made, keys=("2026-03-05", "2026-03-09"))
        Dag.objects.filter(pk=made.pk).update(schedule=DAILY | {"key_format": "%Y-%m"}, revision=2)
        drive(backfill)
        assert counts(backfill) == {"planned": 2, "failed": 2}
        assert "'2026-03-05'" in item(backfill, "2026-03-05").reason

    def test_a_dag_that_is_gone_fails_what_has_not_started(self):
        made = producer()
        backfill = begin(made, max_active_runs=1)
        turn()
        execute(most=1)
        Dag.objects.update(is_active=False)
        turn()
        assert counts(backfill) == {"planned": 10, "done": 1, "failed": 8, "open": 1}
        assert item(backfill, "2026-03-09").reason == "Dag load is not defined any more"


class TestRangesThatFailInPart:
    def test_tc_40_one_of_a_hundred(self):
        made = producer(writes=daily(start="2025-01-01").name, max_keys_per_run=None)
        backfill = begin(made, selection="[2025-01-01...2025-04-10]", keys_per_run=None)

        def end(run):
            claims.succeed(
                run,
                [claims.Output(Outlet.objects.get().asset)],
                at=NOW,
                failed_keys={"2025-02-01": "no file"},
            )

        drive(backfill, end=end)
        assert counts(backfill) == {"planned": 100, "done": 99, "failed": 1}
        assert item(backfill, "2025-02-01").reason == "no file"
        assert part("days", "2025-02-01").state == "failed"

    def test_keys_that_were_not_written_are_skipped(self):
        made = producer(max_keys_per_run=None)
        backfill = begin(made, keys_per_run=None)

        def end(run):
            claims.succeed(run, [claims.Output(Outlet.objects.get().asset, keys=days(1, 9))], at=NOW)

        drive(backfill, end=end)
        assert counts(backfill) == {"planned": 10, "done": 9, "skipped": 1}

    def test_the_whole_run(self):
        backfill = begin(producer(max_keys_per_run=None), keys_per_run=None)
        drive(backfill, fail=["2026-03-05"])
        assert counts(backfill) == {"planned": 10, "failed": 10}
