"""Runs that another system executes: it claims them, says that it is alive, and reports how they ended.

The lease is that of any worker: a run of which nothing is heard for too long is given to somebody else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from core.models import DagRun
from scheduling import claims, journal, reports, turns
from scheduling.algebra.errors import PartitionError
from scheduling.claims import LEASE, LeaseLost
from scheduling.journal import ENGINE, Deed
from scheduling.reports import Report
from scheduling.runlog import RunLog

State = DagRun.State

ROUNDS = 5
"""How often others may be quicker before a system that asks for runs is sent away to ask again."""


class NotWithYou(PartitionError):
    """The run is not with whoever speaks of it, or not any more: what they say is not recorded."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Who has claimed a run, and which attempt at it that was."""

    worker: str
    attempt: int


def take(
    *,
    worker: str,
    now: datetime,
    limit: int = 1,
    dag_ids: Sequence[str] | None = None,
    lease: timedelta = LEASE,
) -> list[DagRun]:
    """Claim up to `limit` runs for a worker of another system, oldest first; none if none may start."""
    taken: list[DagRun] = []
    for _ in range(ROUNDS):
        offered = turns.on_offer(now=now, limit=limit - len(taken), dag_ids=dag_ids)
        for pk in offered:
            run = claims.claim(pk, worker=worker, now=now, elsewhere=True, lease=lease)
            taken += [run] if run else []
        if not offered or len(taken) == limit:
            break
    return taken


def keep(run: DagRun, hold: Hold | None, *, now: datetime, lease: timedelta = LEASE, log: str = "") -> None:
    """Hear that `run` is being worked on.

    :param hold: who says so; None for a callback, whose token tells.
    :raises NotWithYou: if it is not, for them, any more: they should stop.
    """
    _check(run, hold)
    if not claims.renew(run, now=now, lease=lease):
        raise NotWithYou(_where(run))
    run.lease_until = now + lease
    _log(run, log, now)


def finish(
    run: DagRun, hold: Hold | None, report: Report, *, at: datetime, log: str = "", deed: Deed = ENGINE
) -> None:
    """End `run` as `report` says.

    :param hold: who reports; None for a callback, whose token tells.
    :param deed: whose token it was.
    :raises NotWithYou: if it is not with them any more.
    :raises NotAnOutlet: if they wrote an asset that the Dag does not; the run goes on then.
    """
    _check(run, hold)
    said = "failed" if report.error else "success"
    try:
        with transaction.atomic():
            reports.conclude(run, report, at=at)
            journal.note("run reported", deed=deed, at=at, about=run, key=run.partition_key, state=said)
    except LeaseLost:
        raise NotWithYou(_where(run)) from None
    _log(run, log, at)


def _check(run: DagRun, hold: Hold | None) -> None:
    # A callback may come before the 202 that leaves the run to it: then the run is with our worker still.
    is_theirs = hold is None or (run.is_elsewhere and Hold(run.claimed_by, run.attempt) == hold)
    if run.state != State.RUNNING or not is_theirs:
        raise NotWithYou(_where(run))


def _where(run: DagRun) -> str:
    """What became of `run`, for a system that believes to have it."""
    run.refresh_from_db(fields=["state", "claimed_by", "attempt", "error"])
    name = f"run {run.run_id} of Dag {run.dag}"
    if run.state == State.RUNNING:
        return f"{name} is with {run.claimed_by}, at attempt {run.attempt}: stop working on it"
    if run.state == State.QUEUED:
        return f"{name} waits for attempt {run.attempt + 1}: stop working on it, or claim it again"
    return f"{name} has ended: {run.state}; stop working on it"


def _log(run: DagRun, text: str, at: datetime) -> None:
    if text:
        lines = RunLog(run, lambda: at)
        lines.add(text)
        lines.flush()
