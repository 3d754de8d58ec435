"""How many more runs may start: the free slots of a Dag, shared by its own runs and those of its backfills.

Each backfill has a queue of its own in a Dag. The queue with the fewest active runs is served first; of those
that have as many, the one that was passed over the most. So none keeps another waiting for ever, not even
where a Dag may have one run at a time.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db.models import Count, F, Q, QuerySet

from core.models import Backfill, BackfillTarget, Dag, DagRun

State = DagRun.State
Queue = tuple[int, int | None]
"""The primary keys of a Dag and of a backfill; without one, the runs that are the Dag's own."""


def startable(now: datetime) -> QuerySet[DagRun]:
    """Queued runs that nothing but a limit keeps from starting."""
    return DagRun.objects.filter(
        Q(backfill=None) | Q(backfill__is_paused=False),
        state=State.QUEUED,
        run_after__lte=now,
        dag__is_active=True,
        dag__is_paused=False,
    )


def shares(waiting: QuerySet[DagRun], active: QuerySet[DagRun]) -> dict[Queue, int]:
    """How many of the `waiting` runs of each queue may start, while `active` ones take a slot each.

    Six queries at most, whatever waits. A queue that gets nothing is in the answer with 0.
    """
    wanted = _per_queue(waiting)
    dags = {row.pk: row for row in Dag.objects.filter(pk__in={dag_id for dag_id, _ in wanted})}
    taken = _per_queue(active.filter(dag_id__in=dags))
    passed = _passed_over(wanted, dags)
    lines = [
        _Line(*queue, count, taken.get(queue, 0), passed.get(queue, 0)) for queue, count in wanted.items()
    ]
    room = _room({line.backfill_id for line in lines if line.backfill_id}, active)
    free = {pk: dag.max_active_runs for pk, dag in dags.items()}
    for (dag_id, _), count in taken.items():
        free[dag_id] -= count
    for dag_id, of_dag in groupby(sorted(lines, key=attrgetter("dag_id")), attrgetter("dag_id")):
        _deal(list(of_dag), free[dag_id], room)
    return {(line.dag_id, line.backfill_id): line.given for line in lines}


def note_turns(shared: Collection[Queue], served: Collection[Queue]) -> None:
    """Remember who was passed over when slots of a Dag were `shared` by several queues, for the next time."""
    in_dag = Counter(dag_id for dag_id, _ in shared)
    for dag_id in {dag_id for dag_id, _ in served if in_dag[dag_id] > 1}:
        for queue in shared:
            if queue[0] == dag_id:
                row = _turn_of(queue)
                if queue not in served:
                    row.update(passed_over=F("passed_over") + 1)
                else:
                    row.filter(passed_over__gt=0).update(passed_over=0)


def has_room(run_pk: int) -> bool:
    """Whether the backfill of that run, if it has one, lets it start now. Locks the backfill."""
    rows = Backfill.objects.select_for_update(no_key=True, of=("self",))
    backfill = rows.filter(runs=run_pk).first()
    if backfill is None:
        return True
    running = backfill.runs.filter(state=State.RUNNING).count()
    return not backfill.is_paused and running < backfill.max_active_runs


@dataclass(slots=True)
class _Line:
    """One queue while slots are dealt out; `taken`: its active runs before."""

    dag_id: int
    backfill_id: int | None
    wanted: int
    taken: int
    passed_over: int
    given: int = 0

    @property
    def place(self) -> tuple[int, int, bool]:
        """Who goes first: the fewest runs, then who was passed over the most, then the Dag's own runs."""
        return self.taken + self.given, -self.passed_over, self.backfill_id is not None


def _per_queue(runs: QuerySet[DagRun]) -> dict[Queue, int]:
    counted = runs.order_by().values_list("dag_id", "backfill_id").annotate(Count("pk"))
    return {(dag_id, backfill_id): count for dag_id, backfill_id, count in counted}


def _turn_of(queue: Queue) -> QuerySet[Any]:
    """The row that counts how often a queue was passed over."""
    dag_id, backfill_id = queue
    if backfill_id is None:
        return Dag.objects.filter(pk=dag_id)
    return BackfillTarget.objects.filter(dag_id=dag_id, backfill_id=backfill_id)


def _passed_over(queues: Iterable[Queue], dags: Mapping[int, Dag]) -> dict[Queue, int]:
    backfill_ids = {backfill_id for _, backfill_id in queues if backfill_id is not None}
    rows = BackfillTarget.objects.filter(backfill_id__in=backfill_ids) if backfill_ids else ()
    passed: dict[Queue, int] = {(dag.pk, None): dag.passed_over for dag in dags.values()}
    return passed | {(row.dag_id, row.backfill_id): row.passed_over for row in rows}


def _room(backfill_ids: Collection[int], active: QuerySet[DagRun]) -> dict[int, int]:
    """How many more runs each backfill may have, over all of its Dags."""
    if not backfill_ids:
        return {}
    limits = dict(Backfill.objects.filter(pk__in=backfill_ids).values_list("pk", "max_active_runs"))
    taken = active.filter(backfill_id__in=backfill_ids).order_by().values_list("backfill_id")
    used = dict(taken.annotate(Count("pk")))
    return {pk: limit - used.get(pk, 0) for pk, limit in limits.items()}


def _deal(lines: Sequence[_Line], free: int, room: dict[int, int]) -> None:
    """Give `free` slots to `lines` one by one, each to whoever comes first."""

    def may_have(line: _Line) -> bool:
        return line.given < line.wanted and (line.backfill_id is None or room[line.backfill_id] > 0)

    while free > 0 and (hungry := [line for line in lines if may_have(line)]):
        first = min(hungry, key=attrgetter("place"))
        alone = len(hungry) == 1 and first.backfill_id is None
        slots = min(free, first.wanted - first.given) if alone else 1
        first.given += slots
        free -= slots
        if first.backfill_id is not None:
            room[first.backfill_id] -= slots
