"""Partitions of several dimensions: every combination of their keys, as composite keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice, product
from math import prod

from scheduling.algebra.errors import InvalidDefinition, InvalidKey, PartitionError
from scheduling.algebra.keys import DEFAULT_DELIMITER, join_segments, split_segments, validate_delimiter
from scheduling.algebra.partitions import Known, Partitions
from scheduling.algebra.phrases import some


@dataclass(frozen=True, slots=True)
class MultiPartitions(Partitions):
    """Every combination of the keys of several dimensions, as composite keys in the order of `dimensions`.

    Keys are numbered so that a dimension to which time adds keys counts slowest: numbers stay as they are.
    """

    by_name: tuple[tuple[str, Partitions], ...]
    delimiter: str = field(default=DEFAULT_DELIMITER, kw_only=True)

    def __post_init__(self) -> None:
        pairs = tuple(self.by_name.items() if isinstance(self.by_name, Mapping) else self.by_name)
        if len(pairs) < 2:
            raise InvalidDefinition("a composite key has at least two dimensions", path="dimensions")
        for name, definition in pairs:
            if not isinstance(name, str) or not name or not isinstance(definition, Partitions):
                raise InvalidDefinition(
                    f"a dimension is a name with a partitions definition, not {name!r}: {definition!r}",
                    path="dimensions",
                )
        if len({name for name, _ in pairs}) != len(pairs):
            raise InvalidDefinition("two dimensions have one name", path="dimensions")
        object.__setattr__(self, "by_name", pairs)
        validate_delimiter(self.delimiter)

    @property
    def dimensions(self) -> Mapping[str, Partitions]:
        return dict(self.by_name)

    @property
    def grows(self) -> bool:
        return any(definition.grows for _, definition in self.by_name)

    def count(self, now: datetime | None = None) -> int:
        return prod(definition.count(now) for _, definition in self.by_name)

    def key_at(self, number: int, now: datetime | None = None) -> str:
        if number < 0:
            raise IndexError(number)
        segments = [""] * len(self.by_name)
        slowest, *faster = self.by_speed()
        for place in reversed(faster):
            size = self.by_name[place][1].count(now)
            number, at = divmod(number, size) if size else (number, 0)
            segments[place] = self.by_name[place][1].key_at(at, now)
        segments[slowest] = self.by_name[slowest][1].key_at(number, now)
        return self.key_of(segments)

    def keys(self, start: int = 0, stop: int | None = None, now: datetime | None = None) -> tuple[str, ...]:
        """The same, with each dimension asked once; the faster ones are held whole."""
        last = self.count(now) if stop is None else stop
        slowest, *faster = self.by_speed()
        blocks = [self.by_name[place][1].keys(now=now) for place in faster]
        block = prod(len(keys) for keys in blocks)
        if not block or start >= last:
            return ()
        slow = self.by_name[slowest][1].keys(start // block, -(-last // block), now)
        combined = product(slow, *blocks)
        places = (slowest, *faster)
        in_order = [places.index(place) for place in range(len(places))]
        first = start - start // block * block
        return tuple(
            [
                self.key_of([each[place] for place in in_order])
                for each in islice(combined, first, first + last - start)
            ]
        )

    def index(self, key: str, now: datetime | None = None) -> int:
        segments = self.segments(key)
        number = 0
        for turn, place in enumerate(self.by_speed()):
            definition = self.by_name[place][1]
            size = definition.count(now) if turn else 0
            number = number * size + self._number(place, segments[place], now)
        return number

    def akin(self, key: str) -> tuple[str, ...]:
        segments = split_segments(key, self.delimiter)
        if len(segments) != len(self.by_name):
            return ()
        pairs = zip(self.by_name, segments, strict=True)
        return tuple(map(self.key_of, product(*(each.akin(segment) for (_, each), segment in pairs))))

    def key_of(self, segments: Iterable[str]) -> str:
        """The composite key of one segment for each dimension."""
        return join_segments(segments, self.delimiter)

    def segments(self, key: str) -> tuple[str, ...]:
        """The segments of a composite key.

        :raises InvalidKey: if there are more or fewer than dimensions.
        """
        segments = split_segments(key, self.delimiter)
        if len(segments) != len(self.by_name):
            names = self.delimiter.join(name for name, _ in self.by_name)
            raise InvalidKey(
                f"{key!r} has {some(len(segments), 'segment')} where {names} belong, such as {self.example()}"
            )
        return segments

    def example(self) -> str:
        """The first key, with … for a segment that there is none of yet."""
        return self.key_of(_first_of(definition) for _, definition in self.by_name)

    def by_speed(self) -> list[int]:
        """The places of the dimensions, the slowest counting first."""
        return sorted(range(len(self.by_name)), key=lambda place: not self.by_name[place][1].grows)

    def bound(self, known: Known) -> MultiPartitions:
        return replace(self, by_name=tuple((name, each.bound(known)) for name, each in self.by_name))

    def partition_date(self, key: str) -> datetime | None:
        """The date of the one dimension that has time."""
        pairs = zip(self.by_name, self.segments(key), strict=True)
        dates = {definition.partition_date(segment) for (_, definition), segment in pairs} - {None}
        return dates.pop() if len(dates) == 1 else None

    def warnings(self, now: datetime | None = None) -> tuple[str, ...]:
        return tuple(sentence for _, definition in self.by_name for sentence in definition.warnings(now))

    def words(self) -> str:
        return " × ".join(f"{name}: {definition.words()}" for name, definition in self.by_name)

    def _number(self, place: int, segment: str, now: datetime | None) -> int:
        name, definition = self.by_name[place]
        try:
            return definition.index(segment, now)
        except InvalidKey as refusal:
            raise InvalidKey(f"{name}: {refusal}") from None


def _first_of(definition: Partitions) -> str:
    try:
        return definition.key_at(0)
    except (IndexError, PartitionError):
        return "…"
