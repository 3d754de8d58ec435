"""What a held run lacks, from the verdict on it: the fewest keys that let it fire, and when it is overdue.

Nothing here decides whether it may fire: that is `verdicts.judge`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import inf

from scheduling.algebra.conditions import All, Any, Expression, Leaf
from scheduling.algebra.mappers import Mapper
from scheduling.algebra.progress import Progress
from scheduling.algebra.verdicts import Kind, Late, Listening, Verdict

ExpectedAt = Callable[[Leaf, str], datetime | None]
"""When an upstream key should be there; none where nobody knows."""


BEYOND = 1_000_000
"""More keys than any condition needs."""


@dataclass(frozen=True, slots=True)
class Lack:
    """What one asset owes: `count` of `keys`, in order. `keys` is empty where none can be named.

    `problem`: why nothing that comes will do. `is_beyond`: the asset is not to have so many of them, `never`
    those that it is not: an empty one stands for all that nobody can name. `once`: those that were counted
    when one of the key fired before; they come anew.
    """

    leaf: Leaf
    keys: tuple[str, ...]
    count: int = 1
    problem: str = ""
    is_beyond: bool = False
    never: Collection[str] = ()
    once: Collection[str] = ()

    @property
    def spare(self) -> int:
        """How many of the keys may stay away."""
        return len(self.keys) - self.count


def lacks_of(
    listening: Listening,
    key: str,
    verdict: Verdict,
    *,
    is_late: bool = False,
    lost: Mapping[Leaf, Collection[str]] | None = None,
) -> tuple[Lack, ...]:
    """What each asset lacks that is not there yet for a held run of `key`.

    :param is_late: one of its key has fired before; where all must come anew, what has been consumed lacks.
    :param lost: what had been counted when one of its key fired before, and is not now.
    """
    anew = is_late and listening.late is Late.RESTART

    def lack(each: Progress) -> Lack:
        mapper = listening.mappers[each.leaf]
        return _with_once(_lack(each, mapper, key, anew), each, mapper, anew, (lost or {}).get(each.leaf, ()))

    lacking = (each for each in verdict.progress if not (each.renewed if anew else each.satisfied))
    return tuple(map(lack, lacking))


def fewest(condition: Expression, lacks: Sequence[Lack]) -> tuple[Lack, ...] | None:
    """Those of `lacks` that must go for `condition` to hold, as few keys as can be; none if none will do."""
    by_leaf = {lack.leaf: lack for lack in lacks}
    price, chosen = _cheapest(condition, by_leaf)
    if price == inf:
        return None
    for leaf in list(chosen):
        fewer = chosen - {leaf}
        if condition.holds(lambda other, fewer=fewer: other in fewer or other not in by_leaf):  # type: ignore[misc]
            chosen = fewer
    return tuple(lack for lack in lacks if lack.leaf in chosen)


def overdue_at(
    listening: Listening, verdict: Verdict, lacks: Sequence[Lack], expected_at: ExpectedAt
) -> datetime | None:
    """The first instant at which it cannot fire without a key that is overdue; none if that is not known.

    A key is overdue `late_after` its expected time. Keys are asked for in order, that of their times.
    """
    if verdict.kind is not Kind.WAITING or listening.late_after is None:
        return None
    ends = {lack.leaf: _end(lack, expected_at) for lack in lacks}
    for end in sorted({end for end in ends.values() if end}):
        late = {leaf for leaf, other in ends.items() if other and other <= end}
        if not listening.condition.holds(lambda leaf, late=late: leaf not in late):  # type: ignore[misc]
            return _later(end, listening.late_after)
    return None


def _later(end: datetime, late_after: timedelta) -> datetime | None:
    """So long after `end`; none if that is beyond all time."""
    try:
        return end + late_after
    except OverflowError:
        return None


def _lack(each: Progress, mapper: Mapper, key: str, anew: bool) -> Lack:
    if each.error or each.unreachable:
        return Lack(each.leaf, (), problem=each.sentence())
    if each.required is not None:
        spent = each.consumed if anew else ()
        wanted = frozenset(each.missing) | frozenset(spent)
        keys = tuple(required for required in each.required if required in wanted)
        return _that_can_come(each, keys, each.needed - (len(each.received) - len(spent)))
    try:
        return _that_can_come(each, (each.one,) if each.one else _that_map(mapper, key), 1)
    except Exception as error:  # a plug-in's mapper may raise anything; nobody can name a key then
        return Lack(each.leaf, (), problem=str(error) or type(error).__name__)


def _with_once(lack: Lack, each: Progress, mapper: Mapper, anew: bool, lost: Collection[str]) -> Lack:
    """`lack` with what was there once. Where any key will do, all stand for the one that was."""
    if each.required is None:
        return replace(lack, once=frozenset(lack.keys)) if lost or (anew and each.received) else lack
    once = frozenset((*(each.consumed if anew else ()), *(_counted_as(mapper, key) for key in lost)))
    return replace(lack, once=once) if once else lack


def _counted_as(mapper: Mapper, key: str) -> str:
    try:
        return mapper.counts_as(key)
    except Exception:  # a plug-in's mapper may raise anything; the key counted by what it said before
        return key


def _that_can_come(each: Progress, keys: tuple[str, ...], count: int) -> Lack:
    """Of `keys`, those that the asset is to have, if they are enough."""
    never = frozenset(keys or ("",) if each.one == "" else each.never)
    able = tuple(key for key in keys if key not in never) if never else keys
    if len(able) < count and (never or each.is_beyond):
        return Lack(each.leaf, keys, count, is_beyond=True, never=never)
    return Lack(each.leaf, able, count)


def _that_map(mapper: Mapper, key: str) -> tuple[str, ...]:
    """Upstream keys each of which maps to `key`; none if nobody can name one."""
    keys = mapper.upstream_keys(key)
    if keys is None:
        one = mapper.representative(key)
        return () if one is None else (one,)
    return keys


def _cheapest(condition: Expression, lacks: Mapping[Leaf, Lack]) -> tuple[float, frozenset[Leaf]]:
    """How many keys must come for `condition` to hold, and of which leaves."""
    if isinstance(condition, Any):
        return min((_cheapest(part, lacks) for part in condition.parts), key=lambda each: each[0])
    parts = condition.parts if isinstance(condition, All) else ()
    chosen = frozenset(leaf for part in parts for leaf in _cheapest(part, lacks)[1])
    if not parts:
        chosen = frozenset(leaf for leaf in condition.leaves() if leaf in lacks)
    return sum(_price(lacks[leaf]) for leaf in chosen), chosen


def _price(lack: Lack) -> float:
    """What is not to come of itself is dearer than whatever is."""
    return inf if lack.problem else lack.count + BEYOND * lack.is_beyond


def _end(lack: Lack, expected_at: ExpectedAt) -> datetime | None:
    """When so many of the keys should have come that the others are too few."""
    known: list[datetime] = []
    for key in lack.keys:
        if key not in lack.never and (at := expected_at(lack.leaf, key)):
            known.append(at)
        if len(known) > lack.spare:
            return max(known)
    return None
