"""What people change about a run afterwards: that and how it ended, its note, its key, if it is on record."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import Coalesce

from core.models import Backfill, BackfillTarget, DagRun, HeldRun, JournalEntry
from scheduling import doorbell, journal, rounds, states
from scheduling.backfills import outcomes
from scheduling.doorbell import Bell
from scheduling.journal import Deed
from scheduling.runs import NotRunnable
from scheduling.states import Attempt

State = DagRun.State


@transaction.atomic
def set_note(run: DagRun, note: str, *, deed: Deed, at: datetime) -> None:
    DagRun.objects.filter(pk=run.pk).update(note=note, updated_at=at)
    journal.note("run note changed", deed=deed, at=at, about=run, key=run.partition_key, was=run.note)
    run.note, run.updated_at = note, at


@transaction.atomic
def retry(run: DagRun, *, deed: Deed, at: datetime) -> DagRun:
    """Queue a finished run again: same run, next attempt. Its log and earlier events stay.

    Keys of a backfill that had ended with it are open again, and so is the backfill, which ends anew when the
    run has. Of one that was cancelled nothing else starts.

    :raises NotRunnable: if it has not finished, or its Dag is gone.
    """
    if not run.dag.is_active:
        raise NotRunnable(f"Dag {run.dag} is not defined any more: its runs cannot be retried")
    _lock_backfills(run)
    ended = DagRun.objects.finished().filter(pk=run.pk)
    if not ended.update(queued_at=at, run_after=at, updated_at=at, **AT_FIRST):
        raise NotRunnable(f"run {run.run_id} has not ended: it can be cancelled, not retried")
    outcomes.open_again(run, at)
    journal.note_all([retried(run, deed, at)])
    doorbell.ring(Bell.START)
    run.refresh_from_db()
    return run


def retried(run: DagRun, deed: Deed, at: datetime) -> JournalEntry:
    """What the journal says of `run`, as it was before somebody queued it again."""
    event, was = journal.RUN_RETRIED, {"was": run.state, "attempt": run.attempt}
    return journal.entry(event, deed=deed, at=at, about=run, key=run.partition_key, **was)


AT_FIRST: dict[str, Any] = {
    "state": State.QUEUED,
    "started_at": None,
    "ended_at": None,
    "dispatched_at": None,
    "cancel_requested": False,
    "failures": 0,
    "losses": 0,
    "error": "",
    "failed_keys": {},
}
"""What a run that somebody asks for again says. Attempts count on: what an earlier one answers is not its."""


@transaction.atomic
def mark(run: DagRun, state: State, *, deed: Deed, at: datetime) -> None:
    """A person says how `run` ended. A worker that still has it finds its lease gone and records nothing.

    Nothing is emitted: a run marked a success wrote no data that anybody knows of. What a backfill says of
    its keys follows, also when the backfill has ended.

    :param state: `SUCCESS` or `FAILED`.
    """
    was = lock(run).state
    DagRun.objects.filter(pk=run.pk).update(
        state=state,
        started_at=Coalesce(F("started_at"), at),
        ended_at=Coalesce(F("ended_at"), at),
        lease_until=None,
        cancel_requested=False,
        updated_at=at,
        **({"error": "", "failed_keys": {}} if state is State.SUCCESS else {}),
    )
    run.refresh_from_db()
    states.take_back(run)
    states.record_attempt(run, Attempt(state), at)
    states.forget_attempt(run, at)
    outcomes.follow(run)
    journal.note("run marked", deed=deed, at=at, about=run, key=run.partition_key, was=was, state=state)
    doorbell.ring(Bell.START)
    doorbell.ring(Bell.ADVANCE_BACKFILLS)


@transaction.atomic
def delete(run: DagRun, *, deed: Deed, at: datetime) -> None:
    """Take `run` and its log off the record. Its events stay, and so does what its held runs had received.

    Held runs are locked before partitions, as everybody does who changes both.

    :raises NotRunnable: while it is running.
    """
    locked = _locked(run)
    if locked.state == State.RUNNING:
        raise NotRunnable(f"run {run.run_id} is running: cancel it before you delete it")
    journal.note("run deleted", deed=deed, at=at, about=run, key=run.partition_key, was=locked.state)
    became = list(HeldRun.objects.filter(run=run).order_by("partition_key"))
    HeldRun.objects.filter(run=run).update(state=HeldRun.State.SUPERSEDED, run=None)
    for row in became:
        _refresh(row, at)
    states.forget_runs([locked], at)
    locked.delete()


@transaction.atomic
def forget_keys(runs: Sequence[DagRun], *, deed: Deed, at: datetime) -> None:
    """Blank the keys and the date of `runs`: they count for no partition any more, whatever they are at."""
    rows = DagRun.objects.filter(pk__in=[run.pk for run in runs]).select_related("dag").order_by("pk")
    locked = list(rows.select_for_update(no_key=True, of=("self",)))
    for run in locked:
        keys = {} if run.partition_keys is None else {"keys": len(run.keys)}
        journal.note("run key cleared", deed=deed, at=at, about=run, key=run.partition_key, **keys)
    DagRun.objects.filter(pk__in=[run.pk for run in locked]).update(
        partition_key=None, partition_keys=None, partition_date=None, failed_keys={}, updated_at=at
    )
    states.forget_runs([run for run in locked if run.keys], at)


def lock(run: DagRun) -> DagRun:
    """The row of `run` as it is, locked after the backfills that have keys of it."""
    _lock_backfills(run)
    return _locked(run)


def _refresh(gone: HeldRun, at: datetime) -> None:
    """What the open round of that key has received, and `gone` had consumed, is fresh: that has not fired.

    Of each key the newest event counts that the open round has counted.
    """
    name = (gone.dag_id, gone.partition_key)
    row = rounds.lock([name]).get(name)
    if row is None:
        return
    events = set(gone.consumed.values_list("event_id", flat=True))
    fresh = events - {event for _, event in rounds.consumed_before([row], events)}
    said = row.consumed.filter(event__asset=OuterRef("asset"), event__partition_key=OuterRef("key"))
    newest = Subquery(said.order_by("-event").values("event")[:1])
    row.received.alias(newest=newest).filter(newest__in=fresh).update(is_fresh=True)
    HeldRun.objects.filter(pk=row.pk).update(judge_after=at)
    doorbell.ring(Bell.JUDGE)


def _lock_backfills(run: DagRun) -> None:
    """Those that have keys of it, before the run, as everybody does who changes both."""
    own = BackfillTarget.objects.filter(partition_set__run=run).values("backfill")
    list(Backfill.objects.filter(pk__in=own).order_by("pk").select_for_update(no_key=True))


def _locked(run: DagRun) -> DagRun:
    return DagRun.objects.select_for_update(no_key=True, of=("self",)).select_related("dag").get(pk=run.pk)
