"""Subsets of keys that are named, and as people type them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from scheduling.algebra.partitions import Partitions
from scheduling.algebra.subsets import Range, Subset


def subset_of(definition: Partitions, keys: Iterable[str], now: datetime | None = None) -> Subset:
    """The numbers of keys.

    :raises InvalidKey: for the first that is not one of the definition.
    """
    return Subset.of(definition.index(key, now) for key in keys)


def text_of(definition: Partitions, subset: Subset, now: datetime | None = None) -> str:
    """The subset as a person would type it: `[2026-03-01...2026-03-10], 2026-04-01`."""
    return ", ".join(_range_text(definition, each, now) for each in subset.ranges)


def _range_text(definition: Partitions, each: Range, now: datetime | None) -> str:
    start, stop = each
    first, last = definition.key_at(start, now), definition.key_at(stop - 1, now)
    if stop - start == 1:
        return first
    return f"{first}, {last}" if stop - start == 2 else f"[{first}...{last}]"
