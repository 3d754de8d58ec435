"""Spans of time as people write them: `10m`, `6h`, `1d12h`."""

from __future__ import annotations

import re
from datetime import timedelta

from scheduling.algebra.errors import InvalidDefinition

LONGEST = timedelta(days=36_500)
"""No instant that is so far from one of ours is beyond what a calendar has."""

_UNITS = {
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
}
_NAMES = {"d": "day", "h": "hour", "m": "minute", "s": "second"}
_TEXT = re.compile(r"(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?")


def duration(value: object) -> timedelta:
    """A positive span, from a timedelta, a number of seconds, or text such as `1d12h`.

    :raises InvalidDefinition: for anything else.
    """
    found = _read(value)
    if found is None or found <= timedelta(0):
        raise InvalidDefinition(f"{value!r} is not a span of time; write it like 10m, 6h or 1d12h")
    if found > LONGEST:
        raise InvalidDefinition(f"{value!r} is too long: a span of time has {LONGEST.days}d at most")
    return found


def duration_text(span: timedelta) -> str:
    """The span as text that `duration` reads: `1d12h`."""
    return "".join(f"{count}{unit}" for unit, count in _counts(span)) or "0s"


def duration_words(span: timedelta) -> str:
    """The span for a sentence: `1 day 12 hours`."""
    words = [f"{count} {_NAMES[unit]}{'s' * (count > 1)}" for unit, count in _counts(span)]
    return " ".join(words) or "0 seconds"


def _read(value: object) -> timedelta | None:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return timedelta(seconds=value)
        except OverflowError:
            return timedelta.max if value > 0 else None
        except ValueError:
            return None
    found = _TEXT.fullmatch(value) if isinstance(value, str) else None
    if not found:
        return None
    counts = zip(_UNITS.values(), found.groups(), strict=True)
    try:
        return sum((unit * int(count) for unit, count in counts if count), timedelta(0))
    except OverflowError:
        return timedelta.max


def _counts(span: timedelta) -> list[tuple[str, int]]:
    counts = []
    for unit, length in _UNITS.items():
        count, span = divmod(span, length)
        if count:
            counts.append((unit, count))
    return counts
