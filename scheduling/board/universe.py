"""Which keys an asset is expected to have: by its definition, or by the timetable of its producer."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import blake2b

from core.models import Asset, Dag, DynamicKey, Outlet
from scheduling import dynamic, listening
from scheduling.algebra import specs
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.partitions import Partitions
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.algebra.time_shorthands import partitions_of
from scheduling.algebra.timetables import CronPartitionTimetable

MOST_KEYS = 200_000
"""Keys of one asset that are ever listed; of more, the newest."""

INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Universe:
    """The first `count` keys of `definition`; without one nothing is expected.

    `name` is equal where the numbers of keys and the Dags that write the asset (`writers`) are: time adds
    keys and leaves it as it is. `is_defined`: by the asset itself, so that any other key is none of it.
    """

    name: str
    definition: Partitions | None = None
    count: int = 0
    now: datetime | None = None
    is_defined: bool = False
    writers: frozenset[int] = field(default_factory=frozenset)

    @property
    def keys(self) -> tuple[str, ...]:
        """The newest `MOST_KEYS` of them."""
        if self.definition is None:
            return ()
        now = None if isinstance(self.definition, TimePartitions) else self.now
        return _listed(self.definition, self.count, now)


def of_assets(assets: Sequence[Asset], *, now: datetime) -> dict[int, Universe]:
    """What is expected of each asset up to `now`.

    Two queries. A definition that cannot be read expects nothing: the page of definitions says what is wrong.
    """
    known = _dynamic_keys(assets)
    outlets = Outlet.objects.filter(asset__in=assets).select_related("dag").order_by("pk")
    writers: dict[int, list[Dag]] = {asset.pk: [] for asset in assets}
    for outlet in outlets:
        writers[outlet.asset_id].append(outlet.dag)
    return {asset.pk: _of_asset(asset, writers[asset.pk], known, now) for asset in assets}


def _of_asset(
    asset: Asset, writers: Sequence[Dag], known: Callable[[str], Sequence[str]], now: datetime
) -> Universe:
    pks = frozenset(dag.pk for dag in writers)
    try:
        definition = _defined(asset, known) if asset.partitions else None
        count = definition.count(now) if definition else 0
        if not asset.partitions:
            definition, count = _produced(writers, now)
        name = _name(definition, pks, now)
    except PartitionError:
        return Universe(_name(None, pks, now), writers=pks)
    return Universe(name, definition, count, now, bool(asset.partitions), pks)


def _dynamic_keys(assets: Sequence[Asset]) -> Callable[[str], Sequence[str]]:
    """The keys of dynamic partitions by name, all in one query; in none where nobody asks for any."""
    by_name: dict[str, list[str]] = {}
    if any(dynamic.names_of(asset) for asset in assets):
        for name, key in DynamicKey.objects.there().values_list("name", "key"):
            by_name.setdefault(name, []).append(key)
    return lambda name: by_name.get(name, ())


def _defined(asset: Asset, known: Callable[[str], Sequence[str]]) -> Partitions:
    definition = dynamic.definition_of(asset.partitions)
    return definition.bound(known) if dynamic.names_of(asset) else definition


@lru_cache(maxsize=64)
def _listed(definition: Partitions, count: int, now: datetime | None) -> tuple[str, ...]:
    return tuple(definition.keys(max(0, count - MOST_KEYS), count, now))


def _produced(writers: Sequence[Dag], now: datetime) -> tuple[Partitions | None, int]:
    """The keys of the ticks so far of the one Dag that writes the asset; of two writers nobody knows."""
    dags = [dag for dag in dict.fromkeys(writers) if dag.is_active and dag.is_partitioned]
    timetable = listening.timetable_of(dags[0]) if len(dags) == 1 and dags[0].is_periodic else None
    if not isinstance(timetable, CronPartitionTimetable):
        return None, 0
    [dag] = dags
    first = timetable.next_tick(dag.start_date - INSTANT if dag.start_date else dag.created_at)
    last = timetable.previous_tick((now if dag.end_date is None else min(now, dag.end_date)) + INSTANT)
    if first is None or last is None or last.at < first.at:
        return None, 0
    if first.partition_date is None or last.partition_date is None:
        return None, 0
    definition = _made(timetable, first.partition_date)
    return definition, definition.number_at(last.partition_date + INSTANT)


_made = lru_cache(maxsize=256)(partitions_of)


def _name(definition: Partitions | None, writers: Iterable[int], now: datetime) -> str:
    parts = [sorted(writers), _spelled(definition) if definition else "", _sizes(definition, now)]
    return blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


@lru_cache(maxsize=512)
def _spelled(definition: Partitions) -> str:
    """The spec, and the keys that dynamic partitions have by now, which are no part of it."""
    parts = definition.dimensions.values() or [definition]
    known = [list(getattr(part, "known", None) or ()) for part in parts]
    return json.dumps([specs.dump(definition), known])


def _sizes(definition: Partitions | None, now: datetime) -> list[int]:
    """How many keys the faster dimensions have: where these grow, numbers do not stay as they are."""
    if not isinstance(definition, MultiPartitions):
        return []
    return [definition.by_name[place][1].count(now) for place in definition.by_speed()[1:]]
