"""Many keys that are owed in the same way, as one line: a month of hours is three of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate, groupby

from core.models import Asset, Dag
from scheduling import dynamic, listening
from scheduling.algebra.choosing import select
from scheduling.algebra.conditions import Leaf
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.keys import split_segments
from scheduling.algebra.phrases import key_list
from scheduling.algebra.selections import quoted
from scheduling.algebra.subsets import Subset
from scheduling.algebra.verdicts import Verdict
from scheduling.board.excerpts import Excerpt
from scheduling.board.room import written
from scheduling.expected import Owed

FEWEST = 4
"""Fewer are told one by one."""

MOST_RANGED = 2000
"""Keys that may be one range: to see whether they are, each is looked at."""

LONGEST = timedelta(days=800)
"""By then whatever period has begun is over."""

MOST_SELECTED, LONGEST_SELECTION = 60, 4000
"""Keys that a selection names one by one, and how many bytes it is, as addresses have it."""

MOST_TOLD = 100
"""Groups that a page tells of, if their keys are short."""


@dataclass(frozen=True, slots=True)
class Together:
    """Neighbours that are alike but for their key and when it was expected. `words` name them."""

    owed: tuple[Owed, ...]
    words: str = ""

    @property
    def first(self) -> Owed:
        return self.owed[0]

    @property
    def asset(self) -> Asset | None:
        return self.first.asset

    @property
    def dags(self) -> tuple[Dag, ...]:
        return self.first.dags

    @property
    def keys(self) -> list[str]:
        return [each.key for each in self.owed]

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        """When the first and the last of them were expected, if that is known."""
        known = [each.expected.at for each in self.owed if each.expected.at]
        return (min(known), max(known)) if known else None

    @property
    def selection(self) -> str:
        """What one types to select them; nothing if they are too many to be named, or cannot come."""
        if self.first.expected.is_never:
            return ""
        text = _range(self.asset, self.keys)
        if not text and len(self.owed) <= MOST_SELECTED:
            text = ", ".join(quoted(each.key, None) for each in self.owed)
        return text if written(text) <= LONGEST_SELECTION else ""


def with_room(groups: Sequence[Together], most: int, *, listed: int, first: int = 0) -> Excerpt[Together]:
    """Those from the `first` on whose keys are `most` bytes together, as addresses have them; at least one.

    :param listed: how many bytes the list of the keys of each has, where they are told of as one.
    """
    shown = groups[first : first + MOST_TOLD]
    weights = (_links(each) if not each.words else min(listed, _listed(each)) for each in shown)
    count = max(1, sum(end <= most for end in accumulate(weights)))
    return Excerpt(shown[:count], len(groups), first)


def together(owed: Sequence[Owed], verdict: Verdict | None) -> list[Together]:
    """`owed`, neighbours that are alike as one; few of them stay alone.

    :param verdict: on the held run that lacks them: it knows among which keys they are.
    """
    among = {each.leaf: (each.required or (), each.noun) for each in (verdict.progress if verdict else ())}
    return [group for _, alike in groupby(owed, _manner) for group in _grouped(tuple(alike), among)]


def _links(group: Together) -> int:
    """Bytes of a key that is told of alone: it stands in the links to it and to what can be done."""
    return (2 + len(group.dags)) * written(group.first.key)


def _listed(group: Together) -> int:
    return sum(map(written, group.keys))


def _grouped(alike: tuple[Owed, ...], among: dict[Leaf, tuple[tuple[str, ...], str]]) -> Iterator[Together]:
    if len(alike) < FEWEST or not all(each.key for each in alike):
        yield from (Together((each,)) for each in alike)
        return
    required, noun = among.get(alike[0].leaf, ((), "keys"))
    keys = tuple(each.key for each in alike)
    known = frozenset(required)
    yield Together(alike, key_list(keys, required if known.issuperset(keys) else keys, noun))


def _range(asset: Asset | None, keys: Sequence[str]) -> str:
    """The keys as one range, where their asset has just those between the first and the last of them."""
    try:
        definition = listening.partitions_of(asset) if asset and len(keys) <= MOST_RANGED else None
        if definition is None:
            return ""
        definition = dynamic.bound(definition)
        date = definition.partition_date(keys[-1])
        by = date + LONGEST if date else None
        text = _between(keys, definition.delimiter if isinstance(definition, MultiPartitions) else None)
        meant = select(text, definition, by) if text else Subset()
        return text if meant == Subset.of(definition.index(key, by) for key in keys) else ""
    except PartitionError:
        return ""


def _between(keys: Sequence[str], delimiter: str | None) -> str:
    """The range from the first key to the last, if they differ in one segment only; else nothing."""
    first, last = (split_segments(key, delimiter) if delimiter else (key,) for key in (keys[0], keys[-1]))
    if sum(one != other for one, other in zip(first, last, strict=True)) != 1:
        return ""
    written = (
        quoted(one, delimiter) if one == other else f"[{quoted(one, delimiter)}...{quoted(other, delimiter)}]"
        for one, other in zip(first, last, strict=True)
    )
    return (delimiter or "").join(written)


def _manner(owed: Owed) -> tuple[object, ...]:
    """What neighbours must share."""
    return (
        owed.leaf,
        tuple(dag.pk for dag in owed.dags),
        tuple(sensor.pk for sensor in owed.sensors),
        owed.expected.at is None,
        owed.expected.words if owed.expected.at is None else "",
        owed.attempt.state if owed.attempt else "",
        owed.held is not None,
    )
