"""When the wall times of a cron come about in a zone: once, twice or not at all where its clocks change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from scheduling.algebra.cron import Cron
from scheduling.algebra.transitions import Change, Stretch, stretches, stretches_back

Gap = Literal["shift", "skip"]
Fold = Literal["first", "last", "both"]
GAPS: tuple[Gap, ...] = ("shift", "skip")
FOLDS: tuple[Fold, ...] = ("first", "last", "both")

# 29 February on a given weekday comes every 28 years, or 40 across a century without a leap year.
_RAREST = timedelta(days=366 * 45)
_INSTANT = timedelta(microseconds=1)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The instants (UTC) of a cron in a zone, strictly increasing.

    A fixed time (`30 2 * * *`) that clocks skip happens at the first instant after the gap (`gap="shift"`) or
    not at all, and one that they repeat happens at the `first`, the `last` or `both` of its instants. A cron
    by the interval (`*/15 * * * *`) happens whenever clocks show its times. A day that a zone left out
    altogether (Pacific/Apia, 2011-12-30) has none.
    """

    cron: Cron
    zone: ZoneInfo
    gap: Gap = "shift"
    fold: Fold = "first"

    def between(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """The instants in [start, end), oldest first; generated as they are asked for."""
        for stretch in stretches(self.zone, start, end):
            first, last = self._walls(stretch)
            shifted = self._shifted(stretch)
            if shifted is not None:
                yield shifted
            for midnight, times in self.cron.days(first, last):
                base = midnight.replace(tzinfo=UTC) - stretch.offset
                for time in times:
                    yield base + time

    def between_back(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """The instants in [start, end), newest first."""
        for stretch in stretches_back(self.zone, start, end):
            first, last = self._walls(stretch)
            for midnight, times in self.cron.days_back(first, last):
                base = midnight.replace(tzinfo=UTC) - stretch.offset
                for time in times:
                    yield base + time
            shifted = self._shifted(stretch)
            if shifted is not None:
                yield shifted

    def after(self, instant: datetime) -> datetime | None:
        """The first instant after that one; none if the next 45 years have none."""
        return next(self.between(instant + _INSTANT, instant + _RAREST), None)

    def before(self, instant: datetime) -> datetime | None:
        """The last instant before that one."""
        return next(self.between_back(instant - _RAREST, instant), None)

    def contains(self, instant: datetime) -> bool:
        return next(self.between(instant, instant + _INSTANT), None) is not None

    def _walls(self, stretch: Stretch) -> tuple[datetime, datetime]:
        """The wall times of a stretch that count: fixed times count in one pass of a repetition only."""
        first = stretch.start.replace(tzinfo=None) + stretch.offset
        last = stretch.end.replace(tzinfo=None) + stretch.offset
        if self.cron.wild or self.fold == "both":
            return first, last
        if self.fold == "first" and stretch.entered and stretch.entered.repeats:
            first = max(first, stretch.entered.walls[1])
        if self.fold == "last" and stretch.left and stretch.left.repeats:
            last = min(last, stretch.left.walls[0])
        return first, last

    def _shifted(self, stretch: Stretch) -> datetime | None:
        """The start of the stretch, if fixed times were skipped there and none is due just then."""
        change = stretch.entered
        if self.cron.wild or self.gap == "skip" or change is None or change.repeats:
            return None
        if change.at != stretch.start or not self._skips(change):
            return None
        resumed = change.walls[1]
        return None if any(self.cron.walls(resumed, resumed + _INSTANT)) else change.at

    def _skips(self, change: Change) -> bool:
        start, end = change.walls
        return any(not _left_out(wall, start, end) for wall in self.cron.walls(start, end))


def _left_out(wall: datetime, start: datetime, end: datetime) -> bool:
    """Whether the whole date of `wall` lies in the gap."""
    midnight = wall.replace(hour=0, minute=0, second=0)
    return start <= midnight and midnight + _DAY <= end
