"""The numbers of many keys at once, cheaper than one after the other."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.partitions import Partitions
from scheduling.algebra.time_partitions import TimePartitions

_ALONE = 40
_DENSE = 25
"""Keys of time are looked up in the list of all between them where one in so many is asked for."""


def numbers_of(definition: Partitions, keys: Collection[str], now: datetime | None = None) -> dict[str, int]:
    """The number of each of `keys` that the definition has; the others are left out.

    Keys of time that lie close together cost about a hundredth of `index` each.
    """
    if isinstance(definition, TimePartitions):
        return _of_time(definition, keys)
    if isinstance(definition, MultiPartitions):
        return _of_segments(definition, keys, now)
    if len(keys) <= _ALONE and not definition.grows:
        return {key: definition.index(key, now) for key in keys if definition.contains(key, now)}
    numbers = {key: number for number, key in enumerate(definition.keys(now=now))}
    return {key: numbers[key] for key in keys if key in numbers}


def there(definition: Partitions, keys: Collection[str], now: datetime) -> set[str]:
    """Those of `keys` that the definition has at `now`; as cheap as their numbers."""
    if not isinstance(definition, MultiPartitions):
        size = definition.count(now)
        return {key for key, number in numbers_of(definition, keys, now).items() if number < size}
    split = segments_of(definition, keys)
    known = [
        there(part, {segments[place] for segments in split.values()}, now)
        for place, (_, part) in enumerate(definition.by_name)
    ]
    return {
        key
        for key, segments in split.items()
        if all(segment in of for segment, of in zip(segments, known, strict=True))
    }


def segments_of(definition: MultiPartitions, keys: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The segments of those of `keys` that have as many as the definition."""
    split: dict[str, tuple[str, ...]] = {}
    for key in keys:
        try:
            split[key] = definition.segments(key)
        except PartitionError:
            continue
    return split


def _of_time(definition: TimePartitions, keys: Collection[str]) -> dict[str, int]:
    in_order = sorted(keys)
    found: dict[str, int] = {}
    if len(in_order) > _ALONE:
        ends = _alone(definition, (in_order[0], in_order[-1]))
        if len(ends) == 2:
            first, last = sorted(ends.values())
            if last - first <= _DENSE * len(in_order):
                numbers = {key: first + at for at, key in enumerate(definition.keys(first, last + 1))}
                found = {key: numbers[key] for key in in_order if key in numbers}
    return found | _alone(definition, [key for key in in_order if key not in found])


def _alone(definition: Partitions, keys: Collection[str]) -> dict[str, int]:
    found = {}
    for key in keys:
        try:
            found[key] = definition.index(key)
        except PartitionError:
            continue
    return found


def _of_segments(definition: MultiPartitions, keys: Collection[str], now: datetime | None) -> dict[str, int]:
    split = segments_of(definition, keys)
    turns = []
    for turn, place in enumerate(definition.by_speed()):
        part = definition.by_name[place][1]
        numbers = numbers_of(part, {segments[place] for segments in split.values()}, now)
        turns.append((place, part.count(now) if turn else 0, numbers))
    found = {}
    for key, segments in split.items():
        number = 0
        for place, size, numbers in turns:
            at = numbers.get(segments[place])
            if at is None:
                break
            number = number * size + at
        else:
            found[key] = number
    return found
