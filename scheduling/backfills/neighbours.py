"""Which keys of a Dag stand side by side, so that a range of them means just those."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime

from core.models import Dag
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.keys import DEFAULT_DELIMITER
from scheduling.algebra.numbering import numbers_of, segments_of
from scheduling.algebra.partitions import Partitions
from scheduling.backfills import scope

Place = tuple[tuple[str, ...], int]
"""The other segments of a composite key, and where among those that share them it stands."""


def places_of(dag: Dag, keys: Collection[str], *, now: datetime) -> dict[str, Place]:
    """The place of each of `keys` that the Dag is known to have; the others have none.

    Of composite keys those side by side differ in the segment that time adds to, else in the last.

    :raises NotPartitioned, NotRunnable, BrokenDefinition: as `scope.of_dag`.
    """
    there = scope.of_dag(dag, now=now)
    definition = there.numbered
    if definition is None:
        return _among_seen(there.seen, keys)
    if isinstance(definition, MultiPartitions):
        return _of_segments(definition, keys)
    return {key: ((), number) for key, number in numbers_of(definition, keys).items()}


def _of_segments(definition: MultiPartitions, keys: Collection[str]) -> dict[str, Place]:
    along, split = _along(definition), segments_of(definition, keys)
    of_one: Partitions = definition.by_name[along][1]
    numbers = numbers_of(of_one, {segments[along] for segments in split.values()})
    return {
        key: ((*segments[:along], *segments[along + 1 :]), numbers[segments[along]])
        for key, segments in split.items()
        if segments[along] in numbers
    }


def _along(definition: MultiPartitions) -> int:
    slowest = definition.by_speed()[0]
    return slowest if definition.by_name[slowest][1].grows else len(definition.by_name) - 1


def _among_seen(seen: Collection[str], keys: Collection[str]) -> dict[str, Place]:
    wanted, passed = set(keys), Counter[str]()
    found: dict[str, Place] = {}
    for key in seen:
        before = key.rpartition(DEFAULT_DELIMITER)[0]
        if key in wanted:
            found[key] = ((before,), passed[before])
        passed[before] += 1
    return found
