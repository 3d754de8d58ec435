"""Neighbouring partitions that look alike, as one range: a year of days may be three lines."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from scheduling.algebra.subsets import Subset
from scheduling.board.cells import Cells, Look

ALIKE = re.compile(rb"(.)\1*", re.DOTALL)

Span = tuple[Look, range]
"""Neighbouring positions of one look."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """`count` partitions in a row, in the order of the definition, both ends included."""

    first_key: str
    last_key: str
    state: str
    count: int


def spans(
    cells: Cells,
    looks: Collection[Look] = tuple(Look),
    has: Callable[[str], bool] | None = None,
    *,
    among: Subset | None = None,
) -> list[Span]:
    """Positions that look like one of `looks`, whose key `has` accepts; neighbours of one look together.

    A partition that is left out ends the span before it. Without `has` no key is looked at.

    :param among: positions that others are left out of.
    """
    wanted = frozenset(looks)
    found = _alike(cells.looks, among) if has is None else _accepted(cells, has)
    return [(look, positions) for look, positions in found if look in wanted]


def named(cells: Cells, found: Sequence[Span]) -> list[Stretch]:
    """Spans with the keys at their ends."""
    ends = cells.places.places_at([at for _, span in found for at in (span.start, span.stop - 1)])
    return [
        Stretch(first.key, last.key, look.word, len(span))
        for (look, span), first, last in zip(found, ends[::2], ends[1::2], strict=True)
    ]


def in_lanes(cells: Cells, looks: Collection[Look], *, among: Subset | None = None) -> list[Stretch]:
    """The same with the keys at their ends, for each value of the dimensions that are not counted along.

    Counted along is time, or the last dimension where there is none.
    """
    if cells.places.lane_count(cells.positions()) <= 1:
        return named(cells, spans(cells, looks, among=among))
    lanes: dict[tuple[str, ...], list[tuple[str, Look | None]]] = {}
    for at, place in enumerate(cells.places):
        look = cells.look(at)
        is_wanted = look in looks and (among is None or at in among)
        lane = place.others if cells.unit else place.others[:-1]
        lanes.setdefault(lane, []).append((place.key, look if is_wanted else None))
    return [
        Stretch(same[0][0], same[-1][0], look.word, len(same))
        for lane in lanes.values()
        for look, group in groupby(lane, key=itemgetter(1))
        if look is not None and (same := list(group))
    ]


def _alike(looks: bytes, among: Subset | None) -> Iterator[Span]:
    for start, stop in ((0, len(looks)),) if among is None else among.ranges:
        for found in ALIKE.finditer(looks, start, stop):
            yield Look(looks[found.start()]), range(found.start(), found.end())


def _accepted(cells: Cells, has: Callable[[str], bool]) -> Iterator[Span]:
    looks = [cells.look(at) if has(place.key) else None for at, place in enumerate(cells.places)]
    for look, group in groupby(range(len(looks)), looks.__getitem__):
        positions = list(group)
        if look is not None:
            yield look, range(positions[0], positions[-1] + 1)
