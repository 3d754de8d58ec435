"""Dag runs: created, triggered by hand, cancelled, retried. `claims` starts and ends them."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from operator import attrgetter
from typing import Any

from django.db import IntegrityError, transaction

from core import bulk
from core.making import Maker
from core.models import Backfill, Dag, DagRun, HeldRun
from scheduling import claims, doorbell, extras, journal, listening
from scheduling.algebra.conditions import Leaf
from scheduling.algebra.errors import InvalidKey, PartitionError
from scheduling.algebra.keys import validate_key
from scheduling.algebra.timetables import PartitionedAssetTimetable
from scheduling.doorbell import Bell
from scheduling.journal import Deed

Type = DagRun.Type
State = DagRun.State


class NotPartitioned(PartitionError):
    """A key was given to a Dag whose runs have none."""


class DuplicateRunId(PartitionError):
    """The Dag has a run of that id already."""


class NotRunnable(PartitionError):
    """What was asked of a run or Dag does not fit the state it is in."""


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run to be created. `missing_keys` are those a person fired without, per asset.

    A run of several keys has `partition_keys` and no `partition_key`.
    """

    dag: Dag
    run_type: Type
    partition_key: str | None = None
    partition_date: datetime | None = None
    partition_keys: Sequence[str] | None = None
    backfill: Backfill | None = None
    tick_at: datetime | None = None
    run_after: datetime | None = None
    run_id: str | None = None
    conf: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    triggered_by: str = ""
    created_by: str = ""
    missing_keys: Sequence[dict[str, object]] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """What a person asks for when triggering a Dag by hand."""

    partition_key: str | None = None
    conf: dict[str, Any] = field(default_factory=dict)
    run_id: str | None = None
    note: str = ""
    run_after: datetime | None = None
    settle_held: bool = True


def create(new: Sequence[NewRun], *, at: datetime) -> list[DagRun]:
    """Queue runs and wake the worker that starts them. A run for a tick that has one already is left out.

    :returns: the runs of `new` in order; for ticks, only those that were not there (their `pk` may be unset).
    """
    rows = [_row(each, at) for each in new]
    if any(each.tick_at for each in new):
        bulk.insert(DagRun, COLUMNS[1:], _values(rows, ATTRIBUTES[1:]), bulk.Ignore())
    else:
        _insert(rows)
    if rows:
        doorbell.ring(Bell.START)
    return rows


def trigger(dag: Dag, ask: Ask, *, deed: Deed, at: datetime, run_type: Type = Type.MANUAL) -> DagRun:
    """A person (or a program on their behalf, or a sensor) makes a run, usually for one key.

    If that key is held, the run settles the held run, which then does not fire as well, unless
    `ask.settle_held` is false.

    :raises NotPartitioned: for a key given to a Dag whose runs have none.
    :raises InvalidKey: for a key that the Dag's timetable cannot read.
    :raises DuplicateRunId: if `ask.run_id` is taken.
    :raises NotKept: for a conf that cannot be kept.
    """
    date = date_of(dag, ask.partition_key)
    extras.check(ask.conf, f"the conf for Dag {dag}")
    new = NewRun(
        dag=dag,
        run_type=run_type,
        partition_key=ask.partition_key,
        partition_date=date,
        run_after=ask.run_after,
        run_id=ask.run_id,
        conf=ask.conf,
        note=ask.note,
        triggered_by={"api": "rest_api", "web": "ui"}.get(deed.via, deed.via),
        created_by=deed.by,
    )
    try:
        with transaction.atomic():
            [run] = create([new], at=at)
            settled = ask.settle_held and _settle(run, deed, at)
            journal.note(
                "run triggered",
                deed=deed,
                at=at,
                about=run,
                key=ask.partition_key,
                settled_held_run=bool(settled),
            )
    except IntegrityError:
        if ask.run_id and DagRun.objects.filter(dag=dag, run_id=ask.run_id).exists():
            raise DuplicateRunId(
                f"Dag {dag} has a run {ask.run_id!r} already: choose another run id"
            ) from None
        raise
    return run


@transaction.atomic
def trigger_all(dag: Dag, asks: Sequence[Ask], *, deed: Deed, at: datetime) -> list[DagRun]:
    """`trigger` for each of `asks`, or for none of them if one is refused."""
    return [trigger(dag, ask, deed=deed, at=at) for ask in asks]


def date_of(dag: Dag, key: str | None) -> datetime | None:
    """The partition date that `key` means to `dag`; checks the key on the way.

    :raises NotPartitioned: if runs of `dag` have no key.
    :raises InvalidKey: if the key cannot be one, or the timetable cannot read it.
    """
    if not dag.is_active:
        raise NotRunnable(f"Dag {dag} is not defined any more: it cannot run")
    if key is None:
        return None
    validate_key(key)
    timetable = listening.timetable_of(dag)
    if timetable is None or not (timetable.partitioned or timetable.at_runtime):
        raise NotPartitioned(f"Dag {dag} is not partitioned: trigger it without a partition key")
    if isinstance(timetable, PartitionedAssetTimetable):
        _check_required(timetable, key)
    return timetable.resolve(key)


def cancel(run: DagRun, *, deed: Deed, at: datetime) -> None:
    """Cancel a queued run at once, and one that another system has, which hears of it when it reports.

    A running one is asked to stop, which its worker does within a lease renewal.

    :raises NotRunnable: if it has finished.
    """
    with transaction.atomic():
        queued = DagRun.objects.filter(pk=run.pk, state=State.QUEUED)
        if queued.update(state=State.CANCELLED, ended_at=at, updated_at=at):
            doorbell.ring(Bell.START)
            doorbell.ring(Bell.ADVANCE_BACKFILLS)
        elif elsewhere := DagRun.objects.filter(pk=run.pk, state=State.RUNNING, is_elsewhere=True).first():
            _stop(elsewhere, at)
        elif not DagRun.objects.filter(pk=run.pk, state=State.RUNNING).update(
            cancel_requested=True, updated_at=at
        ):
            raise NotRunnable(f"run {run.run_id} has ended already: there is nothing to cancel")
        journal.note("run cancelled", deed=deed, at=at, about=run, key=run.partition_key)


def retry(run: DagRun, *, deed: Deed, at: datetime) -> DagRun:
    """Queue a finished run again: same run, next attempt. Its log and earlier events stay.

    :raises NotRunnable: if it has not finished, or its Dag is gone.
    """
    if not run.dag.is_active:
        raise NotRunnable(f"Dag {run.dag} is not defined any more: its runs cannot be retried")
    with transaction.atomic():
        changed = (
            DagRun.objects.finished()
            .filter(pk=run.pk)
            .update(
                state=State.QUEUED,
                queued_at=at,
                run_after=at,
                started_at=None,
                ended_at=None,
                dispatched_at=None,
                cancel_requested=False,
                attempt=0,
                failures=0,
                error="",
                failed_keys={},
                updated_at=at,
            )
        )
        if not changed:
            raise NotRunnable(f"run {run.run_id} has not ended: it can be cancelled, not retried")
        journal.note("run retried", deed=deed, at=at, about=run, key=run.partition_key, was=run.state)
        doorbell.ring(Bell.START)
    run.refresh_from_db()
    return run


COLUMNS = tuple(str(each.column) for each in DagRun._meta.concrete_fields)
ATTRIBUTES = tuple(each.attname for each in DagRun._meta.concrete_fields)


_MADE = Maker(DagRun)


@transaction.atomic
def _insert(rows: Sequence[DagRun]) -> None:
    """Five times as fast as `bulk_create`, which asks every value how it wants to be written."""
    for row, pk in zip(rows, bulk.take_ids(DagRun, len(rows)), strict=True):
        row.pk, row._state.adding = pk, False
    bulk.insert(DagRun, COLUMNS, _values(rows, ATTRIBUTES))


def _values(rows: Sequence[DagRun], names: Sequence[str]) -> list[tuple[Any, ...]]:
    values = attrgetter(*names)
    return [values(row) for row in rows]


def _stop(run: DagRun, at: datetime) -> None:
    try:
        claims.stop(run, at=at)
    except claims.LeaseLost:
        raise NotRunnable(f"run {run.run_id} has ended just now: there is nothing to cancel") from None


def _row(new: NewRun, at: datetime) -> DagRun:
    after = new.run_after or at
    row = _MADE(
        dag_id=new.dag.pk,
        run_id=new.run_id or f"{new.run_type}__{_stamp(new.tick_at or after)}__{secrets.token_hex(4)}",
        run_type=new.run_type,
        partition_key=new.partition_key,
        partition_date=new.partition_date,
        partition_keys=None if new.partition_keys is None else list(new.partition_keys),
        backfill_id=new.backfill.pk if new.backfill else None,
        tick_at=new.tick_at,
        conf=new.conf,
        note=new.note,
        triggered_by=new.triggered_by,
        created_by=new.created_by,
        missing_keys=list(new.missing_keys),
        is_fired_short=bool(new.missing_keys and new.created_by),
        queued_at=at,
        run_after=after,
        updated_at=at,
    )
    row.dag = new.dag
    return row


@lru_cache(maxsize=16)
def _stamp(at: datetime) -> str:
    """Most runs that are made together have the same."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.%f+00:00")


def _settle(run: DagRun, deed: Deed, at: datetime) -> int:
    if run.partition_key is None:
        return 0
    held = HeldRun.objects.held().filter(dag=run.dag, partition_key=run.partition_key)
    return held.update(state=HeldRun.State.FIRED, run=run, closed_at=at, closed_by=deed.by, judge_after=None)


def _check_required(timetable: PartitionedAssetTimetable, key: str) -> None:
    """Refuse a key for which the rollups could not say what it needs."""
    refusals: dict[Leaf, PartitionError] = {}
    for leaf in timetable.assets.leaves():
        try:
            timetable.mapper_for(leaf).required(key)
        except PartitionError as refusal:
            refusals[leaf] = refusal
    if not timetable.assets.holds(lambda leaf: leaf not in refusals):
        raise InvalidKey(str(next(iter(refusals.values()))))
