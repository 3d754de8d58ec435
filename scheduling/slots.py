"""How many more runs may start: the free slots of a Dag, of a backfill and of a pool, dealt out to queues.

A Dag's own runs are a queue, and those that each backfill has in it. Queues that compete for the same slots,
of one Dag or of Dags that share a pool, are served in turns: first the one with the fewest active runs; of
those that have as many, the one that was passed over the most. So none keeps another waiting for ever, not
even where there is one slot. In a pool, a run that needs several slots has them kept free for it when it is
its turn.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet

from core.models import Backfill, BackfillTarget, Dag, DagRun
from scheduling import pool_slots, unloadable

State = DagRun.State
Queue = tuple[int, int | None]
"""The primary keys of a Dag and of a backfill; without one, the runs that are the Dag's own."""

Rivalry = tuple[str, int]
"""What queues compete for: the slots of a pool, or else those of a Dag."""


def startable(now: datetime) -> QuerySet[DagRun]:
    """Queued runs that nothing but a limit keeps from starting."""
    return DagRun.objects.filter(
        Q(backfill=None) | Q(backfill__is_paused=False) | Q(backfill__cancelled_at__isnull=False),
        state=State.QUEUED,
        run_after__lte=now,
        dag__is_active=True,
        dag__is_paused=False,
    ).filter(unloadable.loadable(now))


@dataclass(frozen=True, slots=True)
class Shares:
    """How many runs of each queue may start, a queue that gets nothing with 0.

    `rivals` names what a queue competes for: queues of one name take turns.
    """

    given: dict[Queue, int]
    rivals: dict[Queue, Rivalry]


def shares(waiting: QuerySet[DagRun], active: QuerySet[DagRun]) -> Shares:
    """How many of the `waiting` runs of each queue may start, while `active` ones take a slot each.

    Nine queries at most, whatever waits.
    """
    wanted = _per_queue(waiting)
    dags = {row.pk: row for row in Dag.objects.filter(pk__in={dag_id for dag_id, _ in wanted})}
    taken = _per_queue(active.filter(dag_id__in=dags))
    passed = _passed_over(wanted, dags)
    lines = [
        _Line(dags[dag_id], backfill_id, count, taken[dag_id, backfill_id], passed[dag_id, backfill_id])
        for (dag_id, backfill_id), count in wanted.items()
    ]
    free = _Free(
        of_dag={pk: dag.max_active_runs for pk, dag in dags.items()},
        of_backfill=_room({line.backfill_id for line in lines if line.backfill_id}, active),
        of_pool=pool_slots.slots_of({dag.pool_id for dag in dags.values() if dag.pool_id}, active),
    )
    for (dag_id, _), count in taken.items():
        free.of_dag[dag_id] -= count
    together: dict[Rivalry, list[_Line]] = defaultdict(list)
    for line in lines:
        together[line.rivalry].append(line)
    while sum(_deal(rivals, free) for rivals in together.values()):
        pass  # who was kept a place in a pool may have none in its backfill by now
    return Shares({line.queue: line.given for line in lines}, {line.queue: line.rivalry for line in lines})


def note_turns(shared: Shares, served: Collection[Queue]) -> None:
    """Remember who was passed over when slots were `shared` by several queues, for the next time."""
    many = Counter(shared.rivals.values())
    served_rivals = {shared.rivals[queue] for queue in served if many[shared.rivals[queue]] > 1}
    queues = [queue for queue, rivalry in shared.rivals.items() if rivalry in served_rivals]
    if queues:
        _count_turns([queue for queue in queues if queue not in served], Q(), F("passed_over") + 1)
        _count_turns([queue for queue in queues if queue in served], Q(passed_over__gt=0), 0)


def has_room(run_pk: int) -> bool:
    """Whether the backfill of that run, if it has one, lets it start now. Locks the backfill."""
    rows = Backfill.objects.select_for_update(no_key=True, of=("self",))
    backfill = rows.filter(runs=run_pk).first()
    if backfill is None:
        return True
    running = backfill.runs.filter(state=State.RUNNING).count()
    return not backfill.holds_back and running < backfill.max_active_runs


@dataclass(slots=True)
class _Line:
    """One queue while slots are dealt out; `taken`: its active runs before."""

    dag: Dag
    backfill_id: int | None
    wanted: int
    taken: int
    passed_over: int
    given: int = 0

    @property
    def queue(self) -> Queue:
        return self.dag.pk, self.backfill_id

    @property
    def rivalry(self) -> Rivalry:
        return ("pool", self.dag.pool_id) if self.dag.pool_id else ("dag", self.dag.pk)

    @property
    def place(self) -> tuple[int, int, bool]:
        """Who goes first: the fewest runs, then who was passed over the most, then the Dag's own runs."""
        return self.taken + self.given, -self.passed_over, self.backfill_id is not None


@dataclass(slots=True)
class _Free:
    """Slots that nobody has yet, by primary key. `of_pool`: (all slots, free ones)."""

    of_dag: dict[int, int]
    of_backfill: dict[int, int]
    of_pool: dict[int, tuple[int, int]] = field(default_factory=dict)

    def may_have(self, line: _Line) -> bool:
        """Whether another run of `line` may start as soon as its pool has the slots for it."""
        return (
            line.given < line.wanted
            and self.of_dag[line.dag.pk] > 0
            and (line.backfill_id is None or self.of_backfill[line.backfill_id] > 0)
            and (line.dag.pool_id is None or line.dag.pool_slots <= self.of_pool[line.dag.pool_id][0])
        )

    def most(self, line: _Line) -> int:
        """How many more runs of `line` may start at once."""
        most = min(line.wanted - line.given, self.of_dag[line.dag.pk])
        if line.backfill_id is not None:
            most = min(most, self.of_backfill[line.backfill_id])
        if line.dag.pool_id is not None:
            most = min(most, self.of_pool[line.dag.pool_id][1] // line.dag.pool_slots)
        return most

    def give(self, line: _Line, runs: int) -> None:
        line.given += runs
        self.of_dag[line.dag.pk] -= runs
        if line.backfill_id is not None:
            self.of_backfill[line.backfill_id] -= runs
        if line.dag.pool_id is not None:
            slots, free = self.of_pool[line.dag.pool_id]
            self.of_pool[line.dag.pool_id] = slots, free - runs * line.dag.pool_slots


def _deal(rivals: Sequence[_Line], free: _Free) -> int:
    """Give slots to `rivals` one by one, each to whoever comes first, until that one cannot have any.

    :returns: how many were given.
    """
    given = 0
    while hungry := [line for line in rivals if free.may_have(line)]:
        first = min(hungry, key=attrgetter("place"))
        most = free.most(first)
        if most <= 0:  # its pool is full: what gets free there is kept for it
            break
        runs = most if len(hungry) == 1 else 1
        free.give(first, runs)
        given += runs
    return given


def _per_queue(runs: QuerySet[DagRun]) -> Counter[Queue]:
    counted = runs.order_by().values_list("dag_id", "backfill_id").annotate(Count("pk"))
    return Counter({(dag_id, backfill_id): count for dag_id, backfill_id, count in counted})


@transaction.atomic
def _count_turns(queues: Sequence[Queue], which: Q, turns: Any) -> None:
    """Set `passed_over` of `queues`. A row that somebody else has locked keeps its count this time."""
    dags, targets = Q(pk__in=[]), Q(pk__in=[])
    for dag_id, backfill_id in queues:
        if backfill_id is None:
            dags |= Q(pk=dag_id)
        else:
            targets |= Q(dag_id=dag_id, backfill_id=backfill_id)
    for rows in (Dag.objects.filter(which, dags), BackfillTarget.objects.filter(which, targets)):
        free = rows.select_for_update(no_key=True, skip_locked=True).values_list("pk", flat=True)
        rows.filter(pk__in=list(free)).update(passed_over=turns)


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
