"""`dimension=name:value`: partitions whose composite key has that segment."""

import re
from collections.abc import Mapping, Sequence

from django.db.models import Q
from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter

from core.models import Asset
from partitions_site.api.errors import BadRequest, Invalid, problem
from partitions_site.api.fields import Text
from partitions_site.api.forms import read_value
from scheduling import listening
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.keys import join_segments, split_segments

DIMENSION = OpenApiParameter(
    "dimension", str, many=True, description="`name:value`: this segment of composite keys is that"
)


class Segments:
    """What the segments of a key are to be: `values` by the place of the segment."""

    def __init__(self, values: Mapping[int, str], count: int, delimiter: str) -> None:
        self._values, self._count, self._delimiter = values, count, delimiter

    def has(self, key: str) -> bool:
        if not self._values:
            return True
        segments = split_segments(key, self._delimiter)
        return len(segments) == self._count and all(
            segments[place] == value for place, value in self._values.items()
        )

    def narrowed(self) -> Q:
        """The same for rows with a `key`: a pattern, since no column has the segments."""
        if not self._values:
            return Q()
        any_segment = rf"(?:(?!{re.escape(self._delimiter)})[^\\]|\\.)*"
        parts = [
            re.escape(self._written(self._values[place])) if place in self._values else any_segment
            for place in range(self._count)
        ]
        return Q(key__regex=f"^{re.escape(self._delimiter).join(parts)}$")

    def _written(self, value: str) -> str:
        return join_segments((value, "x"), self._delimiter).removesuffix(f"{self._delimiter}x")


def asked_for(asset: Asset, query: QueryDict) -> Segments:
    """What the `dimension` parameters of a query say of the keys of `asset`.

    :raises Invalid: for one that is not `name:value`.
    :raises BadRequest: for a dimension that the asset does not have.
    """
    given = [read_value(Text(), each, ["query", "dimension"]) for each in query.getlist("dimension")]
    if not given:
        return Segments({}, 0, "|")
    definition = listening.partitions_of(asset)
    if not isinstance(definition, MultiPartitions):
        raise BadRequest(f"{asset} has no dimensions: its keys have one segment")
    names = list(definition.dimensions)
    values = dict(_place(each, names, asset) for each in given)
    return Segments(values, len(names), definition.delimiter)


def _place(given: str, names: Sequence[str], asset: Asset) -> tuple[int, str]:
    name, colon, value = given.partition(":")
    if not colon:
        words = "Input should be a dimension and a value, such as region:tw"
        raise Invalid([problem("string_pattern_mismatch", ["query", "dimension"], words, given)])
    if name not in names:
        raise BadRequest(f"{asset} has no dimension {name!r}; it has {', '.join(names)}")
    return names.index(name), value
