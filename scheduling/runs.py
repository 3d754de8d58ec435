"""Dag runs: triggered by hand, cancelled. `newruns` queues them, `claims` starts and ends them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from core.models import Dag, DagRun, HeldRun
from scheduling import assessing, claims, doorbell, filling, firing, journal, keeping, listening, opening
from scheduling.algebra.conditions import Leaf
from scheduling.algebra.errors import InvalidKey, PartitionError
from scheduling.algebra.keys import validate_key
from scheduling.algebra.timetables import PartitionedAssetTimetable
from scheduling.algebra.verdicts import Verdict
from scheduling.doorbell import Bell
from scheduling.journal import Deed
from scheduling.newruns import NewRun, create

Type = DagRun.Type
State = DagRun.State


class NotPartitioned(PartitionError):
    """A key was given to a Dag whose runs have none."""


class KeyNeeded(PartitionError):
    """A Dag whose every run is for a key was triggered without one."""


class DuplicateRunId(PartitionError):
    """The Dag has a run of that id already."""


class NotRunnable(PartitionError):
    """What was asked of a run or Dag does not fit the state it is in."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What a person asks for when triggering a Dag by hand."""

    partition_key: str | None = None
    conf: dict[str, Any] = field(default_factory=dict)
    run_id: str | None = None
    note: str = ""
    run_after: datetime | None = None
    settle_held: bool = True


def trigger(dag: Dag, ask: Ask, *, deed: Deed, at: datetime, run_type: Type = Type.MANUAL) -> DagRun:
    """A person (or a program on their behalf, or a sensor) makes a run, usually for one key.

    If that key is held, the run settles the held run, which then does not fire as well, unless
    `ask.settle_held` is false. Where none is held, and all that the key needs is there, the run is a round of
    its own. What the key needs and is not there is noted on the run, as where a person fires a held run.

    :raises NotPartitioned: for a key given to a Dag whose runs have none.
    :raises KeyNeeded: for no key where every run has one.
    :raises InvalidKey: for a key that the Dag's timetable cannot read.
    :raises DuplicateRunId: if `ask.run_id` is taken.
    :raises NotKept: for a conf that cannot be kept.
    """
    date = date_of(dag, ask.partition_key)
    if ask.partition_key is None:
        _check_may_lack(dag)
    keeping.check(ask.conf, f"the conf for Dag {dag}")
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
            run, settled = _make(new, ask.settle_held, deed, at)
            key = ask.partition_key
            journal.note("run triggered", deed=deed, at=at, about=run, key=key, settled_held_run=settled)
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


def _stop(run: DagRun, at: datetime) -> None:
    try:
        claims.stop(run, at=at)
    except claims.LeaseLost:
        raise NotRunnable(f"run {run.run_id} has ended just now: there is nothing to cancel") from None


def _make(new: NewRun, settle_held: bool, deed: Deed, at: datetime) -> tuple[DagRun, bool]:
    """The run, and whether it settles a held run. Where there is none, it may be a round of its own.

    What comes after a round is late. If something is lacking, the run was made without it, and what completes
    the key still has to start one.
    """
    verdict = _verdict(new.dag, new.partition_key, at)
    is_complete = verdict is not None and verdict.is_complete
    [run] = create([new if verdict is None else replace(new, **firing.noted([verdict]))], at=at)
    settled = settle_held and _settle(run, deed, at)
    if settle_held and is_complete and not settled:
        _become_a_round(run, deed, at)
    return run, settled


def _verdict(dag: Dag, key: str | None, at: datetime) -> Verdict | None:
    """The verdict on a first run of `key`; none where one key is enough, or nobody could say."""
    try:
        if key is None or not filling.needs_several(listening.of_dag(dag)):
            return None
        return assessing.judge(assessing.as_if_opened(dag, key, now=at), now=at)
    except PartitionError:  # it listens to nothing, or cannot be read
        return None


def _settle(run: DagRun, deed: Deed, at: datetime) -> bool:
    held = HeldRun.objects.held().filter(dag=run.dag, partition_key=run.partition_key)
    closed = {"closed_at": at, "closed_by": deed.by, "judge_after": None}
    return bool(held.update(state=HeldRun.State.FIRED, run=run, **closed))


def _become_a_round(run: DagRun, deed: Deed, at: datetime) -> None:
    dags, names = {run.dag_id: run.dag}, {(run.dag_id, run.partition_key or "")}
    rows = list(opening.lock_or_open(names, dags, at).values())
    opening.fill_opened(rows, dags, at)
    firing.become(rows, [run], by=deed.by, at=at)


def _check_may_lack(dag: Dag) -> None:
    """Refuse no key: a run without one would fail, or write an event that counts for nothing."""
    try:
        timetable = listening.timetable_of(dag)
    except PartitionError:  # whoever mends the definition will see
        return
    if timetable is not None and timetable.partitioned:
        raise KeyNeeded(f"say for which partition key: every run of Dag {dag} has one")


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
