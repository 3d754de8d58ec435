"""Which partitions are late: their held run waits for a key that should have come some time ago."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime

from core.models import Asset, HeldRun, Outlet
from scheduling.board.cells import Cells, Look

MOST_LATE = 1000
"""Held runs whose partitions are marked: those that became late last. The page of held runs has all."""

MOST_HELD = 5000
"""Held partitions of one asset among which late ones are looked for, the last ones in order."""

Late = tuple[int, ...]
"""Positions of late partitions, ascending."""


def late_keys(assets: Collection[Asset], *, now: datetime) -> Mapping[int, frozenset[str]]:
    """The keys of late partitions by asset. One query, and one more if anything is late."""
    rows = HeldRun.objects.late(now).order_by("-late_at", "-id").values_list("dag_id", "partition_key")
    keys: dict[int, set[str]] = defaultdict(set)
    for dag_id, key in rows[:MOST_LATE]:
        keys[dag_id].add(key)
    found: dict[int, set[str]] = defaultdict(set)
    written = Outlet.objects.filter(dag__in=keys, asset__in=assets) if keys else Outlet.objects.none()
    for dag_id, asset_id in written.values_list("dag_id", "asset_id"):
        found[asset_id] |= keys[dag_id]
    return {asset_id: frozenset(each) for asset_id, each in found.items()}


def late_among(cells: Cells, keys: Collection[str]) -> Late:
    """Where the late ones of `keys` stand among the cells. One that has data is stale rather than late."""
    if not keys:
        return ()
    every = range(len(cells.looks))
    held = cells.some_of(Look.HELD, every, first=0, size=MOST_HELD, backwards=True)
    places = cells.places.places_at(held)
    return tuple(sorted(at for at, place in zip(held, places, strict=True) if place.key in keys))
