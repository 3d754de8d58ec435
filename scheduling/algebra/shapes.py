"""What keys can look like: times of one form, certain keys, segments joined, or anything.

A shape answers for a key with yes, no, or None: not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, product

from scheduling.algebra.cadence import Timetable
from scheduling.algebra.cron_timetables import CronPartitionTimetable
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.errors import InvalidKey, PartitionError
from scheduling.algebra.keys import DEFAULT_DELIMITER, join_segments, split_segments
from scheduling.algebra.partitions import DynamicPartitions, Partitions, StaticPartitions
from scheduling.algebra.period_keys import PeriodKeys
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.algebra.time_shorthands import partitions_of

# 2024-01-01 starts a week, a month, a quarter and a year at once; the other moment starts nothing.
_WALLS = (datetime(2026, 3, 10, 9, 37), datetime(2024, 1, 1))
_FEW = 8
_SEASON = timedelta(days=47)


class Shape:
    """Keys of any form: nothing is known."""

    __slots__ = ()

    def takes(self, key: str) -> bool | None:
        """Whether `key` is one of these keys."""
        return None

    def examples(self) -> tuple[str, ...]:
        """Some of these keys; none if nothing is known."""
        return ()

    def example(self) -> str:
        """One of these keys, with … for what is not known of it."""
        return next(iter(self.examples()), "…")

    def near(self, key: str) -> str | None:
        """The first of these keys at or after the time that `key` names, where they name times as it does."""
        return None

    def words(self) -> str:
        return "keys of any form"


ANY = Shape()


@dataclass(frozen=True, slots=True)
class Certain(Shape):
    """Exactly the keys that are listed."""

    keys: tuple[str, ...]

    def takes(self, key: str) -> bool:
        return key in self.keys

    def examples(self) -> tuple[str, ...]:
        return self.keys[:_FEW]

    def words(self) -> str:
        if len(self.keys) == 1:
            return f"only the key {self.keys[0]}"
        rest = f" and {len(self.keys) - 3} more" if len(self.keys) > 3 else ""
        return f"only the keys {', '.join(self.keys[:3])}{rest}"


@dataclass(frozen=True, slots=True)
class Periods(Shape):
    """The starts of periods of one grain, written in one format."""

    keys: PeriodKeys

    def takes(self, key: str) -> bool:
        try:
            self.keys.start_of(key)
        except InvalidKey:
            return False
        return True

    def examples(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.keys.key_of(wall) for wall in _WALLS))

    def words(self) -> str:
        return f"keys of the form {self.keys.output.text}, such as {self.example()}"


@dataclass(frozen=True, slots=True)
class Defined(Shape):
    """The keys of a definition of time, from its beginning on."""

    definition: TimePartitions

    def takes(self, key: str) -> bool:
        try:
            self.definition.period(key)
        except InvalidKey:
            return False
        return True

    def examples(self) -> tuple[str, ...]:
        """Keys of several seasons and hours."""
        found: list[str] = []
        at = self.definition.start
        until = self.definition.end or at + 40 * _SEASON
        while at < until and len(found) < _FEW:
            found += self.definition.keys(number := self.definition.number_at(at), number + 1)
            at += _SEASON + timedelta(hours=5)
        return tuple(dict.fromkeys(found))

    def near(self, key: str) -> str | None:
        try:
            at = self.definition.format.parse(key, self.definition.zone)
        except InvalidKey:
            return None
        number = self.definition.number_at(at)
        return next(iter(self.definition.keys(number, number + 1)), None)

    def words(self) -> str:
        left_out = ", some left out" if self.definition.exclusions else ""
        return f"keys of the form {self.definition.key_format}, such as {self.example()}{left_out}"


@dataclass(frozen=True, slots=True)
class Composite(Shape):
    """Segments joined, each with a shape of its own."""

    parts: tuple[Shape, ...]
    delimiter: str = DEFAULT_DELIMITER

    def takes(self, key: str) -> bool | None:
        segments = split_segments(key, self.delimiter)
        if len(segments) != len(self.parts):
            return False
        return all_of(part.takes(segment) for part, segment in zip(self.parts, segments, strict=True))

    def examples(self) -> tuple[str, ...]:
        combinations = product(*(part.examples() for part in self.parts))
        return tuple(join_segments(each, self.delimiter) for each in islice(combinations, _FEW))

    def example(self) -> str:
        return join_segments((part.example() for part in self.parts), self.delimiter)

    def near(self, key: str) -> str | None:
        segments = split_segments(key, self.delimiter)
        if len(segments) != len(self.parts):
            return None
        pairs = zip(self.parts, segments, strict=True)
        return join_segments((part.near(segment) or segment for part, segment in pairs), self.delimiter)

    def words(self) -> str:
        return f"keys of {len(self.parts)} segments, such as {self.example()}"


def shape_of(source: Partitions | Timetable | None) -> Shape:
    """The keys of a definition of partitions, or of the runs of a timetable, as far as they are known."""
    if isinstance(source, CronPartitionTimetable):
        try:
            return Defined(partitions_of(source, datetime(2023, 1, 1, tzinfo=UTC)))
        except PartitionError:
            return ANY
    if isinstance(source, TimePartitions):
        return Defined(source)
    if isinstance(source, StaticPartitions):
        return Certain(source.listed)
    if isinstance(source, DynamicPartitions) and source.known:
        return Certain(source.known)
    if isinstance(source, MultiPartitions):
        return Composite(tuple(shape_of(part) for _, part in source.by_name), source.delimiter)
    return ANY


def can_meet(left: Shape, right: Shape) -> bool | None:
    """Whether a key of one can equal a key of the other."""
    if isinstance(left, Composite) and isinstance(right, Composite) and left.delimiter == right.delimiter:
        if len(left.parts) != len(right.parts):
            return False
        return all_of(can_meet(mine, theirs) for mine, theirs in zip(left.parts, right.parts, strict=True))
    if ANY in (left, right):
        return None
    answers = {right.takes(key) for key in left.examples()} | {left.takes(key) for key in right.examples()}
    if True in answers:
        return True
    return None if None in answers or not answers else False


def narrowed(left: Shape, right: Shape) -> Shape:
    """The keys that are in both, as closely as a shape can say it."""
    if left is ANY or isinstance(right, Certain):
        left, right = right, left
    if isinstance(left, Certain):
        return Certain(tuple(key for key in left.keys if right.takes(key) is not False))
    return left


def all_of(answers: Iterable[bool | None]) -> bool | None:
    """No if one says no; not known if one does not know."""
    found = set(answers)
    if False in found:
        return False
    return None if None in found else True
