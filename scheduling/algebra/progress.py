"""How far a held run has come with each asset that its Dag listens to."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from scheduling.algebra.closed import Closed
from scheduling.algebra.conditions import Leaf
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.mappers import Mapper
from scheduling.algebra.phrases import MOST_PIECES, key_list
from scheduling.algebra.policies import WaitForAll, WaitPolicy


@dataclass(frozen=True, slots=True)
class Held:
    """One held run as a value.

    `is_late`: another of its key has fired before. `received` maps each leaf to its counted keys, true where
    the key is fresh: nothing that fired before has consumed what it is now. `known` maps the leaves whose
    mappers need it to every key that has data; `present` are those whose assets have data and no partitions.
    `closed` says of leaves what their assets are to have, where nobody adds to that.
    """

    key: str
    opened_at: datetime
    last_event_at: datetime
    is_late: bool = False
    paused: bool = False
    received: Mapping[Leaf, Mapping[str, bool]] = field(default_factory=dict)
    known: Mapping[Leaf, tuple[str, ...]] = field(default_factory=dict)
    present: Collection[Leaf] = ()
    closed: Mapping[Leaf, Closed] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one asset is. `required` is None where any one key that maps here is enough.

    `present`: it has no partitions, and is there for every key. `consumed` are those of the received keys
    that are no more than what fired before. `reasons` say of unexpected keys why there is no such time.
    `never` are missing keys that the asset is not to have; `is_beyond`: without those it is never satisfied,
    however long it waits, as it is `defined`.
    `one`: a key that the asset is to have and that maps here, where others would do as well; empty if it is
    to have none such, None where that is not known.
    """

    leaf: Leaf
    required: tuple[str, ...] | None = None
    received: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    satisfied: bool = False
    renewed: bool = False
    unreachable: bool = False
    needed: int = 1
    noun: str = "keys"
    error: str = ""
    present: bool = False
    consumed: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    is_beyond: bool = False
    defined: str = ""
    one: str | None = None

    @property
    def required_count(self) -> int:
        return 1 if self.required is None else len(self.required)

    @property
    def received_count(self) -> int:
        return min(len(self.received), self.required_count)

    @property
    def renewed_count(self) -> int:
        """The received keys that nothing which fired before has consumed as they are now."""
        return int(self.renewed) if self.required is None else len(self.received) - len(self.consumed)

    def anew(self) -> "Progress":
        """The same where only that counts which has come since it last fired."""
        if self.required is None or not self.consumed:
            return self
        left = frozenset((*self.missing, *self.consumed))
        return replace(
            self,
            received=tuple(key for key in self.received if key not in left),
            missing=tuple(key for key in self.required if key in left),
        )

    def sentence(self) -> str:
        """What this asset still lacks: `3 of 24: hours 09, 11, 22`; if any will do, how many more."""
        if self.error:
            return self.error
        if self.one == "":
            return f"{self.leaf.words()} is to have {self.defined}, none of which maps here"
        if self.is_beyond:
            never = key_list(self.never, self.required or self.never, self.noun)
            return f"{self.leaf.words()} is to have {self.defined}, so not {never}"
        if self.required is None:
            return "any key that maps here"
        if self.unreachable:
            return f"needs {self.needed} of only {len(self.required)} {self.noun}"
        words = key_list(self.missing, self.required, self.noun)
        lacking = self.needed - len(self.received)
        if 0 < lacking < len(self.missing):
            have = "has" if len(self.received) == 1 else "have"
            come = f"{lacking} more of any; {len(self.received)} of at least {self.needed} {have} come"
            return f"{come}; missing: {words}" if len(self.missing) <= MOST_PIECES else come
        return f"{len(self.missing)} of {len(self.required)}: {words}"


def progress_of(leaf: Leaf, mapper: Mapper, held: Held, now: datetime) -> Progress:
    """What `held` has of the keys that `mapper` requires of one asset. Cost grows with these keys."""
    received = held.received.get(leaf, {})
    if leaf in held.present:
        return Progress(leaf, required=(), satisfied=True, renewed=True, present=True)
    try:
        required = mapper.required(held.key, held.known.get(leaf, ()))
    except PartitionError as error:
        return Progress(leaf, received=tuple(received), error=str(error))
    if required is None:
        return of_any(leaf, mapper, held)
    policy = (mapper.wait_policy or WaitForAll()).after_waiting(now - held.opened_at)
    wanted = frozenset(required)
    counted = _counted(mapper, received)
    arrived = tuple(key for key in required if key in counted)
    fresh = sum(counted[key] for key in arrived)
    impossible = policy.unreachable(len(required))
    unexpected = tuple(key for key in received if not _is_among(mapper, key, wanted))
    missing = tuple(key for key in required if key not in counted)
    closed = None if policy.satisfied(len(arrived), len(required)) else held.closed.get(leaf)
    never = closed.never(mapper, missing) if closed else ()
    return Progress(
        leaf,
        required=required,
        received=arrived,
        missing=missing,
        unexpected=unexpected,
        satisfied=not impossible and policy.satisfied(len(arrived), len(required)),
        renewed=not impossible and policy.satisfied(fresh, len(required)),
        unreachable=impossible,
        consumed=tuple(key for key in arrived if not counted[key]),
        needed=policy.threshold(len(required)),
        noun=mapper.member_noun,
        reasons=tuple(dict.fromkeys(filter(None, map(mapper.never_was, unexpected)))),
        never=never,
        is_beyond=bool(never) and len(required) - len(never) < _in_the_end(policy, len(required)),
        defined=closed.definition.words() if closed and never else "",
    )


def why_not_counted(mapper: Mapper, key: str, required: Collection[str] | None) -> str:
    """Why `key`, mapped to a downstream key that needs `required`, does not count there; empty if it does.

    To a mapper that `needs_known` each key that comes is known by then: it passes over none.
    """
    if required is None or mapper.needs_known or _is_among(mapper, key, required):
        return ""
    return mapper.never_was(key) or "it is none of the keys that are needed"


def of_any(leaf: Leaf, mapper: Mapper, held: Held) -> Progress:
    """Progress where any one key that maps to the held run is enough."""
    received, closed = held.received.get(leaf, {}), held.closed.get(leaf)
    if received or closed is None:
        anew = any(received.values())
        return Progress(leaf, received=tuple(received), satisfied=bool(received), renewed=anew)
    never, one, is_beyond = _to_come(mapper, held.key, closed)
    defined = closed.definition.words() if never or is_beyond else ""
    return Progress(leaf, never=never, one=one, is_beyond=is_beyond, defined=defined)


def _to_come(mapper: Mapper, key: str, closed: Closed) -> tuple[tuple[str, ...], str | None, bool]:
    """What maps to `key` and is not to come; one that is, where nobody can list all; whether none is."""
    try:
        keys = mapper.upstream_keys(key)
        if keys is None:
            one = closed.one_for(mapper, key)
            return (), one, one == ""
        never = closed.never(mapper, keys) if keys else ()
    except Exception:  # a plug-in's mapper may raise anything; what it counts is not affected
        return (), None, False
    return never, None, bool(keys) and len(never) == len(keys)


def _in_the_end(policy: WaitPolicy, required: int) -> int:
    """How many of `required` keys must have arrived when `policy` changes its mind no more."""
    patience = policy.patience()
    return (policy if patience is None else policy.after_waiting(patience)).threshold(required)


def _is_among(mapper: Mapper, key: str, required: Collection[str]) -> bool:
    return mapper.counts_as(key) in required


def _counted(mapper: Mapper, received: Mapping[str, bool]) -> dict[str, bool]:
    """The required keys as which the received ones count, each fresh if one of them is."""
    counted: dict[str, bool] = {}
    for key, fresh in received.items():
        member = mapper.counts_as(key)
        counted[member] = fresh or counted.get(member, False)
    return counted
