"""Where a key stands in a calendar: read from the key as it is written, never converted between zones.

A label is a calendar moment cut to its unit: `2026`, `2026-03`, `2026-03-10`, `2026-03-10T09`,
`2026-03-10T09:30`, `2026-W11`, `2026-Q1`. Labels of one unit sort as time does, and a label begins with the
labels of the periods it lies in.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from scheduling.algebra.errors import PartitionError
from scheduling.algebra.keys import split_segments

YEAR, MONTH, DAY, HOUR, MINUTE = 4, 7, 10, 13, 16
"""The length of a label of each unit."""

FEWEST_OTHERS = 8
"""Keys of which one may be called far from the others."""

_YEAR = r"(?!0000)[0-9]{4}"
_MONTH = r"(?:0[1-9]|1[0-2])"
_WEEK = r"W(?:0[1-9]|[1-4][0-9]|5[0-3])"
_SIXTIETH = r"[0-5][0-9]"
_CLOCK = rf"[T ](?:[01][0-9]|2[0-3])(?::?{_SIXTIETH}(?::?{_SIXTIETH}(?:[.,][0-9]+)?)?)?"
_ZONE = r"(?:Z|[+-][0-9]{2}:?[0-9]{2})"
WRITTEN = re.compile(
    rf"(?P<period>{_YEAR}(?:-{_WEEK}|-Q[1-4]|-{_MONTH})?)"
    rf"|(?P<day>{_YEAR}-{_MONTH}-[0-9]{{2}})(?P<clock>{_CLOCK})?{_ZONE}?(?: \({_WEEK}\))?"
)


@dataclass(frozen=True, slots=True)
class Place:
    """One key: its label, and the segments that are no time."""

    key: str
    label: str = ""
    others: tuple[str, ...] = ()


@lru_cache(maxsize=400_000)
def label_of(text: str) -> str:
    """The label of one segment; empty if it is no moment, nor one that ever was. Seconds are dropped."""
    found = WRITTEN.fullmatch(text)
    if not found or (found["day"] and not _is_day(found["day"])):
        return ""
    if not found["clock"]:
        return found["period"] or found["day"]
    digits = re.sub("[^0-9]", "", found["clock"])
    return f"{found['day']}T{digits[:2]}" + (f":{digits[2:4]}" if len(digits) > 2 else "")


def places(keys: Sequence[str]) -> list[Place]:
    """Each key with its label, in the given order.

    The time is the segment that is a moment in nearly every key; a stray key that has none there, or one
    coarser than usual or very far from all others, has no label, and where there is no such segment no key
    has one. Units that say nothing are cut off: hourly keys written to the second have labels of hours.
    """
    split = [segments_of(key) for key in keys]
    axis = _time_axis(split)
    if axis is None:
        return [
            Place(key, "", parts if len(parts) > 1 else ()) for key, parts in zip(keys, split, strict=True)
        ]
    labels = [label_of(parts[axis]) if len(parts) > axis else "" for parts in split]
    usual, size = _unit(labels)
    far = _far_off(labels)
    return [
        Place(
            key,
            label[:size] if len(label) >= usual and label[:YEAR] not in far else "",
            parts[:axis] + parts[axis + 1 :],
        )
        for key, parts, label in zip(keys, split, labels, strict=True)
    ]


def unit_of(labels: Iterable[str]) -> int:
    """The length of the longest label: the unit of the finest."""
    return max((len(label) for label in labels), default=0)


def usual_unit(labels: Sequence[str]) -> int:
    """How much of these labels differs: hourly keys written to the second have labels of hours."""
    return _unit(labels)[1]


def within(label: str, zoom: str) -> bool:
    """Is `label` in the period `zoom`? A day is in its month; everything is in the empty period."""
    return label.startswith(zoom)


def segments_of(key: str) -> tuple[str, ...]:
    """The segments of a key; one of a key that cannot be split."""
    if "|" not in key:
        return (key,)
    try:
        return split_segments(key)
    except PartitionError:
        return (key,)


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _time_axis(split: Sequence[tuple[str, ...]]) -> int | None:
    """The last segment that is a moment in at least four of five keys."""
    width = max(map(len, split), default=0)
    for at in reversed(range(width)):
        moments = sum(1 for parts in split if len(parts) > at and label_of(parts[at]))
        if moments * 5 >= len(split) * 4:
            return at
    return None


def _far_off(labels: Sequence[str]) -> frozenset[str]:
    """Years of a few keys so far from all others that a calendar of all of them would be of years alone.

    A slip of the pen (1026, 2062) or a clock that was not set (1970): at most one key in ten, more than
    five years and twice as far from the others as these are from each other.
    """
    counts = Counter(label[:YEAR] for label in labels if label)
    years, total = sorted(counts), sum(counts.values())
    few = max(total // 10, int(total >= FEWEST_OTHERS))
    while len(years) > 1:
        low, high = int(years[1]) - int(years[0]), int(years[-1]) - int(years[-2])
        is_first = (low, counts[years[-1]]) > (high, counts[years[0]])
        rest = years[1:] if is_first else years[:-1]
        few -= counts[years[0] if is_first else years[-1]]
        if few < 0 or max(low, high) <= max(5, 2 * (int(rest[-1]) - int(rest[0]) + 1)):
            break
        years = rest
    return frozenset(counts) - frozenset(years)


def _unit(labels: Sequence[str]) -> tuple[int, int]:
    """The usual length of these labels, and how much of it differs.

    An `:00` or `T00` that all of them share is a matter of format.
    """
    lengths = Counter(len(label) for label in labels if label)
    usual = max(lengths, key=lambda length: (lengths[length], length))
    distinct = {label[:usual] for label in labels if len(label) >= usual}
    size = usual
    if len(distinct) > 1:
        for shorter in (HOUR, DAY):
            if size > shorter and len({label[shorter:size] for label in distinct}) == 1:
                size = shorter
    return usual, size
