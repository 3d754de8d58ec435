"""Pools: made by the definitions that name them, changed by people.

Definitions never change the slots of a pool that is there: those are for whoever operates the installation.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import datetime

from django.db import transaction

from core.models import Dag, DagRun, Pool
from scheduling import journal
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.phrases import some
from scheduling.authoring.terms import Terms, check_name
from scheduling.configuration.deeds import DEFINITIONS
from scheduling.configuration.problems import Problem
from scheduling.doorbell import Bell, ring
from scheduling.journal import Deed

MOST_SLOTS = 1_000_000
TOO_SMALL = "pool-too-small"


class InvalidPool(PartitionError):
    """A pool cannot have so many slots."""


class PoolTaken(PartitionError):
    """There is a pool of that name."""


class PoolInUse(PartitionError):
    """Dags name the pool, or runs have slots of it."""


@transaction.atomic
def make(name: str, slots: int, *, description: str = "", deed: Deed, at: datetime) -> Pool:
    """Make a pool.

    :raises InvalidDefinition: for a name that cannot be; InvalidPool for the number.
    :raises PoolTaken: if there is one of that name.
    """
    check_name("the name of a pool", name)
    pool, is_new = _found_or_made(name, _checked(slots), deed, at, description)
    if not is_new:
        raise PoolTaken(f"there is a pool {name!r} already: change its slots, or choose another name")
    return pool


@transaction.atomic
def change(
    pool: Pool, *, slots: int | None = None, description: str | None = None, deed: Deed, at: datetime
) -> None:
    """Give `pool` so many slots, or another description. Runs that have more slots by now keep them.

    :raises InvalidPool: for a number that cannot be.
    """
    dags = list(pool.dags.select_for_update(no_key=True, of=("self",)).order_by("pk"))
    row = Pool.objects.select_for_update(no_key=True).get(pk=pool.pk)
    was = {"slots": row.slots, "description": row.description}
    row.slots = row.slots if slots is None else _checked(slots)
    row.description = row.description if description is None else description
    now = {"slots": row.slots, "description": row.description}
    if now != was:
        row.updated_at = at
        row.save()
        journal.note("pool changed", deed=deed, at=at, pool=row.name, was=was, now=now)
        _note_problems(dags, row)
        ring(Bell.START)
    pool.refresh_from_db()


@transaction.atomic
def delete(pool: Pool, *, deed: Deed, at: datetime) -> None:
    """Take `pool` away.

    :raises PoolInUse: while a Dag names it, defined or not, or a run has slots of it.
    """
    row = Pool.objects.select_for_update(no_key=True).get(pk=pool.pk)
    users = list(row.dags.order_by("dag_id").values_list("dag_id", flat=True)[:3])
    if users:
        raise PoolInUse(f"pool {row.name} is named by {', '.join(users)}: it stays while they name it")
    if row.runs.filter(state=DagRun.State.RUNNING).exists():
        raise PoolInUse(f"runs have slots of pool {row.name}: delete it when they have ended")
    journal.note("pool deleted", deed=deed, at=at, pool=row.name, slots=row.slots)
    row.delete()


def for_definition(terms: Terms, *, at: datetime) -> Pool | None:
    """The pool that a definition names, made with as many slots as one run takes if it is not there."""
    if terms.pool is None:
        return None
    pool, _ = _found_or_made(terms.pool, terms.pool_slots, DEFINITIONS, at)
    return pool


def problems_of(terms: Terms, pool: Pool | None) -> Iterator[Problem]:
    """What keeps the runs of a Dag out of its pool for ever."""
    if pool and 0 < pool.slots < terms.pool_slots:
        yield _too_small(pool, terms.pool_slots)


def _found_or_made(
    name: str, slots: int, deed: Deed, at: datetime, description: str = ""
) -> tuple[Pool, bool]:
    fields = {"slots": slots, "description": description, "created_at": at, "updated_at": at}
    pool, is_new = Pool.objects.get_or_create(name=name, defaults=fields)
    if is_new:
        journal.note("pool made", deed=deed, at=at, pool=name, slots=slots)
    return pool, is_new


def _checked(slots: int) -> int:
    if type(slots) is not int or not 0 <= slots <= MOST_SLOTS:
        raise InvalidPool(f"a pool has 0 to {MOST_SLOTS} slots, not {slots!r}")
    return slots


def _note_problems(dags: Iterable[Dag], pool: Pool) -> None:
    changed = []
    for dag in dags:
        others = [each for each in dag.problems if each["code"] != TOO_SMALL]
        ours = [asdict(_too_small(pool, dag.pool_slots))] if 0 < pool.slots < dag.pool_slots else []
        if dag.problems != others + ours:
            dag.problems = others + ours
            changed.append(dag)
    Dag.objects.bulk_update(changed, ["problems"])


def _too_small(pool: Pool, needed: int) -> Problem:
    return Problem(
        TOO_SMALL,
        "error",
        f"each of its runs takes {some(needed, 'slot')} of pool {pool.name}, "
        f"which has {pool.slots}: none can start",
    )
