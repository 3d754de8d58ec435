"""Which partition of an asset is the newest that has data, and what is newer than it.

A look does not always tell: a partition whose latest attempt has failed, or is under way, may have data from
before. Of those that stand after the last one that surely has some, it is asked.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from core.models import Partition
from scheduling.board.cells import Cells, Look
from scheduling.board.choice import spelled_stretch

MOST_ASKED = 500
"""Partitions of which it is asked whether they have data: of each asset its share, the newest, one at least.

And assets that are asked about at once.
"""

UNTOLD = (Look.RUNNING, Look.FAILED)
"""The looks that do not tell whether there is data."""


@dataclass(frozen=True, slots=True)
class Newest:
    """The key of the newest partition with data, and when that came; an empty key if none is found.

    `behind`: how many moments there are after its own; `newer` selects them. `looked_at`: among how many of
    the newest none has data, where there are more of which nobody knows; else 0.
    """

    key: str = ""
    data_at: datetime | None = None
    behind: int = 0
    newer: str = ""
    looked_at: int = 0


def newest_of(assets: Mapping[int, Cells]) -> dict[int, Newest]:
    """The newest partition with data of each asset, by the asset. One query for `MOST_ASKED` of them.

    Another where in some, of many, more have failed than their share: they have all of it then.
    """
    found = _asked(assets)
    unsure = {pk: assets[pk] for pk, each in found.items() if each.looked_at}
    return {**found, **_asked(unsure)} if 0 < len(unsure) < len(assets) else found


def _asked(assets: Mapping[int, Cells]) -> dict[int, Newest]:
    share = max(1, MOST_ASKED // max(1, len(assets)))
    asked = {pk: _places(cells, share) for pk, cells in assets.items()}
    came = _data_at({pk: places.values() for pk, (places, _) in asked.items()})
    return {pk: _newest(cells, *asked[pk], came.get(pk, {})) for pk, cells in assets.items()}


def _places(cells: Cells, most: int) -> tuple[dict[int, str], bool]:
    """The keys that may be the newest with data, by where they stand, the last first; are there any more?"""
    known = cells.newest_at
    after, size = range(known + 1, len(cells.looks)), most + 1
    untold = [at for look in UNTOLD for at in cells.some_of(look, after, first=0, size=size, backwards=True)]
    are_cut = len(untold) > most
    found = sorted([*untold, *([known] if known >= 0 else [])], reverse=True)
    found = found[:most] if are_cut else found
    return dict(zip(found, (place.key for place in cells.places.places_at(found)), strict=True)), are_cut


def _data_at(keys: Mapping[int, Collection[str]]) -> dict[int, dict[str, datetime | None]]:
    """When the data of those of `keys` came that have some."""
    found: dict[int, dict[str, datetime | None]] = {}
    every = list(keys.items())
    for start in range(0, len(every), MOST_ASKED):
        wanted = Q(pk__in=[])
        for asset_id, some in every[start : start + MOST_ASKED]:
            wanted |= Q(asset_id=asset_id, key__in=list(some))
        rows = Partition.objects.filter(wanted, data_at__isnull=False)
        for asset_id, key, at in rows.values_list("asset_id", "key", "data_at"):
            found.setdefault(asset_id, {})[key] = at
    return found


def _newest(
    cells: Cells, asked: Mapping[int, str], are_cut: bool, came: Mapping[str, datetime | None]
) -> Newest:
    at = next((at for at, key in asked.items() if key in came), -1)
    if at < 0:  # where there are more, any of them may have data
        return Newest(looked_at=len(asked) if are_cut else 0)
    behind, newer = cells.keep(("newer", at), lambda: _newer(cells, at))
    return Newest(asked[at], came[asked[at]], behind, newer)


def _newer(cells: Cells, at: int) -> tuple[int, str]:
    """How many moments are newer than that of a position, and the selection of them."""
    newer = cells.newer(at)
    return (cells.places.moments_in(newer), spelled_stretch(cells, newer)) if newer else (0, "")
