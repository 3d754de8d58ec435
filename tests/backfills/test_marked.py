"""A run that somebody marks by hand: what its backfill says of its keys follows, whenever that is."""

import pytest

from core.models import DagRun
from scheduling import backfills, claims, corrections
from scheduling.backfills import outcomes
from scheduling.backfills.reading import progress_of, status_of
from tests.backfills.play import SECOND, begin, counts, days, drive, item, of_dag, producer, steer, turn
from tests.engine.world import ALICE, NOW

pytestmark = pytest.mark.django_db
FIRST = "2026-03-01"


def mark(key, state, dag_id="load"):
    run = DagRun.objects.get(dag__dag_id=dag_id, partition_key=key)
    corrections.mark(run, DagRun.State(state), deed=ALICE, at=NOW + SECOND)


def status(backfill):
    backfill.refresh_from_db()
    return status_of(backfill, progress_of([backfill])[backfill.pk])


class TestWhenItHasEnded:
    def test_a_success_that_was_none_has_failed(self):
        backfill = begin(producer(), keys=tuple(days(1, 3)))
        drive(backfill)
        mark(FIRST, "failed")
        assert counts(backfill) == {"planned": 3, "done": 2, "failed": 1}
        assert (status(backfill), backfill.completed_at is None) == ("failed", False)

    def test_and_is_tried_again_with_what_has_failed(self):
        backfill = begin(producer(), keys=tuple(days(1, 3)))
        drive(backfill)
        mark(FIRST, "failed")
        assert steer(backfills.retry_failed, backfill) == 1
        assert drive(backfill, at=NOW + 2 * SECOND) == [[FIRST]]
        assert counts(backfill) == {"planned": 3, "done": 3}

    def test_a_failure_that_wrote_its_key_before_is_done(self):
        backfill = begin(producer(), keys=(FIRST,))
        drive(backfill)
        mark(FIRST, "failed")
        mark(FIRST, "success")
        assert (counts(backfill), status(backfill)) == ({"planned": 1, "done": 1}, "done")

    def test_a_failure_marked_a_success_has_written_nothing(self):
        """Nothing is emitted for it: the partition has no data, and the backfill says so."""
        backfill = begin(producer(), keys=(FIRST,))
        drive(backfill, fail=[FIRST])
        mark(FIRST, "success")
        assert counts(backfill) == {"planned": 1, "skipped": 1}
        assert item(backfill, FIRST).reason.endswith("wrote nothing")

    def test_what_was_blocked_by_it_runs_when_it_is_tried_again(self, copies):
        backfill = begin(copies, keys=(FIRST,), with_downstream=True)
        drive(backfill, fail=[FIRST])
        mark(FIRST, "success", "first")
        assert of_dag(backfill, "first") == {FIRST: "skipped"}
        assert of_dag(backfill, "second") == {FIRST: "blocked"}

    def test_of_a_range_each_key_that_was_written_is_done(self):
        backfill = begin(producer(max_keys_per_run=None), keys=tuple(days(1, 3)), keys_per_run=None)

        def give_up(run):
            outlets = [claims.Output(each.asset) for each in run.dag.outlets.select_related("asset")]
            claims.succeed(run, outlets, at=NOW, failed_keys={FIRST: "no file"})

        drive(backfill, end=give_up)
        corrections.mark(DagRun.objects.get(), DagRun.State.FAILED, deed=ALICE, at=NOW + SECOND)
        assert counts(backfill) == {"planned": 3, "failed": 3}
        corrections.mark(DagRun.objects.get(), DagRun.State.SUCCESS, deed=ALICE, at=NOW + SECOND)
        assert counts(backfill) == {"planned": 3, "done": 2, "skipped": 1}

    def test_a_range_of_many_keys_costs_no_more_queries_than_one_of_few(self, django_assert_num_queries):
        backfill = begin(producer(max_keys_per_run=None), keys=tuple(days(1, 10)), keys_per_run=None)
        drive(backfill)
        run = DagRun.objects.get()
        run.state = DagRun.State.FAILED
        with django_assert_num_queries(6):
            outcomes.follow(run)
        assert counts(backfill) == {"planned": 10, "failed": 10}


def test_while_it_goes_on_a_key_that_has_ended_follows_too():
    backfill = begin(producer(), keys=tuple(days(1, 3)), max_active_runs=1)
    turn()
    run = DagRun.objects.get(partition_key=FIRST)
    corrections.mark(run, DagRun.State.FAILED, deed=ALICE, at=NOW)
    turn()
    assert item(backfill, FIRST).state == "failed"
    mark(FIRST, "success")
    assert counts(backfill) == {"planned": 3, "skipped": 1, "open": 2}
