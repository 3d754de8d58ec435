"""Sets of keys by their numbers, as ranges: what they cost depends on how many ranges there are, not keys."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from operator import itemgetter

from scheduling.algebra.partitions import Partitions

Range = tuple[int, int]
"""From the first number up to but not including the second."""


@dataclass(frozen=True, slots=True)
class Subset:
    """Numbers from 0, as ascending ranges that neither overlap nor touch. `of` and `span` make one."""

    ranges: tuple[Range, ...] = ()

    @classmethod
    def of(cls, numbers: Iterable[int]) -> Subset:
        """The set of those numbers."""
        return _joined((number, number + 1) for number in sorted(set(numbers)))

    @classmethod
    def span(cls, start: int, stop: int) -> Subset:
        """The numbers from `start` up to but not including `stop`."""
        return cls(((start, stop),)) if start < stop else cls()

    @classmethod
    def union(cls, subsets: Iterable[Subset]) -> Subset:
        """Everything that is in one of them, in one pass."""
        return _joined(sorted(chain.from_iterable(subset.ranges for subset in subsets)))

    @property
    def count(self) -> int:
        return sum(stop - start for start, stop in self.ranges)

    def __len__(self) -> int:
        return self.count

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(range(start, stop) for start, stop in self.ranges)

    def __contains__(self, number: int) -> bool:
        place = bisect_right(self.ranges, number, key=itemgetter(0)) - 1
        return place >= 0 and number < self.ranges[place][1]

    def __or__(self, other: Subset) -> Subset:
        return _swept(self, other, lambda mine, theirs: mine or theirs)

    def __and__(self, other: Subset) -> Subset:
        return _swept(self, other, lambda mine, theirs: mine and theirs)

    def __sub__(self, other: Subset) -> Subset:
        return _swept(self, other, lambda mine, theirs: mine and not theirs)

    def __xor__(self, other: Subset) -> Subset:
        return _swept(self, other, lambda mine, theirs: mine is not theirs)

    def __le__(self, other: Subset) -> bool:
        return not self - other

    def slice(self, start: int, stop: int) -> Subset:
        """Its members from the `start`-th up to but not including the `stop`-th."""
        kept = []
        passed = 0
        for first, last in self.ranges:
            begin = max(first, first + start - passed)
            end = min(last, first + stop - passed)
            if begin < end:
                kept.append((begin, end))
            passed += last - first
        return Subset(tuple(kept))

    def first(self) -> int | None:
        return self.ranges[0][0] if self.ranges else None

    def last(self) -> int | None:
        return self.ranges[-1][1] - 1 if self.ranges else None


def keys_of(definition: Partitions, subset: Subset, now: datetime | None = None) -> Iterator[str]:
    """The keys of a subset, in order, generated range by range."""
    for start, stop in subset.ranges:
        yield from definition.keys(start, stop, now)


def _swept(mine: Subset, theirs: Subset, keep: Callable[[bool, bool], bool]) -> Subset:
    """Walk over the ends of all ranges, in or out of either set."""
    turns: dict[int, list[int]] = {}
    for side, subset in enumerate((mine, theirs)):
        for start, stop in subset.ranges:
            turns.setdefault(start, []).append(side)
            turns.setdefault(stop, []).append(side)
    inside = [False, False]
    begun: int | None = None
    ranges = []
    for at in sorted(turns):
        for side in turns[at]:
            inside[side] = not inside[side]
        kept = keep(inside[0], inside[1])
        if kept and begun is None:
            begun = at
        elif not kept and begun is not None:
            ranges.append((begun, at))
            begun = None
    return Subset(tuple(ranges))


def _joined(ranges: Iterable[Range]) -> Subset:
    """Ranges in ascending order, those that touch or overlap made one."""
    joined: list[Range] = []
    for start, stop in ranges:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        elif start < stop:
            joined.append((start, stop))
    return Subset(tuple(joined))
