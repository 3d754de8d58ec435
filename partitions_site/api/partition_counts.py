"""How many partitions of an asset are in which state: `?summary=true` of an asset's partitions."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from django.db.models import Count, QuerySet
from django.http import QueryDict
from django.utils import timezone
from rest_framework import serializers

from core.models import Asset, Partition
from partitions_site.api import partition_ranges
from scheduling import board
from scheduling.board import Cells, Look, Tally

WORDS = (
    "Counts per state instead of rows, with partitions that are expected and were never seen as `missing`; "
    "without that number where they are narrowed by what only partitions have that were seen: a pattern, "
    "dates or `is_stale`"
)

State = Partition.State
LACKING = (Look.MISSING, Look.HELD)
LOOKS = {
    State.MATERIALIZED: (Look.MATERIALIZED, Look.STALE),
    State.FAILED: (Look.FAILED,),
    State.RUNNING: (Look.RUNNING,),
    State.MISSING: LACKING,
}
OF_WHAT_WAS_SEEN = ("partition_key_pattern", "partition_date_", "updated_at_", "is_stale")


class CountsOut(serializers.Serializer[Any]):
    """How many partitions are in which state."""

    counts = serializers.DictField(child=serializers.IntegerField())
    total_entries = serializers.IntegerField()


def answered(asset: Asset, query: QueryDict) -> dict[str, Any] | None:
    """What a query asks for, without a look at any row; nothing if only rows can tell."""
    if any(name.startswith(OF_WHAT_WAS_SEEN) for name in query):
        return None
    read = board.read([asset], now=timezone.now())[asset.pk]
    if read.left_off:
        return None
    has = partition_ranges.narrowing(asset, query)
    looks = _accepted(read.cells, has) if has else _all(read.cells)
    asked = query.getlist("state") or State.values
    return _told({state: sum(looks[look] for look in LOOKS[State(state)]) for state in asked})


def of_rows(rows: "QuerySet[Partition]") -> dict[str, Any]:
    """The same of partitions that were seen, which says nothing of those that are missing."""
    counted = dict(rows.order_by().values_list("state").annotate(count=Count("*")))
    return _told({state: counted.get(state, 0) for state in State.values if state != State.MISSING})


def _told(counts: dict[str, int]) -> dict[str, Any]:
    return {"counts": counts, "total_entries": sum(counts.values())}


def _all(cells: Cells) -> Counter[Look]:
    """What is known of keys that are not in the definition counts as well; that they are missing does not."""
    found = Counter(dict(Tally.of(cells.looks).parts)) + Counter(cells.apart.values())
    return Counter({**found, **{look: cells.tally[look] for look in LACKING}})


def _accepted(cells: Cells, has: Callable[[str], bool]) -> Counter[Look]:
    """The same of keys that `has` accepts."""
    found = Counter(look for key, look in cells.apart.items() if look not in LACKING and has(key))
    for look, positions in board.spans(cells, has=has):
        strays = cells.unexpected_among(positions) if look in LACKING else ()
        found[look] += len(positions) - len(strays)
    return found
