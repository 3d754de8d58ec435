"""The order of keys that a definition with time in it has: worked out, never listed."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property, lru_cache

from scheduling.algebra import periods
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.numbering import numbers_of
from scheduling.algebra.partitions import Partitions
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.board.labels import DAY, HOUR, MINUTE, MONTH, YEAR, Place, label_of, usual_unit
from scheduling.board.orders import LAST, Cut, Name, Order, Table, joined

SAMPLE = 60
"""Keys from which is told how finely they are written."""

FEW = 3000
"""Moments that are rather listed than searched."""

SPREAD, GOLDEN = 100, 0.6180339887
"""Moments that tell when a table is far too large, and the share of the whole from one to the next."""

SHORTEST = {YEAR: 365 * 86_400, MONTH: 28 * 86_400, DAY: 82_800, HOUR: 3600, MINUTE: 60}
"""Seconds of the shortest period of each unit."""


def axis_of(definition: Partitions | None) -> TimePartitions | None:
    """The time that orders the keys of a definition: its own, or that of its slowest dimension."""
    if isinstance(definition, MultiPartitions):
        definition = definition.by_name[definition.by_speed()[0]][1]
    return definition if isinstance(definition, TimePartitions) else None


class Defined(Order):
    """The first `count` keys of a definition: moments of `axis`, each with `stride` keys in so many lanes."""

    def __init__(
        self, definition: Partitions, axis: TimePartitions, count: int, now: datetime | None
    ) -> None:
        self.definition, self.axis, self.size, self.now = definition, axis, count, now
        self.speed = definition.by_speed() if isinstance(definition, MultiPartitions) else [0]
        self.sizes = [self._part(place).count(now) for place in self.speed[1:]]
        self.stride = 1
        for size in self.sizes:
            self.stride *= size
        self.moments = count // self.stride if self.stride else 0
        self.labels = _Labels(self)
        self.zooms: dict[str, range] = {}
        self.ends: dict[tuple[int, int], tuple[str, int]] = {}
        self._names = lru_cache(maxsize=8)(lambda start, stop: axis.keys(start, stop))
        self._lane = lru_cache(maxsize=4096)(self._worked_out)

    def __len__(self) -> int:
        return self.size

    @cached_property
    def unit(self) -> int:
        firsts = self.axis.keys(0, min(SAMPLE, self.moments))
        lasts = self.axis.keys(max(0, self.moments - 2), self.moments)
        labels = [self._full(key, at) for at, key in enumerate(firsts)]
        labels += [self._full(key, self.moments - len(lasts) + at) for at, key in enumerate(lasts)]
        return usual_unit(labels) if labels else 0

    def place(self, at: int) -> Place:
        moment, lane = divmod(at, self.stride)
        return self._place(moment, lane, self.axis.key_at(moment))

    def where(self, keys: Collection[str]) -> list[int]:
        numbers = numbers_of(self.definition, keys, self.now)
        return [at for at in numbers.values() if at < self.size]

    def places_at(self, positions: Iterable[int]) -> list[Place]:
        pairs = [divmod(at, self.stride) for at in positions]
        if not pairs:
            return []
        first, last = min(pairs)[0], max(pairs)[0]
        if last - first > 4 * len(pairs) + FEW:
            return [self._place(moment, lane, self.axis.key_at(moment)) for moment, lane in pairs]
        names = self._names(first, last + 1)
        return [self._place(moment, lane, names[moment - first]) for moment, lane in pairs]

    def label(self, moment: int) -> str:
        return self._full(self.axis.key_at(moment), moment)[: self.unit]

    def positions(self, zoom: str = "") -> range:
        if not zoom:
            return range(self.moments * self.stride)
        if zoom not in self.zooms:
            first = bisect_left(self.labels, zoom)
            last = bisect_right(self.labels, zoom + LAST, lo=first)
            self.zooms[zoom] = range(first * self.stride, last * self.stride)
        return self.zooms[zoom]

    def columns(self, positions: range, most: int) -> list[range]:
        wide = (-(-len(positions) // self.stride // most) or 1) * self.stride
        return [positions[at : at + wide] for at in range(0, len(positions), wide)]

    def moments_in(self, positions: range) -> int:
        return len(positions) // self.stride

    def cuts(self, size: int, positions: range) -> list[Cut]:
        return [
            Cut(label, range(start * self.stride, stop * self.stride))
            for label, start, stop in self._periods(size, *self._moments(positions))
        ]

    def lane_count(self, positions: range) -> int:
        return self.stride

    def roughly(self, size: int, positions: range) -> int:
        start, stop = self._moments(positions)
        first, last = self.axis.start_of(start), self.axis.start_of(stop - 1)
        periods_between = int((last - first).total_seconds() // SHORTEST.get(size, SHORTEST[DAY])) + 2
        return min(stop - start, periods_between)

    def fits(self, positions: range, row: int, column: int, most: int) -> bool:
        start, stop = self._moments(positions)
        if self.roughly(column, positions) * self.stride > 8 * most:
            return False
        if self._squares(self._sample(start, stop, column), row) > most:
            return False
        return self._squares([label for label, _, _ in self._periods(column, start, stop)], row) <= most

    def _sample(self, start: int, stop: int, column: int) -> list[str]:
        """Labels of moments here and there: a table has a square for each of them at least."""
        spread = range(min(SPREAD, stop - start))
        return [self.label(start + int(at * GOLDEN % 1 * (stop - start)))[:column] for at in spread]

    def _squares(self, labels: Sequence[str], row: int) -> int:
        """The squares of a table that has a place for all of these labels."""
        rows, heads = {label[:row] for label in labels}, {label[row:] for label in labels}
        return len(rows) * self.stride * len(heads)

    def table(self, positions: range, row: int, column: int) -> Table:
        start, stop = self._moments(positions)
        found: dict[str, dict[str, list[tuple[int, int]]]] = {}
        for label, begin, end in self._periods(column, start, stop):
            found.setdefault(label[:row], {}).setdefault(label[row:], []).append((begin, end))
        rows = sorted(found)

        def some(first: int, size: int) -> list[tuple[Name, Mapping[str, Sequence[int]]]]:
            numbers = range(first, min(first + size, len(rows) * self.stride))
            return [self._row(found, rows[at % len(rows)], at // len(rows)) for at in numbers]

        def column_of(head: str) -> list[range]:
            spans = [span for each in found.values() for span in each.get(head, ())]
            return [range(begin * self.stride, end * self.stride) for begin, end in spans]

        def row_of(at: int) -> int:
            moment, lane = divmod(at, self.stride)
            return lane * len(rows) + rows.index(self.label(moment)[:row])

        heads = sorted({head for each in found.values() for head in each})
        flat = len(rows) == 1 and self.stride > 1
        return Table(heads, len(rows) * self.stride, flat, some, column_of, row_of)

    def _row(
        self, found: Mapping[str, Mapping[str, list[tuple[int, int]]]], row: str, lane: int
    ) -> tuple[Name, Mapping[str, Sequence[int]]]:
        return (self._lane(lane), row), {
            head: joined(
                [range(begin * self.stride + lane, end * self.stride, self.stride) for begin, end in spans]
            )
            for head, spans in found[row].items()
        }

    def _periods(self, size: int, start: int, stop: int) -> list[tuple[str, int, int]]:
        """Stretches of moments with one label; each end is searched for once, then known."""
        if size >= self.unit or stop - start <= FEW:
            return self._listed_periods(size, start, stop)
        found: list[tuple[str, int, int]] = []
        while start < stop:
            label, end = self.ends.get((size, start), ("", 0))
            if not end:
                label = self.label(start)[:size]
                end = self._end(label, start, found[-1][2] - found[-1][1] if found else 1)
                if end < self.moments:
                    self.ends[size, start] = label, end
            found.append((label, start, min(end, stop)))
            start = end
        return found

    def _listed_periods(self, size: int, start: int, stop: int) -> list[tuple[str, int, int]]:
        found: list[tuple[str, int, int]] = []
        for moment, key in enumerate(self._names(start, stop), start):
            label = self._full(key, moment)[: self.unit][:size]
            if found and found[-1][0] == label:
                found[-1] = (label, found[-1][1], moment + 1)
            else:
                found.append((label, moment, moment + 1))
        return found

    def _end(self, label: str, start: int, guess: int) -> int:
        """Where the moments end that begin with `label`: most often as far on as the last time."""
        low, high, step = start, start + max(1, guess), 1
        while high < self.moments and self.label(high).startswith(label):
            low, high, step = high, high + step, step * 2
        high = min(high, self.moments)
        if self.label(high - 1).startswith(label):
            return high
        return bisect_right(self.labels, label + LAST, lo=low, hi=high)

    def _moments(self, positions: range) -> tuple[int, int]:
        return positions.start // self.stride, -(-positions.stop // self.stride)

    def _place(self, moment: int, lane: int, name: str) -> Place:
        label = self._full(name, moment)[: self.unit]
        if not isinstance(self.definition, MultiPartitions):
            return Place(name, label)
        others = self._lane(lane)
        at = self.speed[0]
        return Place(self.definition.key_of((*others[:at], name, *others[at:])), label, others)

    def _worked_out(self, lane: int) -> tuple[str, ...]:
        """The segments of a lane, in the order in which keys have them."""
        segments: dict[int, str] = {}
        for place, size in zip(reversed(self.speed[1:]), reversed(self.sizes), strict=True):
            lane, at = divmod(lane, size)
            segments[place] = self._part(place).key_at(at, self.now)
        return tuple(segments[place] for place in sorted(segments))

    def _part(self, place: int) -> Partitions:
        return (
            self.definition.by_name[place][1] if isinstance(self.definition, MultiPartitions) else self.axis
        )

    def _full(self, key: str, moment: int) -> str:
        """The label as it is written, or by the clocks of the zone where a key does not tell."""
        if written := label_of(key):
            return written
        wall = periods.wall_of(self.axis.start_of(moment), self.axis.zone)
        return f"{wall:%Y-%m-%dT%H:%M}"


class _Labels(Sequence[str]):
    """The labels of all moments, for searching."""

    def __init__(self, order: Defined) -> None:
        self.order = order

    def __len__(self) -> int:
        return self.order.moments

    def __getitem__(self, at: int) -> str:  # type: ignore[override]
        return self.order.label(at)
