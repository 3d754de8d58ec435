"""Backfills as screens show them: how far each is, how its keys stand, how long it may take."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from statistics import median
from typing import Any

from django.db.models import Count, Q, Value
from django.db.models.functions import Coalesce, Right

from core.models import Backfill, BackfillPartition, BackfillTarget, Dag, DagRun
from scheduling.belonging import EVERYTHING, Sight
from scheduling.board.excerpts import Excerpt
from scheduling.board.lists import PAGE, Page, page_of

State = BackfillPartition.State

SQUARES = 500
"""Keys on one page of the grid of a backfill."""

RECENT = 50
"""Runs of a Dag from which is told how long one takes."""

FEWEST_TOGETHER = 5
"""Runs at the same time of which the pace of many can be told."""

STANDINGS = ("failed", "blocked", "running", "queued", "ready", "waiting", "done", "skipped", "cancelled")
"""How a key may stand, those that need a person first. One that has been started runs, or waits for its turn:
as many runs are queued ahead as may run at once."""

MOST_OF_ERROR = 400
"""Characters from the end of an error."""

_READ = (
    *("key", "state", "reason", "target__dag__dag_id", "run", "run__state"),
    *("error", "run__started_at", "run__ended_at"),
)

COUNTED = ("done", "failed", "skipped", "cancelled", "open")


@dataclass(frozen=True, slots=True)
class BackfillFilter:
    """What to show of the backfills; empty fields do not narrow."""

    dag: str = ""
    only_open: bool = False
    sight: Sight = EVERYTHING


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a backfill is: planned = done + failed + skipped + cancelled + open."""

    backfill: Backfill
    dag_ids: tuple[str, ...]
    planned: int
    done: int
    failed: int
    skipped: int
    cancelled: int
    open: int

    @property
    def parts(self) -> list[tuple[str, int]]:
        """The counts that are not nothing, with what each is called."""
        return [(name, count) for name in COUNTED if (count := getattr(self, name))]

    @property
    def ended(self) -> int:
        """Keys that ran to their end, well or badly."""
        return self.done + self.failed

    @property
    def word(self) -> str:
        """How the backfill stands."""
        row = self.backfill
        if row.completed_at is None:
            return "cancelling" if row.cancelled_at else "paused" if row.is_paused else "running"
        if row.cancelled_at:
            return "cancelled"
        return "failed" if self.failed else "success"

    @property
    def words(self) -> str:
        return ", ".join(f"{count:,} {name}" for name, count in self.parts) or "no keys"


@dataclass(frozen=True, slots=True)
class _Pace:
    """`length` of one run; `apart`: from end to end of many at the same time."""

    length: timedelta
    apart: timedelta


@dataclass(frozen=True, slots=True)
class PlannedKey:
    """A key of a backfill, how it stands and why, in words; `run` is the primary key of its run."""

    key: str
    state: str
    reason: str
    dag_id: str
    run: int | None = None
    error: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None


def backfills(wanted: BackfillFilter, *, after: int = 0, size: int = PAGE) -> Page[Backfill]:
    """Backfills, newest first."""
    rows = Backfill.objects.filter(wanted.sight.backfills())
    if wanted.only_open:
        rows = rows.open()
    if wanted.dag:
        rows = rows.filter(targets__dag__dag_id=wanted.dag)
    return page_of(rows, after, size, newest_first=True)


def progress(rows: Sequence[Backfill]) -> dict[int, Progress]:
    """How far each is, by primary key. One query."""
    found: dict[int, list[BackfillTarget]] = {row.pk: [] for row in rows}
    targets = BackfillTarget.objects.filter(backfill__in=rows).select_related("dag")
    for target in targets.order_by("layer", "pk"):
        found[target.backfill_id].append(target)
    return {row.pk: _progress(row, found[row.pk]) for row in rows}


def states_of(backfill: Backfill) -> dict[str, int]:
    """How many keys are in which of `STANDINGS`. Two queries."""
    rows = BackfillPartition.objects.filter(target__backfill=backfill)
    counts = dict(rows.order_by().values_list("state").annotate(count=Count("*")))
    started = counts.pop(State.STARTED, 0)
    counts["queued"] = rows.filter(_stands("queued")).count() if started else 0
    counts["running"] = started - counts["queued"]
    return {name: counts[name] for name in STANDINGS if counts.get(name)}


def keys_of(
    backfill: Backfill, *, standings: Collection[str] = (), first: int = 0, size: int = SQUARES
) -> Excerpt[PlannedKey]:
    """The keys of a backfill from the `first` on, Dag by Dag, upstream before downstream.

    :param standings: just those that stand so (`STANDINGS`).
    """
    rows = BackfillPartition.objects.filter(target__backfill=backfill)
    if standings:
        rows = rows.filter(reduce(or_, map(_stands, standings)))
    in_order = rows.order_by("target__layer", "target_id", "position").annotate(
        error=Coalesce(Right("run__error", MOST_OF_ERROR), Value(""))
    )
    found = in_order.values_list(*_READ)[first : first + size]
    return Excerpt([_planned(*each) for each in found], rows.count(), first)


def time_needed(counts: Iterable[tuple[Dag, int]], at_once: int) -> timedelta | None:
    """How long so many runs of each Dag may take, Dag after Dag, from recent runs of theirs.

    However many may run at a time, they take no less than so many took when they came together.

    :param at_once: how many of them may run at a time, if the Dag allows it.
    :returns: none where one of the Dags has not run yet.
    """
    total = timedelta()
    for dag, count in counts:
        pace = _pace(dag)
        if pace is None:
            return None
        in_waves = pace.length * math.ceil(count / min(at_once, dag.max_active_runs, count))
        total += max(in_waves, pace.apart * count)
    return total


def time_left(how: Progress, now: datetime) -> timedelta | None:
    """How long the rest may take at the pace so far; none while that cannot be told."""
    row = how.backfill
    if not how.ended or not how.open or row.is_paused or row.completed_at:
        return None
    return (now - row.created_at) / how.ended * how.open


def _stands(standing: str) -> Q:
    """Keys that stand so."""
    queued = Q(run__state=DagRun.State.QUEUED)
    if standing in ("queued", "running"):
        return Q(state=State.STARTED) & (queued if standing == "queued" else ~queued)
    return Q(state=standing)


def _planned(
    key: str, state: str, reason: str, dag_id: str, run: int | None, run_state: str | None, *rest: Any
) -> PlannedKey:
    if state == State.STARTED:
        state = "queued" if run_state == DagRun.State.QUEUED else "running"
    return PlannedKey(key, state, reason, dag_id, run, *rest)


def _pace(dag: Dag) -> "_Pace | None":
    """By the last runs of `dag` that ended well; none if there are none."""
    ended = DagRun.objects.filter(dag=dag, state=DagRun.State.SUCCESS, partition_keys__isnull=True)
    times = ended.order_by("-pk").values_list("queued_at", "started_at", "ended_at")[:RECENT]
    runs = [(queued, start, end) for queued, start, end in times if start and end]
    if not runs:
        return None
    length = median((end - start).total_seconds() for _, start, end in runs)
    return _Pace(timedelta(seconds=length), _apart(runs))


def _apart(runs: Sequence[tuple[datetime, datetime, datetime]]) -> timedelta:
    """Between the ends of runs of which the next was queued before the last had ended; nothing of few."""
    together: list[list[datetime]] = []
    for queued, _, end in sorted(runs):
        if together and queued <= max(together[-1]):
            together[-1].append(end)
        else:
            together.append([end])
    ends = max(together, key=len)
    return (max(ends) - min(ends)) / (len(ends) - 1) if len(ends) >= FEWEST_TOGETHER else timedelta()


def _progress(row: Backfill, targets: Iterable[BackfillTarget]) -> Progress:
    every = list(targets)
    totals = {name: sum(getattr(each, name) for each in every) for name in ("planned", *COUNTED)}
    return Progress(row, tuple(each.dag.dag_id for each in every), **totals)
