"""The states of all partitions of an asset, as an array in the order of its keys."""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from operator import sub
from typing import Any, TypeVar

from scheduling.algebra.subsets import Subset
from scheduling.board.labels import label_of, segments_of
from scheduling.board.orders import Order

PORTION = 4096
"""Looks that are counted at a time when one passes over many."""


class Look(IntEnum):
    """How a partition looks, better before worse: the worst of a column or cell is what shows."""

    MATERIALIZED = 0
    STALE = 1
    RUNNING = 2
    MISSING = 3
    HELD = 4
    FAILED = 5

    @property
    def word(self) -> str:
        return self.name.lower()

    @property
    def letter(self) -> str:
        """The class of its picture in style sheets."""
        return "msrnhf"[self]


KEPT = 40
"""Bars and grids that are kept of the same cells: different people look at different periods."""

T = TypeVar("T")

WORST_FIRST = tuple(reversed(Look))
OTHERS = tuple(look.value for look in Look)[1:]
NOTHING = (0,) * len(OTHERS)


@dataclass(frozen=True, slots=True)
class Tally:
    """How many partitions look how, in the order of `Look`."""

    counts: tuple[int, ...] = (0,) * len(Look)

    @classmethod
    def of(cls, looks: bytes) -> "Tally":
        found = looks.count(0)
        if found == len(looks):  # as most are
            return cls((found, *NOTHING))
        return cls((found, *map(looks.count, OTHERS)))

    @classmethod
    def sum(cls, tallies: "Iterable[Tally]") -> "Tally":
        return cls(tuple(map(sum, zip(*(tally.counts for tally in tallies), strict=True))) or cls().counts)

    def __getitem__(self, look: Look) -> int:
        return self.counts[look]

    @property
    def total(self) -> int:
        return sum(self.counts)

    @property
    def worst(self) -> Look:
        return WORST_FIRST[next(at for at, count in enumerate(reversed(self.counts)) if count)]

    @property
    def tint(self) -> int:
        """How much of it looks like its worst: 1 little, 2 about half, 3 nearly all."""
        share = self[self.worst] / sum(self.counts)
        return 1 if share < 0.34 else 2 if share < 0.8 else 3

    @property
    def filled(self) -> int:
        """How much of it has data that is not the worst: 0 nothing, 1 little, 2 about half, 3 nearly all."""
        worst = self.worst
        there = sum(self[look] for look in (Look.MATERIALIZED, Look.STALE) if look is not worst)
        share = there / sum(self.counts)
        return 0 if not there else 1 if share < 0.34 else 2 if share < 0.8 else 3

    @property
    def parts(self) -> list[tuple[Look, int]]:
        return [(look, self[look]) for look in Look if self[look]]

    @property
    def words(self) -> str:
        return ", ".join(f"{count:,} {look.word}" for look, count in self.parts) or "no partitions"


NOT_DEFINED, NOT_DUE = "not in the definition", "not due yet"
"""How a key is not in the definition: it never will be, or it will be when its time has come."""


@dataclass(frozen=True)
class Cells:
    """Keys in order and one look for each.

    `unexpected` are keys that the asset's definition does not have: they are no part of any tally here. Some
    of them are only `early`: it will have them when their time has come. Those in `apart`, with their looks,
    are too many to stand among the others.
    """

    places: Order
    looks: bytes
    unexpected: frozenset[str] = frozenset()
    apart: Mapping[str, Look] = field(default_factory=dict)
    early: frozenset[str] = frozenset()
    kept: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)
    """What was drawn of these cells before: they never change."""

    def keep(self, name: Hashable, make: Callable[[], T]) -> T:
        """What `make` returns, asked once for each name."""
        if name not in self.kept:
            if len(self.kept) >= KEPT:
                self.kept.clear()
            self.kept[name] = make()
        found: T = self.kept[name]
        return found

    @cached_property
    def tally(self) -> Tally:
        return self.tally_of(range(len(self.looks)))

    @property
    def unit(self) -> int:
        return self.places.unit

    @cached_property
    def unexpected_at(self) -> list[int]:
        """Where keys stand that the definition does not have, ascending."""
        return sorted(self.places.where(self.unexpected)) if self.unexpected and not self.apart else []

    @cached_property
    def undefined(self) -> frozenset[str]:
        """Keys that the definition does not have, nor ever will."""
        return self.unexpected - self.early

    def outside(self, key: str) -> str:
        """In which way `key` is not in the definition, in words; empty if it is."""
        if key not in self.unexpected:
            return ""
        return NOT_DUE if key in self.early else NOT_DEFINED

    def unexpected_in(self, zoom: str = "") -> list[str]:
        """Keys of one period that the definition does not have, or all of them."""
        if not zoom:
            return sorted(self.unexpected)
        if self.apart:
            return [key for key in sorted(self.unexpected) if _lies_in(key, zoom)]
        period = self.positions(zoom)
        return [self.places[at].key for at in self.unexpected_at if at in period]

    def unexpected_among(self, positions: Sequence[int]) -> list[int]:
        """Which of some positions are those of keys that the definition does not have."""
        if not self.unexpected_at:
            return []
        if not isinstance(positions, range):
            return sorted(set(positions).intersection(self.unexpected_at))
        first, last = (bisect_left(self.unexpected_at, end) for end in (positions.start, positions.stop))
        return [at for at in self.unexpected_at[first:last] if at in positions]

    def tally_of(self, positions: Sequence[int]) -> Tally:
        """How many of the keys at some positions look how, of those that are expected."""
        every, others = self._tally_of_all(positions), self.unexpected_among(positions)
        if not others:
            return every
        apart = Tally.of(bytes(self.looks[at] for at in others))
        return Tally(tuple(map(sub, every.counts, apart.counts)))

    def shown_of(self, positions: Sequence[int]) -> Tally:
        """The same; where nothing is expected, of those that are there."""
        expected = self.tally_of(positions)
        return expected if expected.total else self._tally_of_all(positions)

    def tally_in(self, subset: Subset) -> Tally:
        return Tally.of(b"".join(self.looks[start:stop] for start, stop in subset.ranges))

    def look(self, at: int) -> Look:
        return Look(self.looks[at])

    def find(self, look: Look, start: int, stop: int) -> int:
        """The first position of that look in a stretch; -1 if there is none."""
        return self.looks.find(look, start, stop)

    def positions(self, zoom: str = "") -> range:
        return self.places.positions(zoom)

    def strays(self) -> list[str]:
        """Keys that have no place in the calendar of the others."""
        return [place.key for place in self.places[: self.places.stray_count]]

    @cached_property
    def newest_at(self) -> int:
        """Where the last key stands that looks as if it had data; -1 if none does."""
        return max(self.looks.rfind(Look.MATERIALIZED), self.looks.rfind(Look.STALE))

    def newer(self, at: int) -> range:
        """The positions in time after those of the moment of a position; none after -1."""
        places = self.places
        if at < places.stray_count or not self.unit:
            return range(0)
        moment = places.positions(places[at].label)
        return range(moment.stop, len(places)) if moment else range(0)

    def some_of(self, look: Look, positions: range, *, first: int, size: int, backwards: bool) -> list[int]:
        """The positions of one look in `positions` from the `first` on, at most `size`."""
        begin, end = positions.start, positions.stop
        left = first
        while begin < end:
            portion = min(PORTION, end - begin)
            start = end - portion if backwards else begin
            here = self.looks.count(look, start, start + portion)
            if here > left:
                break
            left -= here
            begin, end = (begin, end - portion) if backwards else (begin + portion, end)
        found: list[int] = []
        while len(found) < left + size and begin < end:
            at = self.looks.rfind(look, begin, end) if backwards else self.looks.find(look, begin, end)
            if at < 0:
                break
            found.append(at)
            begin, end = (begin, at) if backwards else (at + 1, end)
        return found[left:]

    def _tally_of_all(self, positions: Sequence[int]) -> Tally:
        if isinstance(positions, range):
            return Tally.of(self.looks[positions.start : positions.stop : positions.step])
        return Tally.of(bytes(self.looks[at] for at in positions))


def _lies_in(key: str, zoom: str) -> bool:
    return any(label_of(each).startswith(zoom) for each in segments_of(key))
