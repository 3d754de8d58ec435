"""Who executes a run: claimed by compare-and-set, leased, ended.

Nothing here trusts a message: a run is executed by whoever changed its row from queued to running, and only
as long as the lease is theirs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet

from core.models import Asset, Dag, DagRun
from scheduling import doorbell, events, fault, journal, pool_slots, slots, states
from scheduling.algebra.errors import PartitionError
from scheduling.doorbell import Bell
from scheduling.events import EventReport
from scheduling.journal import Deed
from scheduling.runlog import storable

LEASE = timedelta(seconds=settings.LEASE_SECONDS)
"""How long a run survives its worker, which renews it all the while."""

State = DagRun.State
Attempt = states.Attempt


class LeaseLost(PartitionError):
    """Another worker has the run now, or it was ended; what this one did is not recorded."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a task reports of an asset: the keys it wrote (None: the run's own), each key's `extra`."""

    asset: Asset
    keys: Sequence[str] | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    extras: dict[str, dict[str, Any]] = field(default_factory=dict)
    task_id: str = ""


def claim(
    run_pk: int, *, worker: str, now: datetime, elsewhere: bool = False, lease: timedelta = LEASE
) -> DagRun | None:
    """Make a queued run this worker's; None if it is not queued or due, or there is no room for it.

    :param elsewhere: the worker is another system's. Each kind of worker gets the runs that are for it.
    """
    with transaction.atomic():
        dags = Dag.objects.select_related("source").select_for_update(no_key=True, of=("self",))
        dag = dags.filter(runs=run_pk).first()
        if dag is None or dag.is_paused or not dag.is_active:
            return None
        if (dag.executor == Dag.Executor.EXTERNAL) is not elsewhere:
            return None
        if not elsewhere and dag.source and (dag.source.unloadable_until or now) > now:
            # Its message has arrived: it keeps nobody's place, and the next one goes out with the file.
            dag.runs.filter(pk=run_pk, state=State.QUEUED).update(dispatched_at=None)
            return None
        if dag.runs.filter(state=State.RUNNING).count() >= dag.max_active_runs:
            return None
        if not (slots.has_room(run_pk) and pool_slots.has_room(dag)):
            return None
        claimed = DagRun.objects.filter(pk=run_pk, state=State.QUEUED, run_after__lte=now).update(
            state=State.RUNNING,
            claimed_by=worker,
            is_elsewhere=elsewhere,
            lease_until=now + lease,
            attempt=F("attempt") + 1,
            pool_id=dag.pool_id,
            pool_slots=dag.pool_slots if dag.pool_id else 0,
            started_at=now,
            updated_at=now,
        )
        if not claimed:
            return None
        run = DagRun.objects.select_related("dag").get(pk=run_pk)
        states.record_attempt(run, Attempt.RUNNING, now)
    return run


def renew(run: DagRun, *, now: datetime, lease: timedelta = LEASE) -> bool:
    """Keep the lease for another while. False: stop, the run was cancelled or is another worker's."""
    return bool(mine(run).filter(cancel_requested=False).update(lease_until=now + lease))


def entrust(run: DagRun, to: str, *, until: datetime) -> None:
    """Leave `run` to another system, called `to`, which must be heard of `until` then.

    :raises LeaseLost: if the run is not this worker's any more, or somebody has cancelled it.
    """
    entrusted = mine(run).filter(cancel_requested=False)
    if not entrusted.update(claimed_by=to, is_elsewhere=True, lease_until=until):
        raise _lost(run)
    run.claimed_by, run.is_elsewhere, run.lease_until = to, True, until


@transaction.atomic
def succeed(
    run: DagRun, outputs: Sequence[Output], *, at: datetime, failed_keys: Mapping[str, str] | None = None
) -> None:
    """End `run` well and record what it wrote, in one transaction.

    :param failed_keys: those of its keys that its task gave up, with the reason of each. If it gave up all of
        them, the run has failed.
    :raises LeaseLost: if the run is not this worker's any more; nothing is recorded then.
    :raises InvalidKey: if an output names a key that cannot be one; the caller then fails the run.
    """
    failed = {key: storable(reason) for key, reason in (failed_keys or {}).items() if key in run.keys}
    if failed and len(failed) == len(run.keys):
        return fail(run, next(iter(failed.values())), at=at)
    _end(run, State.SUCCESS, at, failed_keys=failed)
    if run.failed_keys:
        states.lock(states.pairs_of(run, run.keys))
    reports = [report for output in outputs for report in _reports(run, output)]
    events.register_events(
        reports, source=events.Source.RUN, deed=Deed(by=f"run {run.run_id}"), at=at, run=run
    )
    written = {
        (report.asset.pk, report.partition_key) for report in reports if report.partition_key is not None
    }
    states.record_attempt(run, Attempt.SUCCESS, at, keys=written)
    states.record_attempt(run, Attempt.FAILED, at, keys=states.pairs_of(run, run.failed_keys))
    states.forget_attempt(run, at)
    fault.passing("emitting")
    return None


@transaction.atomic
def fail(run: DagRun, error: str, *, at: datetime) -> None:
    """End `run` badly: no event, its partitions are shown failed.

    :raises LeaseLost: if the run is not this worker's any more.
    """
    _end(run, State.FAILED, at, error)
    states.record_attempt(run, Attempt.FAILED, at)
    states.forget_attempt(run, at)


@transaction.atomic
def stop(run: DagRun, *, at: datetime) -> None:
    """End `run` because somebody cancelled it.

    :raises LeaseLost: if the run is not this worker's any more.
    """
    _end(run, State.CANCELLED, at)
    states.forget_attempt(run, at)


def take_over_lost(*, now: datetime) -> int:
    """Queue again the runs whose worker is gone; fail those that have used up their attempts."""
    lost = list(DagRun.objects.lost(now).select_related("dag")[:500])
    for run in lost:
        try:
            _take_over(run, now)
        except LeaseLost:
            continue
    return len(lost)


def mine(run: DagRun) -> QuerySet[DagRun]:
    """The row of `run` as long as this claim of it stands: each claim is another attempt."""
    return DagRun.objects.filter(
        pk=run.pk, state=State.RUNNING, claimed_by=run.claimed_by, attempt=run.attempt
    )


@transaction.atomic
def _take_over(run: DagRun, now: datetime) -> None:
    # One whose row somebody has is being ended, however long that takes: nobody waits for it here.
    if not mine(run).filter(lease_until__lt=now).select_for_update(no_key=True, skip_locked=True).first():
        raise LeaseLost(f"run {run.run_id} is alive after all")
    journal.note(
        journal.WORKER_LOST,
        at=now,
        about=run,
        key=run.partition_key,
        worker=run.claimed_by,
        attempt=run.attempt,
    )
    if run.cancel_requested:
        stop(run, at=now)
    elif (losses := run.losses + 1) >= run.dag.max_attempts:
        error = f"its worker {run.claimed_by} was lost, at attempt {losses} of {run.dag.max_attempts}"
        fail(run, error, at=now)
    else:
        mine(run).update(
            state=State.QUEUED, losses=losses, lease_until=None, dispatched_at=None, updated_at=now
        )
        states.forget_attempt(run, now)
        doorbell.ring(Bell.START)


def _end(run: DagRun, state: State, at: datetime, error: str = "", **fields: Any) -> None:
    """If somebody has blanked its keys meanwhile, it has none from here on."""
    fields |= {"state": state, "ended_at": at, "error": storable(error)}
    over = {"updated_at": at, "lease_until": None}
    is_ranged = run.partition_keys is not None
    as_it_was = mine(run).filter(partition_key=run.partition_key, partition_keys__isnull=not is_ranged)
    if not as_it_was.update(**fields, **over):
        fields |= {"partition_key": None, "partition_keys": None, "failed_keys": {}}
        if not mine(run).update(**fields, **over):
            raise _lost(run)
    for name, value in fields.items():
        setattr(run, name, value)
    doorbell.ring(Bell.START)
    if run.backfill_id:
        doorbell.ring(Bell.ADVANCE_BACKFILLS)


def _lost(run: DagRun) -> LeaseLost:
    return LeaseLost(f"run {run.run_id} is not {run.claimed_by}'s any more; nothing was recorded")


def _reports(run: DagRun, output: Output) -> list[EventReport]:
    own: list[str | None] = [*run.keys] or [None]
    named = own if output.keys is None else list(dict.fromkeys(output.keys))
    return [
        EventReport(
            output.asset, key, output.extra | output.extras.get(key or "", {}), task_id=output.task_id
        )
        for key in named
        if key not in run.failed_keys
    ]
