"""Partitions definitions: the keys an asset is expected to have, in order, found by number and by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from difflib import get_close_matches

from scheduling.algebra.errors import InvalidDefinition, InvalidKey, within
from scheduling.algebra.keys import distinct_keys

FEW = 8
"""So many keys are all named where one that is not among them is refused."""

Known = Callable[[str], Sequence[str]]
"""The keys there are of the dynamic partitions of a name, oldest first."""


class Partitions(ABC):
    """Keys with numbers from 0. The number of a key never changes while the definition stands.

    `now` says when we are asked. A definition without an end has keys without end when nobody says it, and so
    no count and no last.
    """

    __slots__ = ()

    @abstractmethod
    def count(self, now: datetime | None = None) -> int:
        """How many keys there are.

        :raises InvalidDefinition: if that depends on when, and `now` is not given.
        """

    @abstractmethod
    def key_at(self, number: int, now: datetime | None = None) -> str:
        """The key of that number.

        :raises IndexError: if there is none.
        """

    @abstractmethod
    def index(self, key: str, now: datetime | None = None) -> int:
        """The number of a key.

        :raises InvalidKey: if it is not one, naming those close to it.
        """

    def keys(self, start: int = 0, stop: int | None = None, now: datetime | None = None) -> tuple[str, ...]:
        """The keys from number `start` up to but not including `stop`."""
        last = self.count(now) if stop is None else stop
        return tuple(self.key_at(number, now) for number in range(start, last))

    def contains(self, key: str, now: datetime | None = None) -> bool:
        try:
            self.index(key, now)
        except InvalidKey:
            return False
        return True

    def akin(self, key: str) -> tuple[str, ...]:
        """`key`, if it ever is one of these; else those beside what it names: several may spell one time."""
        return (key,) if self.contains(key) else ()

    def first(self, now: datetime | None = None) -> str | None:
        return self.key_at(0, now) if self.count(now) else None

    def last(self, now: datetime | None = None) -> str | None:
        """The newest key: of days, the last one that is complete."""
        size = self.count(now)
        return self.key_at(size - 1, now) if size else None

    @property
    def dimensions(self) -> Mapping[str, Partitions]:
        """The definitions of each segment of a composite key, in the order of its segments."""
        return {}

    @property
    def grows(self) -> bool:
        """Whether time adds keys."""
        return False

    def bound(self, known: Known) -> Partitions:
        """The same definition with the keys that dynamic partitions have by now."""
        return self

    def partition_date(self, key: str) -> datetime | None:
        """The instant, in UTC, at which the period that `key` names starts; none for keys without time.

        :raises InvalidKey: if it is not one of these keys.
        """
        self.index(key)
        return None

    def warnings(self, now: datetime | None = None) -> tuple[str, ...]:
        """What works but may surprise, a sentence each."""
        return ()

    @abstractmethod
    def words(self) -> str:
        """The definition as a phrase: `days from 2026-03-01 (UTC)`."""


@dataclass(frozen=True, slots=True)
class StaticPartitions(Partitions):
    """The keys that are listed, in the order they are listed."""

    listed: tuple[str, ...]
    _numbers: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        keys = tuple(self.listed) if isinstance(self.listed, Iterable) else ()
        found = within("keys", distinct_keys, self.listed, "keys")
        if len(found) != len(keys):
            twice = next(key for key in found if keys.count(key) > 1)
            raise InvalidDefinition(f"the key {twice!r} is listed twice", path="keys")
        object.__setattr__(self, "listed", found)
        object.__setattr__(self, "_numbers", numbered(found))

    def count(self, now: datetime | None = None) -> int:
        return len(self.listed)

    def key_at(self, number: int, now: datetime | None = None) -> str:
        return at_number(self.listed, number)

    def keys(self, start: int = 0, stop: int | None = None, now: datetime | None = None) -> tuple[str, ...]:
        return self.listed[start:stop]

    def index(self, key: str, now: datetime | None = None) -> int:
        return number_of(key, self._numbers)

    def akin(self, key: str) -> tuple[str, ...]:
        return (key,) if key in self._numbers else ()

    def words(self) -> str:
        return f"{len(self.listed)} listed keys"


@dataclass(frozen=True, slots=True)
class DynamicPartitions(Partitions):
    """Keys that people, programs and sensors add and remove under `name`. Two assets share them by that name.

    The definition itself knows none of them: `bound` gives it those there are.
    """

    name: str
    known: tuple[str, ...] | None = field(default=None, init=False)
    _numbers: Mapping[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InvalidDefinition(f"dynamic partitions need a name, not {self.name!r}", path="name")

    def count(self, now: datetime | None = None) -> int:
        return len(self._known())

    def key_at(self, number: int, now: datetime | None = None) -> str:
        return at_number(self._known(), number)

    def keys(self, start: int = 0, stop: int | None = None, now: datetime | None = None) -> tuple[str, ...]:
        return self._known()[start:stop]

    def index(self, key: str, now: datetime | None = None) -> int:
        self._known()
        return number_of(key, self._numbers)

    def bound(self, known: Known) -> DynamicPartitions:
        keys = tuple(dict.fromkeys(known(self.name)))
        found = replace(self)
        object.__setattr__(found, "known", keys)
        object.__setattr__(found, "_numbers", numbered(keys))
        return found

    def words(self) -> str:
        return f"the keys added to {self.name}"

    def _known(self) -> tuple[str, ...]:
        if self.known is None:
            raise InvalidDefinition(f"which keys {self.name!r} has is not known here")
        return self.known


def numbered(keys: Sequence[str]) -> dict[str, int]:
    return {key: number for number, key in enumerate(keys)}


def at_number(keys: Sequence[str], number: int) -> str:
    if number < 0:
        raise IndexError(number)
    return keys[number]


def number_of(key: str, numbers: Mapping[str, int]) -> int:
    if key in numbers:
        return numbers[key]
    if len(numbers) <= FEW:
        there = f"there {'is' if len(numbers) == 1 else 'are'} {', '.join(numbers) or 'none'}"
        raise InvalidKey(f"{key!r} is not one of the partitions: {there}")
    near = get_close_matches(key, list(numbers)[:1000], n=3, cutoff=0.5) if isinstance(key, str) else []
    hint = f"; close to it are {', '.join(near)}" if near else f", such as {next(iter(numbers))}"
    raise InvalidKey(f"{key!r} is not one of these {len(numbers)} partitions{hint}")
