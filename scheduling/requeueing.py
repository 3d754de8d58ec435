"""Runs that are given back: queued again by the worker that had claimed them."""

from datetime import datetime

from django.db import transaction
from django.db.models import F

from core.models import Backfill, DagRun
from scheduling import claims, doorbell, states
from scheduling.doorbell import Bell
from scheduling.runlog import storable

State = DagRun.State


@transaction.atomic
def put_back(run: DagRun, error: str, *, until: datetime, at: datetime) -> bool:
    """Queue `run`, which has failed, for another attempt from `until` on; its partitions wait for that.

    :returns: False, with nothing done, if somebody has cancelled it or it is not this worker's any more.
    """
    if run.backfill_id:  # its place is free for the next one; locked before the run, as everybody does
        Backfill.objects.open().filter(pk=run.backfill_id).update(advance_after=at)
        doorbell.ring(Bell.ADVANCE_BACKFILLS)
    queued = claims.mine(run).filter(cancel_requested=False)
    if not queued.update(
        state=State.QUEUED,
        run_after=until,
        failures=F("failures") + 1,
        error=storable(error),
        started_at=None,
        lease_until=None,
        dispatched_at=None,
        updated_at=at,
    ):
        return False
    states.forget_attempt(run, at)
    doorbell.ring(Bell.START)
    run.refresh_from_db(fields=["state", "run_after", "failures", "error", "started_at"])
    return True


@transaction.atomic
def unclaim(run: DagRun, *, at: datetime) -> None:
    """Queue `run`, of which nothing was begun, as if it had not been claimed; one that was cancelled ends.

    :raises claims.LeaseLost: if the run is not this worker's any more.
    """
    if run.backfill_id:  # its place is free for the next one; locked before the run, as everybody does
        Backfill.objects.open().filter(pk=run.backfill_id).update(advance_after=at)
        doorbell.ring(Bell.ADVANCE_BACKFILLS)
    queued = claims.mine(run).filter(cancel_requested=False)
    if not queued.update(
        state=State.QUEUED,
        attempt=F("attempt") - 1,
        claimed_by="",
        started_at=None,
        lease_until=None,
        dispatched_at=None,
        updated_at=at,
    ):
        return claims.stop(run, at=at)
    states.forget_attempt(run, at)
    doorbell.ring(Bell.START)
    return None
