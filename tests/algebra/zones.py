"""Every way in which clocks go, once: what holds for one zone of a group holds for all of it."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

DAY, SECOND = timedelta(days=1), timedelta(seconds=1)

CHANGING = [
    "America/New_York",
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Africa/Casablanca",
]
"""Zones whose clocks change, each in a way of its own."""

ZONES = [
    "UTC",
    "America/New_York",
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Asia/Kolkata",
]
"""Some of these, and two whose clocks do not change."""


@lru_cache
def alike(year: int) -> dict[str, tuple[str, ...]]:
    """All zones, by the first of each group whose clocks agree from the year before `year` to the one after.

    Some 600 names are about 100 ways to go, so that a walk over every minute can be had of each of them.
    """
    first, last = datetime(year - 1, 1, 1, tzinfo=UTC), datetime(year + 2, 1, 1, tzinfo=UTC)
    groups: dict[tuple, list[str]] = {}
    for name in sorted(available_timezones()):
        groups.setdefault(_offsets(ZoneInfo(name), first, last), []).append(name)
    return {names[0]: tuple(names) for names in groups.values()}


def _offsets(zone: ZoneInfo, first: datetime, last: datetime) -> tuple:
    """What clocks are ahead of UTC at first, and each instant and offset that they change to."""
    at, offset = first, first.astimezone(zone).utcoffset()
    found = [(at, offset)]
    while at < last:
        ahead = at + DAY
        if (later := ahead.astimezone(zone).utcoffset()) != offset:
            found.append((_changed(zone, at, ahead), later))
        at, offset = ahead, later
    return tuple(found)


def _changed(zone: ZoneInfo, low: datetime, high: datetime) -> datetime:
    """The first second in (low, high] at which clocks no longer show the offset of `low`."""
    offset = low.astimezone(zone).utcoffset()
    while high - low > SECOND:
        middle = low + (high - low) // SECOND // 2 * SECOND
        low, high = (middle, high) if middle.astimezone(zone).utcoffset() == offset else (low, middle)
    return high
