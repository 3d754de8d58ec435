"""How keys look now by the rows of partitions and held runs: of those not drawn yet, or of all."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_

from django.db.models import Q, QuerySet

from core.models import HeldRun, Partition
from scheduling.board.cells import Look

PORTION = 5000
"""Keys in one statement: SQLite takes 32,766 values, and not more."""

Facts = dict[str, Look | None]
"""How keys look now; none for those of which there is nothing to say."""


def undrawn(asset_ids: set[int]) -> dict[int, Facts]:
    """What drawings do not show yet."""
    patches: dict[int, Facts] = defaultdict(dict)
    if not asset_ids:
        return patches
    rows = Partition.objects.filter(asset__in=asset_ids, is_undrawn=True)
    for asset_id, key, look in _looks(rows):
        patches[asset_id][key] = look
    held = HeldRun.objects.filter(dag__outlets__asset__in=asset_ids, is_undrawn=True)
    several: dict[int, set[str]] = defaultdict(set)
    for asset_id, key in set(held.values_list("dag__outlets__asset", "partition_key")):
        if asset_id in asset_ids and key:
            several[asset_id].add(key)
    _add_touched(patches, several)
    _hold(patches)
    return patches


def everything(asset_ids: set[int]) -> dict[int, Facts]:
    """How all keys look, in the order of their dates."""
    found: dict[int, Facts] = {asset_id: {} for asset_id in asset_ids}
    rows = Partition.objects.filter(asset__in=asset_ids)
    for asset_id, key, look in _looks(rows.order_by("asset_id", "partition_date", "key")):
        found[asset_id][key] = look
    held = HeldRun.objects.held().filter(dag__outlets__asset__in=asset_ids).exclude(partition_key="")
    pairs = held.order_by("pk").values_list("dag__outlets__asset", "partition_key")
    for asset_id, key in pairs:
        if asset_id in found and found[asset_id].get(key) in (None, Look.MISSING):
            found[asset_id][key] = Look.HELD
    return found


def _add_touched(patches: dict[int, Facts], touched: Mapping[int, set[str]]) -> None:
    """The looks of keys whose held runs have changed."""
    left = {asset_id: keys - patches[asset_id].keys() for asset_id, keys in touched.items()}
    for asset_id, keys in left.items():
        patches[asset_id] |= dict.fromkeys(keys)
    for some in _portions(left):
        wanted = _any_of(Q(asset_id=asset_id, key__in=keys) for asset_id, keys in some.items())
        for asset_id, key, look in _looks(Partition.objects.filter(wanted)):
            patches[asset_id][key] = look


def _hold(patches: dict[int, Facts]) -> None:
    """Missing keys for which a run is held look held."""
    missing = {
        asset_id: [key for key, look in facts.items() if look in (None, Look.MISSING)]
        for asset_id, facts in patches.items()
    }
    for some in _portions(missing):
        parts = (Q(dag__outlets__asset=pk, partition_key__in=keys) for pk, keys in some.items())
        rows = HeldRun.objects.held().filter(_any_of(parts))
        for asset_id, key in rows.values_list("dag__outlets__asset", "partition_key"):
            if asset_id in patches and patches[asset_id].get(key, Look.FAILED) in (None, Look.MISSING):
                patches[asset_id][key] = Look.HELD


def _portions(wanted: Mapping[int, Collection[str]]) -> Iterator[Mapping[int, Sequence[str]]]:
    """The same keys by asset, `PORTION` at a time, whatever asset they are of."""
    pairs = [(asset_id, key) for asset_id, keys in wanted.items() for key in keys]
    for start in range(0, len(pairs), PORTION):
        some: dict[int, list[str]] = defaultdict(list)
        for asset_id, key in pairs[start : start + PORTION]:
            some[asset_id].append(key)
        yield some


def _any_of(parts: Iterable[Q]) -> Q:
    return reduce(or_, parts)


def _looks(rows: QuerySet[Partition]) -> list[tuple[int, str, Look]]:
    found = rows.values_list("asset_id", "key", "state", "is_stale")
    return [(asset_id, key, LOOKS[state, is_stale]) for asset_id, key, state, is_stale in found]


LOOKS = {
    (state, is_stale): Look.STALE if is_stale and state == "materialized" else Look[state.upper()]
    for state in Partition.State.values
    for is_stale in (False, True)
}
