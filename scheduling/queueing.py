"""What keeps a queued run, or one that would be queued now, from starting, and behind whom it waits."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Sum

from core.models import Backfill, Dag, DagRun, Pulse
from scheduling import health, slots, unloadable
from scheduling.algebra.phrases import are, some

State = DagRun.State

NAMED = 5
"""Runs that a hindrance names, of all that it counts."""


@dataclass(frozen=True, slots=True)
class Hindrance:
    """One reason, and the first of the runs that something waits behind."""

    kind: str
    sentence: str
    behind: tuple[DagRun, ...] = ()


def of_run(run: DagRun, *, now: datetime) -> list[Hindrance]:
    """Why `run`, which is queued, has not started. A few small queries."""
    found = [*_of_dag(run.dag), *_of_time(run, now)]
    if run.backfill:
        found += _of_backfill(run.backfill)
    found += _of_limits(run.dag)
    if not found:
        found += _in_line(run, now)
    return found or [_on_its_way(run, now)]


def of_dag(dag: Dag) -> list[Hindrance]:
    """What a run of `dag` that was made now would wait for."""
    return [*_of_dag(dag), *_of_limits(dag)]


def of_every_run(dag: Dag) -> Hindrance | None:
    """What keeps each run of `dag`, whichever it is. No query, if its source is at hand."""
    return next(_of_dag(dag), None)


def _of_dag(dag: Dag) -> Iterator[Hindrance]:
    if not dag.is_active:
        yield Hindrance("inactive", f"No file defines {dag} any more: nothing of it runs.")
    elif dag.is_paused:
        yield Hindrance("paused", f"{dag} is paused: its runs wait until somebody unpauses it.")
    elif why := unloadable.why_not(dag):
        yield Hindrance("unloadable", why)


def _of_time(run: DagRun, now: datetime) -> Iterator[Hindrance]:
    if run.run_after > now:
        again = "It failed and is tried again" if run.failures else "It is to start"
        yield Hindrance("later", f"{again} from {run.run_after:%Y-%m-%d %H:%M:%S} UTC on.")


def _of_backfill(backfill: Backfill) -> Iterator[Hindrance]:
    if backfill.holds_back:
        yield Hindrance("backfill", f"Backfill {backfill.pk}, which it is of, is paused.")
        return
    running = backfill.runs.filter(state=State.RUNNING).select_related("dag").order_by("pk")
    if (count := running.count()) >= backfill.max_active_runs:
        limit = f"Its backfill may have {backfill.max_active_runs} at a time, {_so_many(count)}"
        yield Hindrance("backfill", f"{limit}.", tuple(running[:NAMED]))


def _of_limits(dag: Dag) -> Iterator[Hindrance]:
    running = dag.runs.filter(state=State.RUNNING).select_related("dag").order_by("pk")
    if (count := running.count()) >= dag.max_active_runs:
        limit = f"{dag} may have {dag.max_active_runs} at a time, {_so_many(count)}"
        yield Hindrance("max_active_runs", f"{limit}.", tuple(running[:NAMED]))
    if dag.pool is None:
        return
    inside = DagRun.objects.filter(state=State.RUNNING, pool=dag.pool).select_related("dag").order_by("pk")
    taken = inside.aggregate(taken=Sum("pool_slots"))["taken"] or 0
    if taken + dag.pool_slots > dag.pool.slots:
        has = f"Pool {dag.pool} has {some(dag.pool.slots, 'slot')}, {taken} taken"
        yield Hindrance("pool", f"{has}; it needs {dag.pool_slots}.", tuple(inside[:NAMED]))


def _so_many(count: int) -> str:
    return f"and {count} {are(count)} running"


def _in_line(run: DagRun, now: datetime) -> Iterator[Hindrance]:
    before = (
        slots.startable(now).filter(dag=run.dag, backfill=run.backfill, pk__lt=run.pk).select_related("dag")
    )
    if count := before.count():
        some_runs = f"{some(count, 'queued run')} of {run.dag} {are(count)}"
        yield Hindrance("queue", f"{some_runs} before it.", tuple(before.order_by("pk")[:NAMED]))


def _on_its_way(run: DagRun, now: datetime) -> Hindrance:
    if run.dag.executor == Dag.Executor.EXTERNAL:
        return Hindrance("worker", f"It waits for the system that claims the runs of {run.dag}.")
    if health.is_silent(Pulse.Kind.WORKER, now):
        return Hindrance("worker", "No worker is alive: nothing runs until one is started.")
    return Hindrance("worker", "Nothing keeps it: it is on its way to a worker.")
