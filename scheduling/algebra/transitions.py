"""When the clocks of a zone change, and the spans between in which its offset stands still.

`zoneinfo` answers only "what is the offset at this instant". Whoever asks for many instants of a zone (ticks,
partitions) walks these spans instead and does plain arithmetic inside each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo

# A little inside what datetime can hold, so that adding an offset to a bound never overflows.
EARLIEST = datetime(2, 1, 1, tzinfo=UTC)
LATEST = datetime(9998, 1, 1, tzinfo=UTC)

# In the whole 2025b database no two changes that cancel out are closer than 3.9 days.
_PROBE = timedelta(days=3)
_SECOND = timedelta(seconds=1)
# Clocks have gone back by a whole day (Juneau 1867) and never by more.
_LONGEST_REPEAT = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Change:
    """The first instant (UTC) at which a zone shows the offset `after` instead of `before`."""

    at: datetime
    before: timedelta
    after: timedelta

    @property
    def repeats(self) -> bool:
        """Whether clocks go back here, so that some wall times come twice."""
        return self.after < self.before

    @property
    def walls(self) -> tuple[datetime, datetime]:
        """The wall times that are repeated or skipped: from the first up to but not including the second."""
        shown = (self.at.replace(tzinfo=None) + self.before, self.at.replace(tzinfo=None) + self.after)
        return min(shown), max(shown)


@dataclass(frozen=True, slots=True)
class Stretch:
    """[start, end) in UTC with one offset, and the changes at or close beyond its ends, if any."""

    start: datetime
    end: datetime
    offset: timedelta
    entered: Change | None
    left: Change | None


@lru_cache(maxsize=8192)
def changes(zone: ZoneInfo, year: int) -> tuple[Change, ...]:
    """Every change of offset in a UTC year. Costs some 120 look-ups the first time."""
    found = []
    probe = datetime(year, 1, 1, tzinfo=UTC) - _SECOND
    end = datetime(year + 1, 1, 1, tzinfo=UTC) - _SECOND
    before = offset_at(zone, probe)
    while probe < end:
        ahead = min(probe + _PROBE, end)
        after = offset_at(zone, ahead)
        if after != before:
            found.append(Change(change_between(zone, probe, ahead), before, after))
        probe, before = ahead, after
    return tuple(found)


def stretches(zone: ZoneInfo, start: datetime, end: datetime) -> Iterator[Stretch]:
    """The spans of constant offset in [start, end), oldest first, cut at the turn of each UTC year."""
    start, end = max(start, EARLIEST), min(end, LATEST)
    for year in range(start.year, end.year + 1):
        yield from _year(zone, year, start, end)


def stretches_back(zone: ZoneInfo, start: datetime, end: datetime) -> Iterator[Stretch]:
    """The same spans, newest first."""
    start, end = max(start, EARLIEST), min(end, LATEST)
    for year in range(end.year, start.year - 1, -1):
        yield from reversed(_year(zone, year, start, end))


def next_fold(zone: ZoneInfo, after: datetime, *, years: int = 12) -> Change | None:
    """The next change at which clocks go back, sought over `years` years."""
    for year in range(after.year, after.year + years + 1):
        for change in changes(zone, year):
            if change.repeats and change.at > after:
                return change
    return None


@lru_cache(maxsize=4096)
def observes_folds(zone: ZoneInfo, since: int = 2020) -> bool:
    """Whether clocks in `zone` went back in some year since that one, or will by the rules in force."""
    return next_fold(zone, datetime(since, 1, 1, tzinfo=UTC), years=max(2037 - since, 12)) is not None


def offset_at(zone: ZoneInfo, at: datetime) -> timedelta:
    """What clocks in `zone` are ahead of UTC at an instant."""
    return at.astimezone(zone).replace(tzinfo=UTC) - at


def change_between(zone: ZoneInfo, low: datetime, high: datetime) -> datetime:
    """The first whole second in (low, high] with the offset that `high` has and `low` has not."""
    offset = offset_at(zone, high)
    while high - low > _SECOND:
        middle = low + timedelta(seconds=(high - low) // _SECOND // 2)
        if offset_at(zone, middle) == offset:
            high = middle
        else:
            low = middle
    return high.replace(microsecond=0)


def _year(zone: ZoneInfo, year: int, start: datetime, end: datetime) -> list[Stretch]:
    low = max(start, datetime(year, 1, 1, tzinfo=UTC))
    high = min(end, datetime(year + 1, 1, 1, tzinfo=UTC))
    inside = [change.at for change in changes(zone, year) if low < change.at < high]
    return [
        Stretch(first, last, offset_at(zone, first), _change_before(zone, first), _change_after(zone, last))
        for first, last in pairwise([low, *inside, high])
        if first < last
    ]


def _change_before(zone: ZoneInfo, at: datetime) -> Change | None:
    """The last change up to and including `at`, as far back as its repeated wall times can reach."""
    earliest = max(at - _LONGEST_REPEAT, EARLIEST)
    near = [
        change
        for year in {earliest.year, at.year}
        for change in changes(zone, year)
        if earliest < change.at <= at
    ]
    return max(near, key=lambda change: change.at, default=None)


def _change_after(zone: ZoneInfo, at: datetime) -> Change | None:
    """The first change from `at` on, as far ahead as wall times before it can be repeated."""
    latest = at + _LONGEST_REPEAT
    near = [
        change
        for year in {at.year, latest.year}
        for change in changes(zone, year)
        if at <= change.at < latest
    ]
    return min(near, key=lambda change: change.at, default=None)
