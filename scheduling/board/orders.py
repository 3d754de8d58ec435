"""The order of the keys on a board: which lie in a period, which share a moment, how they fall into a table.

`Listed` has every key in its hands: keys that were seen, and short lists. `Defined` (beside) has a definition
with time in it and works out what it is asked for: a million keys cost no more than those one looks at.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from typing import overload

from scheduling.board.labels import Place, unit_of

LAST = "\uffff"

Name = tuple[tuple[str, ...], str]
"""Where a position belongs: the segments that are no time, and the label of its row."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The positions of one label."""

    label: str
    positions: range


@dataclass(frozen=True, slots=True)
class Table:
    """Positions by row and column; those of a column in parts.

    `is_flat`: each row is another combination of the other segments. `row_of`: the number of the row of a
    position.
    """

    heads: Sequence[str]
    row_count: int
    is_flat: bool
    rows: Callable[[int, int], list[tuple[Name, Mapping[str, Sequence[int]]]]]
    column: Callable[[str], Sequence[Sequence[int]]]
    row_of: Callable[[int], int]


class Order(Sequence[Place], ABC):
    """Places in order. Those of a period lie side by side."""

    @property
    @abstractmethod
    def unit(self) -> int:
        """The length of the finest label; 0 where there is no time."""

    @property
    def stray_count(self) -> int:
        """Keys, at the beginning, that have no place in the calendar of the others."""
        return 0

    @abstractmethod
    def positions(self, zoom: str = "") -> range:
        """The positions in one period, or all."""

    @abstractmethod
    def columns(self, positions: range, most: int) -> list[range]:
        """`positions` in at most so many equal parts, keys of one moment together."""

    @abstractmethod
    def moments_in(self, positions: range) -> int:
        """How many moments there are in `positions`; each place is one where there is no time."""

    @abstractmethod
    def cuts(self, size: int, positions: range) -> list[Cut]:
        """`positions` by their labels cut to `size`."""

    @abstractmethod
    def lane_count(self, positions: range) -> int:
        """How many combinations of the segments that are no time there are."""

    @abstractmethod
    def roughly(self, size: int, positions: range) -> int:
        """How many labels cut to `size` there are, at most."""

    @abstractmethod
    def fits(self, positions: range, row: int, column: int, most: int) -> bool:
        """Whether a table by labels of these sizes has no more than so many squares."""

    @abstractmethod
    def table(self, positions: range, row: int, column: int) -> Table:
        """`positions` by the labels of rows and columns; in lanes alone where `row` is 0."""

    @abstractmethod
    def where(self, keys: Collection[str]) -> list[int]:
        """The positions of those of `keys` that are here."""

    def places_at(self, positions: Iterable[int]) -> list[Place]:
        """The places of several positions."""
        return [self[at] for at in positions]

    @overload
    def __getitem__(self, at: int) -> Place: ...

    @overload
    def __getitem__(self, at: slice) -> list[Place]: ...

    def __getitem__(self, at: int | slice) -> Place | list[Place]:
        if isinstance(at, slice):
            return [self.place(each) for each in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        return self.place(at % len(self))

    def __iter__(self) -> Iterator[Place]:
        return iter(self.places_at(range(len(self))))

    @abstractmethod
    def place(self, at: int) -> Place:
        """The place at one position."""


class Listed(Order):
    """Places in the order of their labels, or as given where they have none."""

    def __init__(self, places: Iterable[Place]) -> None:
        self.listed = list(places)

    def __len__(self) -> int:
        return len(self.listed)

    def place(self, at: int) -> Place:
        return self.listed[at]

    def where(self, keys: Collection[str]) -> list[int]:
        return [at for at, place in enumerate(self.listed) if place.key in keys]

    @cached_property
    def labels(self) -> list[str]:
        return [place.label for place in self.listed]

    @cached_property
    def unit(self) -> int:
        return unit_of(self.labels)

    @cached_property
    def stray_count(self) -> int:
        return bisect_right(self.labels, "") if self.unit else 0

    def positions(self, zoom: str = "") -> range:
        if not zoom:
            return range(len(self.listed))
        return range(bisect_left(self.labels, zoom), bisect_right(self.labels, zoom + LAST))

    def columns(self, positions: range, most: int) -> list[range]:
        if not self.unit:
            wide = -(-len(positions) // most) or 1
            return [positions[at : at + wide] for at in range(0, len(positions), wide)]
        slots = [cut.positions for cut in self._slots(positions)]
        wide = -(-len(slots) // most) or 1
        return [
            range(slots[at].start, slots[min(at + wide, len(slots)) - 1].stop)
            for at in range(0, len(slots), wide)
        ]

    def moments_in(self, positions: range) -> int:
        if not self.unit:
            return len(positions)
        return sum(1 for _ in groupby(self.labels[positions.start : positions.stop]))

    def cuts(self, size: int, positions: range) -> list[Cut]:
        found, at = [], positions.start
        while at < positions.stop:
            label = self.labels[at][:size]
            stop = bisect_right(self.labels, label + LAST, at, positions.stop) if label else at
            stop = stop if label else bisect_right(self.labels, "", at, positions.stop)
            found.append(Cut(label, range(at, stop)))
            at = stop
        return found

    def lane_count(self, positions: range) -> int:
        return len({self.listed[at].others for at in positions})

    def roughly(self, size: int, positions: range) -> int:
        return len({label[:size] for label in self.labels[positions.start : positions.stop]})

    def fits(self, positions: range, row: int, column: int, most: int) -> bool:
        rows = {(self.listed[at].others, self.labels[at][:row]) for at in positions}
        return len(rows) * len({self.labels[at][row:column] for at in positions}) <= most

    def table(self, positions: range, row: int, column: int) -> Table:
        boxes: dict[Name, dict[str, list[int]]] = {}
        by_head: dict[str, list[int]] = {}
        for at in positions:
            name, head = self._name_and_head(self.listed[at], row, column)
            boxes.setdefault(name, {}).setdefault(head, []).append(at)
            by_head.setdefault(head, []).append(at)
        lanes = {others: number for number, others in enumerate(dict.fromkeys(name[0] for name in boxes))}
        names = sorted(boxes, key=lambda name: (lanes[name[0]], name[1])) if self.unit else list(boxes)
        return Table(
            heads=sorted(by_head) if self.unit else list(by_head),
            row_count=len(names),
            is_flat=len({row for _, row in names}) == 1 and len(names) > 1,
            rows=lambda first, size: [(name, boxes[name]) for name in names[first : first + size]],
            column=lambda head: [by_head[head]],
            row_of=lambda at: names.index(self._name_and_head(self.listed[at], row, column)[0]),
        )

    def _name_and_head(self, place: Place, row: int, column: int) -> tuple[Name, str]:
        """In which row and under which head of a table a place stands."""
        if self.unit:
            return (place.others, place.label[:row]), place.label[row:column]
        *rest, last = place.others
        return ((), "|".join(rest)), last

    def _slots(self, positions: range) -> Iterator[Cut]:
        start = positions.start
        for label, group in groupby(self.labels[start : positions.stop]):
            stop = start + sum(1 for _ in group)
            yield Cut(label, range(start, stop))
            start = stop


def joined(parts: Sequence[range]) -> Sequence[int]:
    """Several ranges as one sequence."""
    return parts[0] if len(parts) == 1 else list(chain.from_iterable(parts))
