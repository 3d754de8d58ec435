"""An attempt has failed: the run is queued again for later, or it has failed for good.

Attempts that a lost worker takes with it are counted apart (`claims.take_over_lost`).
"""

from datetime import datetime

from django.db import transaction

from core.models import Dag, DagRun
from scheduling import claims, journal, requeueing
from scheduling.authoring.attempts import Attempts
from scheduling.runlog import storable


def attempts_of(dag: Dag) -> Attempts:
    """What the Dag's definition said."""
    return Attempts(dag.retries, dag.retry_delay, dag.retry_backoff, dag.run_timeout)


@transaction.atomic
def fail(run: DagRun, error: str, *, at: datetime, attempts: Attempts | None = None) -> bool:
    """End an attempt at `run` that failed. Nothing is emitted.

    :param attempts: counts instead of what the Dag says.
    :returns: whether the run is tried again.
    :raises LeaseLost: if the run is not this worker's any more.
    """
    wait = (attempts or attempts_of(run.dag)).wait_after(run.failures + 1)
    if wait is None or not requeueing.put_back(run, error, until=at + wait, at=at):
        claims.fail(run, error, at=at)
        return False
    journal.note(
        journal.ATTEMPT_FAILED,
        at=at,
        about=run,
        key=run.partition_key,
        error=storable(error.strip().rpartition("\n")[2][:1000]),
        attempt=run.attempt,
        failures=run.failures,
        next_at=run.run_after.isoformat(),
    )
    return True


def words(run: DagRun) -> str:
    """When `run`, which was queued again, is tried again."""
    return f"The run will be tried again from {run.run_after:%Y-%m-%d %H:%M:%S} UTC on."
