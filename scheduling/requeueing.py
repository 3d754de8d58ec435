"""Runs that are given back: queued again by the worker that had claimed them."""

from datetime import datetime
from typing import Any

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
    if not _queue(run, at, run_after=until, failures=F("failures") + 1, error=storable(error)):
        return False
    run.refresh_from_db(fields=["state", "run_after", "failures", "error", "started_at"])
    return True


@transaction.atomic
def unclaim(run: DagRun, *, at: datetime) -> None:
    """Queue `run`, of which nothing was begun, as if it had not been claimed; one that was cancelled ends.

    :raises claims.LeaseLost: if the run is not this worker's any more.
    """
    if not _queue(run, at, attempt=F("attempt") - 1, claimed_by=""):
        claims.stop(run, at=at)


def _queue(run: DagRun, at: datetime, **fields: Any) -> bool:
    """Whether `run` is queued, with `fields`: it was this worker's, and nobody had cancelled it."""
    if run.backfill_id:  # its place is free for the next one; locked before the run, as everybody does
        Backfill.objects.open().filter(pk=run.backfill_id).update(advance_after=at)
        doorbell.ring(Bell.ADVANCE_BACKFILLS)
    given_back = dict.fromkeys(("started_at", "lease_until", "dispatched_at"))
    mine = claims.mine(run).filter(cancel_requested=False)
    if not mine.update(state=State.QUEUED, updated_at=at, **given_back, **fields):
        return False
    states.forget_attempt(run, at)
    doorbell.ring(Bell.START)
    return True
