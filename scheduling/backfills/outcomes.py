"""How partitions of a backfill end: each in its row, and in the counts of its Dag, in one transaction."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Q

from core import bulk
from core.models import AssetEvent, Backfill, BackfillPartition, BackfillTarget, DagRun, Outlet

State = BackfillPartition.State
COUNTS = {
    State.DONE: "done",
    State.FAILED: "failed",
    State.BLOCKED: "failed",
    State.SKIPPED: "skipped",
    State.CANCELLED: "cancelled",
}
"""The count in which a partition that has ended stands."""

_STOPPING = {
    State.FAILED: "failed",
    State.BLOCKED: "could not run",
    State.CANCELLED: "was cancelled",
}

LONGEST_REASON = 500
PORTION = 20_000
"""Partitions that are cancelled in one transaction."""

Ended = dict[int, list[str]]
"""Keys that have ended, by the primary key of their target."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One partition has ended. `target_id` and `key` name it."""

    pk: int
    target_id: int
    key: str
    state: State
    reason: str = ""


def record(outcomes: Sequence[Outcome]) -> None:
    """Write how partitions ended that were open."""
    rows = [(each.pk, each.state.value, each.reason[:LONGEST_REASON]) for each in outcomes]
    bulk.update(BackfillPartition, ("state", "reason"), rows)
    counted: dict[int, Counter[State]] = defaultdict(Counter)
    for each in outcomes:
        counted[each.target_id][each.state] += 1
    for target_id, states in counted.items():
        count(target_id, states)


def end_unstarted(target: BackfillTarget, state: State, reason: str) -> list[str]:
    """End all partitions of `target` that have not started, in one statement. Returns their keys."""
    rows = BackfillPartition.objects.filter(target=target, state__in=[State.READY, State.WAITING])
    keys = list(rows.values_list("key", flat=True))
    if keys:
        count(target.pk, {state: rows.update(state=state, reason=reason[:LONGEST_REASON])})
    return keys


def stop_chain(target: BackfillTarget, ended: Iterable[Outcome]) -> list[str]:
    """In a chain each key comes after the one before: the first failure ends it. The keys that do not run."""
    for each in ended if target.backfill.is_chained else ():
        if each.target_id == target.pk and each.state in _STOPPING:
            reason = f"the chain stopped at {each.key}, which {_STOPPING[each.state]}"
            return end_unstarted(target, State.BLOCKED, reason)
    return []


def cancel_some(targets: Iterable[BackfillTarget]) -> int:
    """Cancel partitions that have not started, a portion at a time. Returns how many; none left when 0."""
    cancelled = 0
    for target in targets:
        rows = BackfillPartition.objects.filter(target=target, state__in=[State.READY, State.WAITING])
        some = rows.filter(pk__in=rows.order_by("pk").values("pk")[: PORTION - cancelled])
        number = some.update(state=State.CANCELLED, reason="the backfill was cancelled")
        count(target.pk, {State.CANCELLED: number})
        cancelled += number
    return cancelled


def count(target_id: int, states: "Counter[State] | dict[State, int]", sign: int = 1) -> None:
    """Move as many partitions from the open ones to those counted, or back."""
    changes: Counter[str] = Counter()
    for state, number in states.items():
        changes[COUNTS[state]] += sign * number
    fields = {name: F(name) + number for name, number in changes.items() if number}
    if fields:
        BackfillTarget.objects.filter(pk=target_id).update(**fields)


def of_ended_runs(targets: Collection[BackfillTarget]) -> list[Outcome]:
    """How the started partitions ended whose run has. One without a run has lost it: it was deleted."""
    rows = BackfillPartition.objects.started().filter(target__in=targets)
    found = list(
        rows.filter(Q(run=None) | Q(run__state__in=DagRun.FINISHED)).values_list(
            "pk", "target_id", "key", "run_id"
        )
    )
    runs = DagRun.objects.in_bulk({run_id for *_, run_id in found if run_id})
    wrote = _written(runs.values())
    return [
        Outcome(pk, target_id, key, *_end(runs.get(run_id), key, wrote))
        for pk, target_id, key, run_id in found
    ]


def open_again(run: DagRun, at: datetime) -> None:
    """Partitions that ended with `run` have not, since somebody tries it again; nor has their backfill.

    What did not run because of it is left as it is, as in `follow`. The backfills are locked.
    """
    rows = _ended_with(run)
    states = _uncount(rows)
    BackfillPartition.objects.filter(pk__in=[row.pk for row in rows]).update(state=State.STARTED, reason="")
    over = Backfill.objects.filter(targets__in=states, completed_at__isnull=False)
    pks = list(over.values_list("pk", flat=True))
    Backfill.objects.filter(pk__in=pks, cancelled_at=None).update(is_paused=False)
    Backfill.objects.filter(pk__in=pks).update(completed_at=None, updated_at=at)


def follow(run: DagRun) -> None:
    """Partitions that ended with `run` have ended as it has now: somebody has marked it since.

    What did not run because of it is left as it is: it runs when the backfill is retried.
    """
    rows, wrote = _ended_with(run), _written([run])
    _uncount(rows)
    record([Outcome(row.pk, row.target_id, row.key, *_end(run, row.key, wrote)) for row in rows])


def _ended_with(run: DagRun) -> list[BackfillPartition]:
    return list(BackfillPartition.objects.filter(run=run).exclude(state__in=BackfillPartition.OPEN))


def _uncount(rows: Iterable[BackfillPartition]) -> dict[int, Counter[State]]:
    """Take partitions that had ended out of the counts. How many of each target ended how."""
    states: dict[int, Counter[State]] = defaultdict(Counter)
    for row in rows:
        states[row.target_id][State(row.state)] += 1
    for target_id, counted in states.items():
        count(target_id, counted, sign=-1)
    return states


Written = dict[int, frozenset[str | None] | None]
"""By run, the keys of its events; none if its Dag writes nothing that could tell."""


def _written(runs: Iterable[DagRun]) -> Written:
    runs = list(runs)
    events = AssetEvent.objects.filter(source_run__in=runs).values_list("source_run_id", "partition_key")
    keys: dict[int, set[str | None]] = defaultdict(set)
    for run_id, key in events.distinct():
        keys[run_id].add(key)
    writers = set(
        Outlet.objects.filter(dag__in={run.dag_id for run in runs}).values_list("dag_id", flat=True)
    )
    return {run.pk: frozenset(keys[run.pk]) if run.dag_id in writers else None for run in runs}


def _end(run: DagRun | None, key: str, wrote: Written) -> tuple[State, str]:
    if run is None:
        return State.CANCELLED, "its run was deleted"
    if run.state == DagRun.State.FAILED:
        return State.FAILED, _last_line(run.error) or f"run {run.run_id} failed"
    if run.state == DagRun.State.CANCELLED:
        return State.CANCELLED, f"run {run.run_id} was cancelled"
    if run.state == DagRun.State.SKIPPED:
        return State.SKIPPED, f"run {run.run_id} was skipped"
    if key in run.failed_keys:
        return State.FAILED, str(run.failed_keys[key])
    written = wrote[run.pk]
    if written is None or (written if run.partition_key is not None else key in written):
        return State.DONE, ""
    if not run.keys:
        return State.SKIPPED, f"the key of run {run.run_id} was cleared"
    return State.SKIPPED, f"run {run.run_id} wrote nothing"


def _last_line(error: str) -> str:
    lines = error.strip().splitlines()
    return lines[-1].strip() if lines else ""
