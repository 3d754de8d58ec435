"""Mappers made of mappers: segment by segment, or one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from typing import Any, Self

from scheduling.algebra.errors import CannotMap, InvalidKey, PartitionError, within
from scheduling.algebra.keys import DEFAULT_DELIMITER, join_segments, split_segments, validate_delimiter
from scheduling.algebra.mappers import Mapper
from scheduling.algebra.parts import (
    check_after_rollup,
    check_countable,
    check_links,
    check_parts,
    counted_as,
    joint_noun,
    joint_policy,
    members_of,
)
from scheduling.algebra.phrases import some
from scheduling.algebra.policies import WaitPolicy


class Composite(Mapper):
    """What a mapper is by its parts, in whatever way it joins them."""

    __slots__ = ()

    mappers: tuple[Mapper, ...]

    @classmethod
    def from_fields(cls, mappers: Sequence[Mapper] = (), **others: Any) -> Self:
        """The same with its parts as one list, as a spec has them."""
        return cls(*mappers, **others)

    @property
    def is_rollup(self) -> bool:
        return any(mapper.is_rollup for mapper in self.mappers)

    @property
    def is_one_to_one(self) -> bool:
        return all(mapper.is_one_to_one for mapper in self.mappers)

    @property
    def wait_policy(self) -> WaitPolicy | None:
        return joint_policy(self.mappers)

    @property
    def member_noun(self) -> str:
        return joint_noun(self.mappers)


@dataclass(frozen=True, slots=True, init=False)
class ProductMapper(Composite):
    """A composite key, segment by segment; each mapper takes the segment at its place.

    Rollups inside it wait: the required keys are every combination of what the segments need.

    :param mappers: one for each segment, in order.
    :param delimiter: what stands between two segments of a key.
    """

    mappers: tuple[Mapper, ...]
    delimiter: str = DEFAULT_DELIMITER

    def __init__(
        self, *mappers: Mapper, delimiter: str = DEFAULT_DELIMITER, max_downstream_keys: int | None = None
    ) -> None:
        object.__setattr__(self, "mappers", check_parts(mappers, "ProductMapper"))
        object.__setattr__(self, "delimiter", within("delimiter", validate_delimiter, delimiter))
        object.__setattr__(self, "max_downstream_keys", max_downstream_keys)
        Mapper.__post_init__(self)
        check_countable(self.mappers)

    def to_downstream(self, key: str) -> tuple[str, ...]:
        segments = split_segments(key, self.delimiter)
        if len(segments) != len(self.mappers):
            raise CannotMap(
                f"{key!r} has {some(len(segments), 'segment')} joined with {self.delimiter}; "
                f"this mapper takes {len(self.mappers)}"
            )
        keys = []
        for mapper, segment in zip(self.mappers, segments, strict=True):
            made = mapper.to_downstream(segment)
            if len(made) != 1:
                return self._combined(segments)
            keys.append(made[0])
        return (join_segments(keys, self.delimiter),)

    def required(self, downstream_key: str, known: Sequence[str] = ()) -> tuple[str, ...] | None:
        if not self.is_rollup:
            return None
        return self._joined(members_of(mapper, each) or () for mapper, each in self._split(downstream_key))

    def counts_as(self, key: str) -> str:
        segments = split_segments(key, self.delimiter)
        if not self.is_rollup or len(segments) != len(self.mappers):
            return key
        counted = [counted_as(mapper, each) for mapper, each in zip(self.mappers, segments, strict=True)]
        return join_segments(counted, self.delimiter)

    def never_was(self, key: str) -> str:
        segments = split_segments(key, self.delimiter)
        found = (mapper.never_was(each) for mapper, each in zip(self.mappers, segments, strict=False))
        return next(filter(None, found), "")

    def upstream_keys(self, downstream_key: str) -> tuple[str, ...] | None:
        found = [mapper.upstream_keys(each) for mapper, each in self._split(downstream_key)]
        return None if any(keys is None for keys in found) else self._joined(keys or () for keys in found)

    def representative(self, downstream_key: str) -> str | None:
        found = [mapper.representative(each) for mapper, each in self._split(downstream_key)]
        if any(key is None for key in found):
            return None
        return join_segments([key or "" for key in found], self.delimiter)

    def partition_date(self, downstream_key: str) -> datetime | None:
        """The date of the only segment that has one; none if several have, or for a wrong number of them."""
        segments = split_segments(downstream_key, self.delimiter)
        if len(segments) != len(self.mappers):
            return None
        dates = [mapper.partition_date(each) for mapper, each in zip(self.mappers, segments, strict=True)]
        known = [date for date in dates if date is not None]
        return known[0] if len(known) == 1 else None

    def warnings(self, now: datetime | None = None) -> tuple[str, ...]:
        return tuple(dict.fromkeys(words for mapper in self.mappers for words in mapper.warnings(now)))

    def samples(self) -> tuple[str, ...]:
        return self._joined(mapper.samples() for mapper in self.mappers)

    def _combined(self, segments: tuple[str, ...]) -> tuple[str, ...]:
        return self._joined(
            mapper.to_downstream(each) for mapper, each in zip(self.mappers, segments, strict=True)
        )

    def _split(self, downstream_key: str) -> Iterator[tuple[Mapper, str]]:
        segments = split_segments(downstream_key, self.delimiter)
        if len(segments) != len(self.mappers):
            raise InvalidKey(
                f"{downstream_key!r} has {some(len(segments), 'segment')} joined with {self.delimiter}; "
                f"this mapper makes {len(self.mappers)}, as in {self._example()}"
            )
        return zip(self.mappers, segments, strict=True)

    def _example(self) -> str:
        return join_segments((next(iter(each.samples()), "…") for each in self.mappers), self.delimiter)

    def _joined(self, parts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
        return tuple(join_segments(each, self.delimiter) for each in product(*parts))


@dataclass(frozen=True, slots=True, init=False)
class ChainMapper(Composite):
    """One mapper after another; each reads what the one before it writes.

    Rollups inside it wait for all that the last key needs, traced back to the first.
    """

    mappers: tuple[Mapper, ...]

    def __init__(self, *mappers: Mapper, max_downstream_keys: int | None = None) -> None:
        object.__setattr__(self, "mappers", check_parts(mappers, "ChainMapper"))
        object.__setattr__(self, "max_downstream_keys", max_downstream_keys)
        Mapper.__post_init__(self)
        check_countable(self.mappers)
        check_after_rollup(self.mappers)
        check_links(self.mappers)

    def to_downstream(self, key: str) -> tuple[str, ...]:
        keys: tuple[str, ...] = (key,)
        for mapper in self.mappers:
            keys = tuple(dict.fromkeys(made for each in keys for made in mapper.to_downstream(each)))
        return keys

    def required(self, downstream_key: str, known: Sequence[str] = ()) -> tuple[str, ...] | None:
        return self._traced(downstream_key, members_of) if self.is_rollup else None

    def never_was(self, key: str) -> str:
        return self.mappers[0].never_was(key)

    def counts_as(self, key: str) -> str:
        """Up to the first rollup, keys that map alike count alike."""
        at = next((n for n, mapper in enumerate(self.mappers) if mapper.is_rollup), None)
        if at is None:
            return key
        counted = key
        try:
            for mapper in self.mappers[:at]:
                (counted,) = mapper.to_downstream(counted)
            found: str | None = self.mappers[at].counts_as(counted)
            for mapper in reversed(self.mappers[:at]):
                found = mapper.representative(found) if found is not None else None
        except PartitionError:
            return key
        return key if found is None else found

    def upstream_keys(self, downstream_key: str) -> tuple[str, ...] | None:
        return self._traced(downstream_key, lambda mapper, key: mapper.upstream_keys(key))

    def representative(self, downstream_key: str) -> str | None:
        found: str | None = downstream_key
        for mapper in reversed(self.mappers):
            if found is None:
                return None
            found = mapper.representative(found)
        return found

    def partition_date(self, downstream_key: str) -> datetime | None:
        return self.mappers[-1].partition_date(downstream_key)

    def warnings(self, now: datetime | None = None) -> tuple[str, ...]:
        return tuple(dict.fromkeys(words for mapper in self.mappers for words in mapper.warnings(now)))

    def samples(self) -> tuple[str, ...]:
        return self.mappers[-1].samples()

    def _traced(
        self, downstream_key: str, back: Callable[[Mapper, str], tuple[str, ...] | None]
    ) -> tuple[str, ...] | None:
        keys: tuple[str, ...] = (downstream_key,)
        for mapper in reversed(self.mappers):
            found = [back(mapper, key) for key in keys]
            if any(each is None for each in found):
                return None
            keys = tuple(dict.fromkeys(key for each in found for key in each or ()))
        return keys
