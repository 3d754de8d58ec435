"""Mappers that need to know which keys of the upstream there are: all of them make one, or the newest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from scheduling.algebra.errors import within
from scheduling.algebra.mappers import FixedKeyMapper, Mapper, check_policy
from scheduling.algebra.policies import WaitForAll, WaitPolicy


@dataclass(frozen=True, slots=True)
class _OfKnown(Mapper):
    downstream_key: str

    def __post_init__(self) -> None:
        Mapper.__post_init__(self)
        FixedKeyMapper(self.downstream_key)

    @property
    def is_rollup(self) -> bool:
        return True

    @property
    def needs_known(self) -> bool:
        return True

    def to_downstream(self, key: str) -> tuple[str, ...]:
        return (self.downstream_key,)

    def upstream_keys(self, downstream_key: str) -> None:
        return None


@dataclass(frozen=True, slots=True)
class AllPartitionsMapper(_OfKnown):
    """Every known key of the upstream is needed for the one downstream key.

    :param downstream_key: the key of the run that takes all of them.
    """

    downstream_key: str = "all"
    wait_policy: WaitPolicy = field(default_factory=WaitForAll)

    def __post_init__(self) -> None:
        _OfKnown.__post_init__(self)
        within("wait_policy", check_policy, self.wait_policy)

    def required(self, downstream_key: str, known: Sequence[str] = ()) -> tuple[str, ...]:
        FixedKeyMapper(self.downstream_key).representative(downstream_key)
        return tuple(dict.fromkeys(known))


@dataclass(frozen=True, slots=True)
class LatestPartitionMapper(_OfKnown):
    """Only the newest known key of the upstream is needed for the one downstream key."""

    downstream_key: str = "latest"

    @property
    def wait_policy(self) -> WaitPolicy:
        return WaitForAll()

    def required(self, downstream_key: str, known: Sequence[str] = ()) -> tuple[str, ...]:
        FixedKeyMapper(self.downstream_key).representative(downstream_key)
        return tuple(known[-1:])
