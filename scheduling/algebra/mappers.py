"""Partition mappers: which downstream keys an upstream key feeds, and which upstream keys one needs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from scheduling.algebra.errors import CannotMap, InvalidDefinition, InvalidKey, within
from scheduling.algebra.keys import definable_key, distinct_keys
from scheduling.algebra.policies import WaitPolicy


@dataclass(frozen=True, slots=True)
class Mapper(ABC):
    """Keys of one asset to keys of a Dag. A subclass says at least `to_downstream`.

    :param max_downstream_keys: more downstream keys than this from one upstream key queue nothing.
    """

    max_downstream_keys: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        limit = self.max_downstream_keys
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
            raise InvalidDefinition(
                f"max_downstream_keys is a whole number from 1, not {limit!r}", path="max_downstream_keys"
            )

    @abstractmethod
    def to_downstream(self, key: str) -> tuple[str, ...]:
        """The downstream keys that `key` feeds, each once, in order; possibly none.

        :raises CannotMap: if this mapper cannot read `key`.
        """

    @property
    def is_rollup(self) -> bool:
        """Whether a downstream key needs certain upstream keys, rather than any one that maps to it."""
        return False

    @property
    def is_one_to_one(self) -> bool:
        """Whether each upstream key feeds one downstream key, and any one of them is enough for it."""
        return False

    @property
    def needs_known(self) -> bool:
        """Whether `required` depends on which upstream keys are known."""
        return False

    @property
    def wait_policy(self) -> WaitPolicy | None:
        """How many of the required keys must have arrived; none where any one key is enough."""
        return None

    @property
    def member_noun(self) -> str:
        """What the required keys are called, in the plural."""
        return "keys"

    def required(self, downstream_key: str, known: Sequence[str] = ()) -> tuple[str, ...] | None:
        """The upstream keys that `downstream_key` needs, each once, in order; none if any one is enough.

        :param known: all known upstream keys, oldest first; looked at only if `needs_known`.
        :raises InvalidKey: if this mapper can never produce `downstream_key`.
        """
        return None

    def counts_as(self, key: str) -> str:
        """The required key as which an upstream key counts: itself, unless several spell one member."""
        return key

    def never_was(self, key: str) -> str:
        """In words, that an upstream key names a time that clocks have skipped; empty if it does not."""
        return ""

    def upstream_keys(self, downstream_key: str) -> tuple[str, ...] | None:
        """Every upstream key that maps to `downstream_key`; none if they cannot be enumerated."""
        return self.required(downstream_key)

    def representative(self, downstream_key: str) -> str | None:
        """One upstream key that maps to `downstream_key`, for a mapper from one key to one."""
        return None

    def partition_date(self, downstream_key: str) -> datetime | None:
        """The instant, in UTC, at which the period of `downstream_key` starts; none for keys without time.

        :raises InvalidKey: if this mapper can never produce `downstream_key`.
        """
        return None

    def samples(self) -> tuple[str, ...]:
        """Some keys that it makes, as examples of their form; none if nothing is known of it."""
        return ()

    def warnings(self, now: datetime | None = None) -> tuple[str, ...]:
        """What works but will surprise, as sentences; with `now` they name the next day on which it will."""
        return ()


@dataclass(frozen=True, slots=True)
class IdentityMapper(Mapper):
    """The same key."""

    @property
    def is_one_to_one(self) -> bool:
        return True

    def to_downstream(self, key: str) -> tuple[str, ...]:
        return (key,)

    def upstream_keys(self, downstream_key: str) -> tuple[str, ...]:
        return (downstream_key,)

    def representative(self, downstream_key: str) -> str:
        return downstream_key


@dataclass(frozen=True, slots=True)
class AllowedKeyMapper(Mapper):
    """The same key if it is one of `allowed_keys`; any other is a mapping problem."""

    allowed_keys: tuple[str, ...]

    def __post_init__(self) -> None:
        Mapper.__post_init__(self)
        keys = within("allowed_keys", distinct_keys, self.allowed_keys, "an AllowedKeyMapper")
        object.__setattr__(self, "allowed_keys", keys)

    @property
    def is_one_to_one(self) -> bool:
        return True

    def to_downstream(self, key: str) -> tuple[str, ...]:
        if key not in self.allowed_keys:
            raise CannotMap(f"{key!r} is not one of the allowed keys {', '.join(self.allowed_keys)}")
        return (key,)

    def upstream_keys(self, downstream_key: str) -> tuple[str, ...]:
        return (self.representative(downstream_key),)

    def representative(self, downstream_key: str) -> str:
        if downstream_key not in self.allowed_keys:
            raise InvalidKey(
                f"{downstream_key!r} is not one of the allowed keys {', '.join(self.allowed_keys)}"
            )
        return downstream_key

    def samples(self) -> tuple[str, ...]:
        return self.allowed_keys


@dataclass(frozen=True, slots=True)
class FixedKeyMapper(Mapper):
    """Every key becomes `downstream_key`."""

    downstream_key: str

    def __post_init__(self) -> None:
        Mapper.__post_init__(self)
        within("downstream_key", definable_key, self.downstream_key, "a FixedKeyMapper")

    @property
    def is_one_to_one(self) -> bool:
        return True

    def to_downstream(self, key: str) -> tuple[str, ...]:
        return (self.downstream_key,)

    def representative(self, downstream_key: str) -> str:
        """Any key will do; the one that it becomes is as good as another."""
        if downstream_key != self.downstream_key:
            raise InvalidKey(
                f"{downstream_key!r} never comes about: every key becomes {self.downstream_key!r}"
            )
        return downstream_key

    def samples(self) -> tuple[str, ...]:
        return (self.downstream_key,)


def check_mapper(value: object, role: str) -> Mapper:
    """`value` itself, if it is a mapper.

    :raises InvalidDefinition: naming the role it was given for.
    """
    if isinstance(value, Mapper):
        return value
    raise InvalidDefinition(f"{role} is a partition mapper such as IdentityMapper(), not {value!r}")


def check_policy(value: object) -> WaitPolicy:
    """`value` itself, if it is a wait policy.

    :raises InvalidDefinition: otherwise.
    """
    if isinstance(value, WaitPolicy):
        return value
    raise InvalidDefinition(f"wait_policy is one such as WaitForAll() or MinimumCount(20), not {value!r}")
