"""What people do with a backfill that has started: pause, resume, cancel, try again what failed."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count

from core.models import Backfill, BackfillPartition, DagRun
from scheduling import doorbell, journal
from scheduling.backfills import following, outcomes
from scheduling.backfills.advancing import collect, finish_if_done, targets_of
from scheduling.backfills.asking import BackfillOver, CannotBackfill, NothingToBackfill
from scheduling.backfills.outcomes import State
from scheduling.doorbell import Bell
from scheduling.journal import Deed

FAILED = (State.FAILED, State.BLOCKED)
UNDONE = (*FAILED, State.CANCELLED)


@transaction.atomic
def pause(backfill: Backfill, *, deed: Deed, at: datetime) -> None:
    """Start no more runs of it, not even queued ones. Once more does nothing.

    :raises BackfillOver: if it has ended or is cancelled.
    """
    row = _locked_open(backfill)
    if not row.is_paused:
        _save(row, at, is_paused=True)
        _note("backfill paused", row, deed, at)


@transaction.atomic
def resume(backfill: Backfill, *, deed: Deed, at: datetime) -> None:
    """Let a paused one go on; take up again, of one that was cancelled, exactly what was not done.

    :raises BackfillOver: if it has ended, unless it was cancelled with something left undone.
    """
    row = _locked(backfill)
    if row.cancelled_at is not None:
        if not _open_again(row, UNDONE, at):
            raise BackfillOver(f"backfill {row.pk} was cancelled with nothing left undone")
    elif row.completed_at is not None:
        raise BackfillOver(f"backfill {row.pk} has ended: there is nothing to resume")
    elif not row.is_paused:
        return
    _save(row, at, is_paused=False, cancelled_at=None, completed_at=None, advance_after=at)
    _note("backfill resumed", row, deed, at)
    doorbell.ring(Bell.ADVANCE_BACKFILLS)
    doorbell.ring(Bell.START)


@transaction.atomic
def cancel(backfill: Backfill, *, deed: Deed, at: datetime) -> None:
    """Start nothing more: queued runs are cancelled, running ones finish, the rest of its keys never start.

    That holds from now on; the rows of very many keys follow as it is advanced.

    :raises BackfillOver: if it has ended or is cancelled.
    """
    row = _locked_open(backfill)
    targets = targets_of(row)
    waiting = DagRun.objects.filter(backfill=row, state=DagRun.State.QUEUED)
    waiting.update(state=DagRun.State.CANCELLED, ended_at=at, updated_at=at)
    outcomes.cancel_some(targets)
    collect(targets, at)
    _save(row, at, is_paused=True, cancelled_at=at, advance_after=at)
    _note("backfill cancelled", row, deed, at)
    finish_if_done(row, at)
    doorbell.ring(Bell.START)
    doorbell.ring(Bell.ADVANCE_BACKFILLS)


@transaction.atomic
def retry_failed(backfill: Backfill, *, deed: Deed, at: datetime, and_cancelled: bool = False) -> int:
    """Run again what failed, and what did not run because of that. While it is paused, nothing starts yet.

    :returns: how many partitions that is: none of those that fail anew at once, by a definition that is still
        broken or because what they need is still not there.
    :raises NothingToBackfill: if nothing has failed.
    """
    row = _locked(backfill)
    if row.cancelled_at is not None:
        while outcomes.cancel_some(targets_of(row)):
            pass
    opened = _open_again(row, UNDONE if and_cancelled else FAILED, at)
    if not opened:
        raise NothingToBackfill(f"backfill {row.pk} has nothing to run again")
    is_open = row.cancelled_at is None and row.completed_at is None
    _save(
        row, at, is_paused=row.is_paused and is_open, cancelled_at=None, completed_at=None, advance_after=at
    )
    _note("backfill retried", row, deed, at, partitions=opened.left)
    doorbell.ring(Bell.ADVANCE_BACKFILLS)
    return opened.left


@transaction.atomic
def set_limit(backfill: Backfill, max_active_runs: int, *, deed: Deed, at: datetime) -> None:
    """How many of its runs may be running from now on.

    :raises CannotBackfill: for less than one.
    :raises BackfillOver: if it has ended or is cancelled.
    """
    if max_active_runs < 1:
        raise CannotBackfill("max_active_runs is a whole number from 1 on")
    row = _locked_open(backfill)
    was = row.max_active_runs
    _save(row, at, max_active_runs=max_active_runs, advance_after=at)
    _note("backfill limit changed", row, deed, at, was=was, now=max_active_runs)
    doorbell.ring(Bell.ADVANCE_BACKFILLS)
    doorbell.ring(Bell.START)


def _locked(backfill: Backfill) -> Backfill:
    return Backfill.objects.select_for_update(no_key=True).get(pk=backfill.pk)


def _locked_open(backfill: Backfill) -> Backfill:
    row = _locked(backfill)
    if row.completed_at is not None or row.cancelled_at is not None:
        raise BackfillOver(f"backfill {row.pk} {'has ended' if row.completed_at else 'is cancelled'} already")
    return row


@dataclass(frozen=True, slots=True)
class _Opened:
    """How many partitions were opened again, and how many are `left`: the others have ended at once."""

    count: int
    left: int

    def __bool__(self) -> bool:
        return self.count > 0


def _open_again(row: Backfill, states: Collection[State], at: datetime) -> _Opened:
    """Partitions that ended in one of `states` are open again; of a later Dag, they wait as at the start."""
    opened = 0
    waiting: dict[int, frozenset[str]] = {}
    targets = targets_of(row)
    for target in targets:
        ended = BackfillPartition.objects.filter(target=target, state__in=states)
        counts = dict(ended.order_by().values_list("state").annotate(Count("pk")))
        opened += sum(counts.values())
        if target.layer:
            waiting[target.pk] = frozenset(ended.values_list("key", flat=True))
        outcomes.count(target.pk, {State(state): number for state, number in counts.items()}, sign=-1)
        ended.update(state=State.WAITING if target.layer else State.READY, reason="", run=None, ripe_at=None)
    over = following.look_again(targets, at) if opened else {}
    return _Opened(opened, opened - sum(len(waiting[pk].intersection(keys)) for pk, keys in over.items()))


def _save(row: Backfill, at: datetime, **fields: object) -> None:
    for name, value in fields.items():
        setattr(row, name, value)
    row.updated_at = at
    row.save(update_fields=[*fields, "updated_at"])


def _note(event: str, row: Backfill, deed: Deed, at: datetime, **extra: Any) -> None:
    dag = targets_of(row)[-1].dag
    journal.note(event, deed=deed, at=at, about=dag, backfill=row.pk, **extra)
