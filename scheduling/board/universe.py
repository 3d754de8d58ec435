"""Which keys an asset is expected to have: by its definition, or by the timetable of its producer."""

import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from core.models import Asset, Dag, DynamicKey, Outlet
from scheduling import listening
from scheduling.algebra import specs
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.partitions import Partitions
from scheduling.algebra.timetables import CronTriggerTimetable

MOST_KEYS = 200_000
"""Keys of one asset that screens read; of more, the newest."""


@dataclass(frozen=True, slots=True)
class Universe:
    """Keys in the order of the definition. `name` is equal where they are; `left_off` counts older ones.

    `is_defined`: by the asset itself, so that any other key is none of it.
    """

    name: Hashable
    keys: tuple[str, ...]
    left_off: int = 0
    is_defined: bool = False


def of_assets(assets: Sequence[Asset], *, now: datetime) -> dict[int, Universe]:
    """The keys expected of each asset up to `now`; an asset of which nothing is expected is left out.

    Two queries. A definition that cannot be read expects nothing: the page of definitions says what is wrong.
    """
    known = _dynamic_keys(assets)
    undefined = [asset for asset in assets if not asset.partitions]
    outlets = Outlet.objects.filter(asset__in=undefined, dag__is_active=True, dag__is_partitioned=True)
    producers: dict[int, list[Dag]] = {}
    for outlet in outlets.select_related("dag").order_by("pk"):
        producers.setdefault(outlet.asset_id, []).append(outlet.dag)
    found: dict[int, Universe] = {}
    for asset in assets:
        try:
            universe = (
                _defined(asset, now, known)
                if asset.partitions
                else _produced(producers.get(asset.pk, ()), now)
            )
        except PartitionError:
            continue
        if universe:
            found[asset.pk] = universe
    return found


def _dynamic_keys(assets: Sequence[Asset]) -> Callable[[str], Sequence[str]]:
    """The keys of dynamic partitions by name, all in one query; in none where nobody asks for any."""
    by_name: dict[str, list[str]] = {}
    if any(_is_dynamic(json.dumps(asset.partitions)) for asset in assets):
        for name, key in DynamicKey.objects.there().values_list("name", "key"):
            by_name.setdefault(name, []).append(key)
    return lambda name: by_name.get(name, ())


def _is_dynamic(spec: str) -> bool:
    return '"DynamicPartitions"' in spec


def _defined(asset: Asset, now: datetime, known: Callable[[str], Sequence[str]]) -> Universe:
    spec = json.dumps(asset.partitions, sort_keys=True)
    definition = _definition(spec)
    if _is_dynamic(spec):
        definition = definition.bound(known)
        count = definition.count(now)
        keys = tuple(definition.keys(max(0, count - MOST_KEYS), count, now))
        return Universe((spec, keys), keys, max(0, count - MOST_KEYS), is_defined=True)
    count = definition.count(now)
    if (spec, count) not in _keys:
        if len(_keys) >= KEPT:
            _keys.clear()
        _keys[spec, count] = tuple(definition.keys(max(0, count - MOST_KEYS), count, now))
    return Universe((spec, count), _keys[spec, count], max(0, count - MOST_KEYS), is_defined=True)


KEPT = 64
_keys: dict[Hashable, tuple[str, ...]] = {}


@lru_cache(maxsize=256)
def _definition(spec: str) -> Partitions:
    definition: Partitions = specs.load(json.loads(spec), "partitions")
    return definition


def _produced(dags: Sequence[Dag], now: datetime) -> Universe | None:
    """The keys of the ticks of the one Dag that writes the asset; of two writers nobody knows."""
    ticking = [dag for dag in dags if dag.is_periodic]
    if len(ticking) != 1 or len(dags) != 1:
        return None
    [dag] = ticking
    ticked = _ticked(dag.edition, _begin(dag))
    keys = ticked.until(now if dag.end_date is None else min(now, dag.end_date), dag)
    return Universe((*dag.edition, len(keys)), keys) if keys else None


def _begin(dag: Dag) -> datetime:
    return dag.start_date - timedelta(microseconds=1) if dag.start_date else dag.created_at


class _Ticked:
    """The keys of a timetable so far: asked again, only the ticks since then are worked out."""

    def __init__(self, begin: datetime) -> None:
        self.seen_until = begin
        self.keys: dict[str, None] = {}
        self.answer: tuple[str, ...] = ()

    def until(self, now: datetime, dag: Dag) -> tuple[str, ...]:
        timetable = listening.timetable_of(dag)
        if isinstance(timetable, CronTriggerTimetable) and now > self.seen_until:
            for tick in timetable.ticks(self.seen_until, now):
                if tick.partition_key is not None:
                    self.keys[tick.partition_key] = None
            self.seen_until = now
        if len(self.answer) != len(self.keys):
            self.answer = tuple(self.keys)[-MOST_KEYS:]
        return self.answer


_ticked: Callable[[Hashable, datetime], _Ticked] = lru_cache(maxsize=256)(lambda name, begin: _Ticked(begin))
