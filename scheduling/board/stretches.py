"""Neighbouring partitions that look alike, as one range: a year of days may be three lines."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from scheduling.algebra.subsets import Subset
from scheduling.board.cells import Cells, Look
from scheduling.board.defined import Defined

ALIKE = re.compile(rb"(.)\1*", re.DOTALL)

NO_LOOK = 255

Span = tuple[Look, Sequence[int]]
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
    ends = cells.places.places_at([at for _, span in found for at in (span[0], span[-1])])
    return [
        Stretch(first.key, last.key, look.word, len(span))
        for (look, span), first, last in zip(found, ends[::2], ends[1::2], strict=True)
    ]


def spans_in_lanes(
    cells: Cells,
    looks: Collection[Look] = tuple(Look),
    has: Callable[[str], bool] | None = None,
    *,
    among: Subset | None = None,
) -> list[Span]:
    """The same for each value of the dimensions that are not counted along, one after the other.

    Counted along is time, or the last dimension where there is none.
    """
    if cells.places.lane_count(cells.positions()) <= 1:
        return spans(cells, looks, has, among=among)
    wanted, shown = frozenset(looks), _shown(cells, has, among)
    found: list[Span] = []
    for lane in _lanes(cells):
        of_lane = (
            shown[lane.start :: lane.step] if isinstance(lane, range) else bytes(shown[at] for at in lane)
        )
        for same in ALIKE.finditer(of_lane):
            if (look := of_lane[same.start()]) in wanted:
                found.append((Look(look), lane[same.start() : same.end()]))
    return found


def in_lanes(cells: Cells, looks: Collection[Look], *, among: Subset | None = None) -> list[Stretch]:
    """The same with the keys at their ends."""
    return named(cells, spans_in_lanes(cells, looks, among=among))


def _lanes(cells: Cells) -> Iterable[Sequence[int]]:
    """Positions that differ in what is counted along only; of a definition they are not listed."""
    places = cells.places
    if isinstance(places, Defined):
        return [range(lane, len(places), places.stride) for lane in range(places.stride)]
    lanes: dict[tuple[str, ...], list[int]] = {}
    for at, place in enumerate(places):
        lanes.setdefault(place.others if cells.unit else place.others[:-1], []).append(at)
    return lanes.values()


def _shown(cells: Cells, has: Callable[[str], bool] | None, among: Subset | None) -> bytes:
    """The looks of all cells; `NO_LOOK` for those that are left out."""
    if has is not None:
        return bytes(
            look if has(place.key) else NO_LOOK for look, place in zip(cells.looks, cells.places, strict=True)
        )
    if among is None:
        return cells.looks
    shown = bytearray([NO_LOOK]) * len(cells.looks)
    for start, stop in among.ranges:
        shown[start:stop] = cells.looks[start:stop]
    return bytes(shown)


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
