"""Whoever executes a run keeps its lease, or learns that it is another worker's."""

import threading
from datetime import datetime, timedelta

import pytest

from core.models import DagRun, LogLine
from scheduling import claims, execution, lease, runs
from tests.engine.executing import SECOND, claimed, defined, emitted, log
from tests.engine.world import ALICE, NOW


@pytest.mark.django_db(transaction=True)
class TestLease:
    """With a thread beside the task, so the tests write for real."""

    WAITING = """
        import time

        with DAG("d"):
            @task(outlets=[Asset("x")])
            def wait(dag_run):
                print("waiting")
                for _ in range(500):
                    dag_run.stop_if_cancelled()
                    time.sleep(0.01)
                    if dag_run.conf.get("rounds") == _: break
            @task
            def after(): print("after")
            wait() >> after()
    """

    @pytest.fixture(autouse=True)
    def quick(self, monkeypatch) -> None:
        monkeypatch.setattr(lease, "PACE", timedelta(milliseconds=5))
        monkeypatch.setattr(lease, "RENEW_EVERY", timedelta(0))

    def execute(self, claim: DagRun, during) -> DagRun:
        """Execute `claim` in a thread; call `during` once its log has begun."""
        clock = Clock()
        thread = threading.Thread(target=execute_and_close, args=(claim, clock))
        thread.start()
        while not LogLine.objects.filter(run=claim).exists():
            assert thread.is_alive()
        during(clock)
        thread.join(timeout=20)
        return DagRun.objects.get(pk=claim.pk)

    def test_is_renewed_and_the_log_stored_while_a_task_runs(self, directory):
        defined(directory, self.WAITING)
        claim = claimed(conf={"rounds": 50})
        before = claim.lease_until

        def during(clock):
            clock.now += 30 * SECOND
            while DagRun.objects.get(pk=claim.pk).lease_until <= before:
                pass
            assert log(claim) == ["waiting"]

        ended = self.execute(claim, during)
        assert ended.state == "success"
        assert log(ended) == ["waiting", "after"]

    def test_ends_when_somebody_cancels_the_run(self, directory):
        defined(directory, self.WAITING)
        claim = claimed()
        ended = self.execute(claim, lambda clock: runs.cancel(claim, deed=ALICE, at=NOW))
        assert (ended.state, ended.error) == ("cancelled", "")
        assert log(ended) == ["waiting", "The run was cancelled."]
        assert emitted(ended) == []

    def test_stops_a_cancelled_run_before_its_next_task(self, directory):
        defined(directory, self.WAITING.replace("dag_run.stop_if_cancelled()", ""))
        claim = claimed(conf={"rounds": 30})
        ended = self.execute(claim, lambda clock: runs.cancel(claim, deed=ALICE, at=NOW))
        assert ended.state == "cancelled"
        assert "after" not in log(ended)

    def test_that_was_lost_records_nothing(self, directory):
        """Another worker has taken the run over; what this one did is not its business any more."""
        defined(directory, self.WAITING)
        claim = claimed(conf={"rounds": 30})

        def during(clock):
            late = NOW + timedelta(days=1)
            claims.take_over_lost(now=late)
            assert claims.claim(claim.pk, worker="w2", now=late)

        ended = self.execute(claim, during)
        assert (ended.state, ended.claimed_by, ended.attempt) == ("running", "w2", 2)
        assert emitted(ended) == []


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


def execute_and_close(claim: DagRun, clock: Clock) -> None:
    from django.db import connection

    try:
        execution.execute(claim, clock=clock)
    finally:
        connection.close()
