"""Partitions as ranges of neighbours that look alike: `?ranges=true` of an asset's partitions."""

from collections.abc import Callable
from typing import Any

from django.http import QueryDict
from django.utils import timezone
from rest_framework import serializers

from core.models import Asset
from partitions_site.api import dimensions
from partitions_site.api.errors import Unprocessable
from partitions_site.api.fields import Text
from partitions_site.api.forms import read_value
from partitions_site.api.pages import LIMIT, MOST_ROWS, number
from scheduling import board
from scheduling.board import Look

STATES = {look.word: look for look in Look}


class RangeOut(serializers.Serializer[Any]):
    first_key = serializers.CharField()
    last_key = serializers.CharField(help_text="Included")
    state = serializers.CharField(help_text="materialized, stale, running, missing, held or failed")
    count = serializers.IntegerField(help_text="Partitions in it")


class RangesOut(serializers.Serializer[Any]):
    """Partitions in the order of the asset's definition, neighbours of one state as one range.

    Of keys with several dimensions each range is along time, or along the last dimension where there is none;
    in all others its keys are alike.
    """

    ranges = RangeOut(many=True)
    total_entries = serializers.IntegerField(help_text="Ranges, not partitions")
    partition_count = serializers.IntegerField()


def answered(asset: Asset, query: QueryDict) -> dict[str, Any]:
    """The ranges that a query asks for, cut to its page.

    :raises Unprocessable: for a state that no partition has.
    """
    has = narrowing(asset, query)
    cells = board.read([asset], now=timezone.now())[asset.pk].cells
    found = board.spans_in_lanes(cells, _looks(query), has)
    offset, limit = number(query, "offset", 0), min(number(query, "limit", LIMIT), MOST_ROWS)
    page = {
        "ranges": board.named(cells, found[offset : offset + limit]),
        "total_entries": len(found),
        "partition_count": sum(len(positions) for _, positions in found),
    }
    return RangesOut(page).data


def narrowing(asset: Asset, query: QueryDict) -> Callable[[str], bool] | None:
    """Whether a key is one of those that a query asks for; nothing if it asks for all."""
    segments = dimensions.asked_for(asset, query)
    keys, prefix = _texts(query, "partition_key"), "".join(_texts(query, "partition_key_prefix_pattern")[:1])

    def has(key: str) -> bool:
        return (not keys or key in keys) and key.startswith(prefix) and segments.has(key)

    return has if keys or prefix or query.getlist("dimension") else None


def _looks(query: QueryDict) -> list[Look]:
    asked = query.getlist("state") or list(STATES)
    unknown = [each for each in asked if each not in STATES]
    if unknown:
        raise Unprocessable(f"Invalid value for state. Valid values are {', '.join(STATES)}")
    return [STATES[each] for each in asked]


def _texts(query: QueryDict, name: str) -> list[str]:
    return [read_value(Text(), each, ["query", name]) for each in query.getlist(name)]
