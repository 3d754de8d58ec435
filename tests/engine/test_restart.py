import pytest

from core.models import DagRun, JournalEntry
from scheduling import claims, restart, runs, turns
from scheduling.runs import Ask
from tests.engine.world import ALICE, MINUTE, NOW, dag

pytestmark = pytest.mark.django_db
State = DagRun.State


def queued(key="k", **fields):
    made = dag(f"ingest {key}", {"type": "PartitionedAtRuntime"}, **fields)
    return runs.trigger(made, Ask(key), deed=ALICE, at=NOW)


class TestTakeBack:
    def test_a_run_that_was_being_executed_is_queued_again_at_once(self):
        run = queued()
        claims.claim(run.pk, worker="dead", now=NOW)
        restart.take_back(now=NOW)
        run.refresh_from_db()
        assert run.state == State.QUEUED
        assert turns.dispatch(now=NOW) == [run.pk]
        assert claims.claim(run.pk, worker="new", now=NOW).attempt == 2

    def test_a_run_whose_message_was_under_way_is_dispatched_again_at_once(self):
        run = queued()
        turns.dispatch(now=NOW)
        assert turns.dispatch(now=NOW) == []
        restart.take_back(now=NOW)
        assert turns.dispatch(now=NOW) == [run.pk]

    def test_what_the_dead_worker_would_still_record_is_refused(self):
        run = queued()
        old = claims.claim(run.pk, worker="dead", now=NOW)
        restart.take_back(now=NOW)
        with pytest.raises(claims.LeaseLost):
            claims.succeed(old, [], at=NOW)

    def test_a_run_that_was_attempted_often_enough_fails(self):
        run = queued(max_attempts=1)
        claims.claim(run.pk, worker="dead", now=NOW)
        restart.take_back(now=NOW)
        run.refresh_from_db()
        assert run.state == State.FAILED
        assert "dead was lost" in run.error

    def test_finished_runs_and_runs_for_later_stay_as_they_are(self):
        done, later = queued("done"), queued("later")
        claims.succeed(claims.claim(done.pk, worker="w", now=NOW), [], at=NOW)
        DagRun.objects.filter(pk=later.pk).update(run_after=NOW + MINUTE)
        restart.take_back(now=NOW)
        done.refresh_from_db()
        assert done.state == State.SUCCESS
        assert turns.dispatch(now=NOW) == []

    def test_the_journal_names_the_worker_that_was_lost(self):
        claims.claim(queued().pk, worker="dead", now=NOW)
        restart.take_back(now=NOW)
        assert JournalEntry.objects.filter(event="worker lost", extra__worker="dead").exists()
