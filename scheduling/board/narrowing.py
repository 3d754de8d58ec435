"""One slice of an asset with several dimensions: the partitions that have one value in some of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product

from core.models import Asset
from scheduling import dynamic, listening
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.partitions import Partitions, StaticPartitions
from scheduling.algebra.selections import quoted
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.board.cells import Cells
from scheduling.board.defined import Defined
from scheduling.board.labels import segments_of
from scheduling.board.orders import Listed

MOST_OFFERED = 200
"""Values of a dimension that are offered to be chosen; of more, one is typed."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One segment of the keys, at its place in them.

    `asked`: what somebody wants it narrowed to; `value`, if there is such a key. Time is narrowed by zooming.
    """

    place: int
    name: str
    is_time: bool
    offered: Sequence[str] = ()
    asked: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class Slice:
    """Cells of the partitions that have the chosen values, and where each stands among all."""

    cells: Cells
    whole: Callable[[int], int]


def dimensions_of(asset: Asset, asked: Mapping[str, str], *, now: datetime) -> list[Dimension]:
    """The dimensions, with the value that is `asked` of each by its name, if it has that one."""
    try:
        definition = listening.partitions_of(asset)
        bound = dynamic.bound(definition) if isinstance(definition, MultiPartitions) else None
    except PartitionError:
        return []
    pairs = bound.by_name if isinstance(bound, MultiPartitions) else ()
    return [_dimension(place, *pair, asked.get(pair[0], ""), now) for place, pair in enumerate(pairs)]


def within(cells: Cells, dimensions: Sequence[Dimension]) -> Slice:
    """The cells of one slice; all, where no value is asked for. Kept as long as the cells are."""
    picked = {each.place: each.value for each in dimensions if each.value}
    if not picked:
        return Slice(cells, lambda at: at)
    return cells.keep(("slice", *sorted(picked.items())), lambda: _cut(cells, picked))


def spelled_within(dimensions: Sequence[Dimension], zoom: str) -> str:
    """The selection of a whole slice, in one period or in all."""
    stretch = f"[{zoom}...{zoom}]" if zoom else "*"
    return "|".join(
        stretch if each.is_time else quoted(each.value, "|") if each.value else "*" for each in dimensions
    )


def _dimension(place: int, name: str, definition: Partitions, asked: str, now: datetime) -> Dimension:
    if isinstance(definition, TimePartitions):
        return Dimension(place, name, is_time=True)
    offered = definition.keys(now=now) if definition.count(now) <= MOST_OFFERED else ()
    value = asked if asked and definition.contains(asked, now) else ""
    return Dimension(place, name, False, offered, asked, value)


def _cut(cells: Cells, picked: Mapping[int, str]) -> Slice:
    if isinstance(cells.places, Defined) and isinstance(cells.places.definition, MultiPartitions):
        return _of_defined(cells, cells.places, cells.places.definition, picked)
    order = list(cells.places)
    chosen = [at for at, place in enumerate(order) if _has(segments_of(place.key), picked)]
    looks = bytes([cells.looks[at] for at in chosen])
    unexpected = cells.unexpected.intersection(order[at].key for at in chosen)
    cut = Cells(Listed([order[at] for at in chosen]), looks, unexpected, early=unexpected & cells.early)
    return Slice(cut, chosen.__getitem__)


def _has(segments: Sequence[str], picked: Mapping[int, str]) -> bool:
    return all(place < len(segments) and segments[place] == value for place, value in picked.items())


def _of_defined(
    cells: Cells, order: Defined, definition: MultiPartitions, picked: Mapping[int, str]
) -> Slice:
    lanes, stride = _lanes(order, definition, picked), order.stride
    wide, moments = len(lanes), order.moments
    looks = bytearray(wide * moments)
    for at, lane in enumerate(lanes):
        looks[at::wide] = cells.looks[lane : moments * stride : stride]
    parts = tuple(
        (name, StaticPartitions((picked[place],)) if place in picked else each)
        for place, (name, each) in enumerate(definition.by_name)
    )
    narrow = MultiPartitions(parts, delimiter=definition.delimiter)
    made = Defined(narrow, order.axis, wide * moments, order.now)
    apart = {key: look for key, look in cells.apart.items() if _has(segments_of(key), picked)}
    narrowed = Cells(made, bytes(looks), frozenset(apart), apart, cells.early.intersection(apart))
    return Slice(narrowed, lambda at: at // wide * stride + lanes[at % wide])


def _lanes(order: Defined, definition: MultiPartitions, picked: Mapping[int, str]) -> list[int]:
    """The numbers of the chosen lanes, in their order."""
    places, sizes = order.speed[1:], order.sizes
    chosen = [
        [definition.by_name[place][1].index(picked[place], order.now)] if place in picked else range(size)
        for place, size in zip(places, sizes, strict=True)
    ]
    lanes = []
    for numbers in product(*chosen):
        lane = 0
        for number, size in zip(numbers, sizes, strict=True):
            lane = lane * size + number
        lanes.append(lane)
    return lanes
