"""Slots of pools, which many Dags share: how many runs have taken, and whether one more fits."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db.models import Count, QuerySet, Sum

from core.models import Dag, DagRun, Pool

State = DagRun.State


@dataclass(frozen=True, slots=True)
class Use:
    """How many slots of a pool are taken; how many runs wait in it, for whatever reason, and for how many."""

    taken: int
    waiting: int
    wanted: int


def use_of(pools: Iterable[Pool]) -> dict[int, Use]:
    """The use of each of `pools`, by primary key. Two queries."""
    pks = {pool.pk for pool in pools}
    taken = _taken_of(pks)
    rows = DagRun.objects.filter(state=State.QUEUED, dag__pool__in=pks).order_by().values_list("dag__pool")
    waiting = {pk: (count, total) for pk, count, total in rows.annotate(Count("pk"), Sum("dag__pool_slots"))}
    return {pk: Use(taken[pk], *waiting.get(pk, (0, 0))) for pk in pks}


def has_room(dag: Dag) -> bool:
    """Whether the pool of `dag`, if it has one, has slots for one more of its runs. Locks the pool."""
    if dag.pool_id is None:
        return True
    pool = Pool.objects.select_for_update(no_key=True).get(pk=dag.pool_id)
    return _taken_of({pool.pk})[pool.pk] + dag.pool_slots <= pool.slots


def slots_of(pks: Collection[int], active: QuerySet[DagRun]) -> dict[int, tuple[int, int]]:
    """All slots of each pool, and those that active runs leave free."""
    if not pks:
        return {}
    coming = active.filter(state=State.QUEUED, dag__pool__in=pks).order_by().values_list("dag__pool")
    used = _taken_of(pks) + Counter(dict(coming.annotate(Sum("dag__pool_slots"))))
    slots = Pool.objects.filter(pk__in=pks).values_list("pk", "slots")
    return {pk: (count, count - used[pk]) for pk, count in slots}


def _taken_of(pks: Collection[int]) -> Counter[int]:
    """How many slots of each pool runs have now."""
    running = DagRun.objects.filter(state=State.RUNNING, pool__in=pks).order_by().values_list("pool")
    return Counter(dict(running.annotate(Sum("pool_slots"))))
