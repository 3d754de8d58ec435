"""The states of all partitions of an asset, as an array in the order of its keys."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from scheduling.board.labels import Place, unit_of


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


@dataclass(frozen=True, slots=True)
class Tally:
    """How many partitions look how, in the order of `Look`."""

    counts: tuple[int, ...] = (0,) * len(Look)

    @classmethod
    def of(cls, looks: bytes) -> "Tally":
        return cls(tuple(looks.count(look) for look in Look))

    def __getitem__(self, look: Look) -> int:
        return self.counts[look]

    @property
    def total(self) -> int:
        return sum(self.counts)

    @property
    def worst(self) -> Look:
        return max(look for look in Look if self.counts[look])

    @property
    def tint(self) -> int:
        """How much of it looks like its worst: 1 little, 2 about half, 3 nearly all."""
        share = self[self.worst] / self.total
        return 1 if share < 0.34 else 2 if share < 0.8 else 3

    @property
    def parts(self) -> list[tuple[Look, int]]:
        return [(look, self[look]) for look in Look if self[look]]

    @property
    def words(self) -> str:
        return ", ".join(f"{count:,} {look.word}" for look, count in self.parts) or "no partitions"


@dataclass(frozen=True)
class Cells:
    """Keys in order, one look for each, and which of them the asset's definition does not have."""

    places: Sequence[Place]
    looks: bytes
    unexpected: frozenset[str] = frozenset()

    @cached_property
    def tally(self) -> Tally:
        return self.tally_of(range(len(self.looks)))

    @cached_property
    def unit(self) -> int:
        return unit_of(self._labels)

    def tally_of(self, positions: Sequence[int]) -> Tally:
        if isinstance(positions, range) and positions.step == 1:
            return Tally.of(self.looks[positions.start : positions.stop])
        return Tally.of(bytes(self.looks[at] for at in positions))

    def look(self, at: int) -> Look:
        return Look(self.looks[at])

    def positions(self, zoom: str = "") -> range:
        """The positions in one period. Keys are in the order of their labels, so they lie side by side."""
        if not zoom:
            return range(len(self.places))
        return range(bisect_left(self._labels, zoom), bisect_right(self._labels, zoom + "\uffff"))

    @cached_property
    def _labels(self) -> list[str]:
        return [place.label for place in self.places]

    def strays(self) -> list[str]:
        """Keys that have no place in the calendar of the others."""
        return [place.key for place in self.places[: bisect_right(self._labels, "")]] if self.unit else []

    def newest(self) -> Place | None:
        """The last key that has data."""
        having = (Look.MATERIALIZED, Look.STALE)
        for at in range(len(self.looks) - 1, -1, -1):
            if self.looks[at] in having:
                return self.places[at]
        return None
