"""Held runs are opened: for each Dag and key the open one is locked, or its next round begins."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from core import bulk
from core.making import Maker
from core.models import Dag, HeldRun
from scheduling import filling, listening, rounds
from scheduling.algebra.errors import PartitionError
from scheduling.listening import BrokenDefinition, DagListening
from scheduling.rounds import Name


def lock_or_open(names: Collection[Name], dags: dict[int, Dag], now: datetime) -> dict[Name, HeldRun]:
    """The open held run of each name, locked. Rows are opened and locked in the order of their names.

    Nobody else fires one of them until the transaction ends. What has fired before is there to be seen.
    """
    found: dict[Name, HeldRun] = {}
    while missing := sorted(set(names) - found.keys()):
        found |= rounds.lock(missing)
        absent = [name for name in missing if name not in found]
        if not absent:
            break
        opened = next_rounds(absent, dags, now)
        insert(opened)
        # Not there even now: another worker opened it and it fired in between. Once more.
        found |= rounds.lock(absent)
    return found


def fill_opened(rows: Collection[HeldRun], dags: dict[int, Dag], now: datetime) -> None:
    """Count what is there for those of `rows` that this transaction has opened."""
    opened = [row for row in rows if row.filled_at is None]
    filling.fill(opened, dags, even_if_one_is_enough=True).write()
    HeldRun.objects.filter(pk__in=[row.pk for row in opened]).update(filled_at=now)


def drop_opened(rows: Collection[HeldRun]) -> None:
    """Those of `rows` that this transaction has opened are not needed after all."""
    if opened := [row.pk for row in rows if row.filled_at is None]:
        HeldRun.objects.filter(pk__in=opened).delete()


def next_rounds(names: Sequence[Name], dags: dict[int, Dag], now: datetime) -> list[HeldRun]:
    """A held run for each of `names`, not saved, with the primary key that it will have."""
    if not names:
        return []
    last = rounds.last(names)
    heard = listening.of_dags(dags[dag_id] for dag_id in {dag_id for dag_id, _ in names})
    return [
        _MADE(
            id=pk,
            dag_id=dag_id,
            partition_key=key,
            partition_date=_date(heard[dag_id], key),
            round=last.get((dag_id, key), 0) + 1,
            opened_at=now,
            last_event_at=now,
        )
        for pk, (dag_id, key) in zip(bulk.take_ids(HeldRun, len(names)), names, strict=True)
    ]


def insert(opened: Sequence[HeldRun]) -> int:
    """Save what `next_rounds` has made. Returns how many; somebody else has opened the others meanwhile."""
    return bulk.insert(HeldRun, _COLUMNS, values_of(opened, _COLUMNS), bulk.Ignore())


def values_of(rows: Iterable[HeldRun], names: Sequence[str]) -> list[tuple[Any, ...]]:
    """The columns `names` of each row, as `bulk` takes them."""
    values = attrgetter(*names)
    return [values(row) for row in rows]


_MADE = Maker(HeldRun)
_COLUMNS = [each.attname for each in HeldRun._meta.concrete_fields if not each.generated]


def _date(heard: DagListening | BrokenDefinition, key: str) -> datetime | None:
    """The one instant that the mappers agree on; None if they have none or several."""
    if isinstance(heard, BrokenDefinition):
        return None
    dates = set()
    for mapper in heard.listening.mappers.values():
        try:
            dates.add(mapper.partition_date(key))
        except PartitionError:
            continue
    dates.discard(None)
    return dates.pop() if len(dates) == 1 else None
