"""When the wall times of a pattern come about in a zone: once, twice, or not at all where clocks change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from scheduling.algebra import walls
from scheduling.algebra.cron import Cron
from scheduling.algebra.transitions import EARLIEST, LATEST, Change, Stretch, stretches, stretches_back
from scheduling.algebra.walls import Pattern

Gap = Literal["shift", "skip"]
Fold = Literal["first", "last", "both"]
GAPS: tuple[Gap, ...] = ("shift", "skip")
FOLDS: tuple[Fold, ...] = ("first", "last", "both")

_HOURLY = tuple(timedelta(hours=hour) for hour in range(24))

# 29 February on a given weekday comes every 28 years, or 40 across a century without a leap year.
_RAREST = timedelta(days=366 * 45)
# Nobody numbers ticks beyond this; without a bound a wild number would walk to the end of the calendar.
_NUMBERED = timedelta(days=366 * 200)
_INSTANT = timedelta(microseconds=1)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The instants (UTC) of a pattern in a zone, strictly increasing.

    A time that clocks skip happens at the first instant after the gap (`shift`), or not at all (`skip`); with
    `resume` it is the start of a period of which some is left. With `shift`, a day that a zone left out
    altogether (Pacific/Apia, 2011-12-30) has none. A time that clocks repeat happens at the `first`, the
    `last` or `both` of its instants.

    `whole` is the pattern before exclusions, if there are any: what they leave out is not moved to.
    """

    pattern: Pattern
    zone: ZoneInfo
    gap: Gap | Literal["resume"] = "shift"
    fold: Fold = "first"
    whole: Pattern | None = None
    _years: dict[int, int] = field(default_factory=dict, init=False, compare=False, repr=False)

    def between(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """The instants in [start, end), oldest first; generated as they are asked for."""
        for stretch in stretches(self.zone, start, end):
            first, last = self._walls(stretch)
            if self._shifts(stretch):
                yield stretch.start
            for midnight, times in walls.by_day(self.pattern, first, last):
                base = midnight.replace(tzinfo=UTC) - stretch.offset
                for time in times:
                    yield base + time

    def between_back(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """The instants in [start, end), newest first."""
        for stretch in stretches_back(self.zone, start, end):
            first, last = self._walls(stretch)
            for midnight, times in walls.by_day(self.pattern, first, last, -1):
                base = midnight.replace(tzinfo=UTC) - stretch.offset
                for time in times:
                    yield base + time
            if self._shifts(stretch):
                yield stretch.start

    def after(self, instant: datetime) -> datetime | None:
        """The first instant after that one; none if the next 45 years have none."""
        until = LATEST if instant > LATEST - _RAREST else instant + _RAREST
        return next(self.between(instant + _INSTANT, until), None)

    def before(self, instant: datetime) -> datetime | None:
        """The last instant before that one."""
        since = EARLIEST if instant < EARLIEST + _RAREST else instant - _RAREST
        return next(self.between_back(since, instant), None)

    def contains(self, instant: datetime) -> bool:
        return next(self.between(instant, instant + _INSTANT), None) is not None

    def count(self, start: datetime, end: datetime) -> int:
        """How many instants lie in [start, end); costs a look at each year once, whatever their number."""
        if start >= end:
            return 0
        total, at = 0, start
        while at.year < end.year:
            turn = datetime(at.year + 1, 1, 1, tzinfo=UTC)
            total += self._in_year(at.year) if at == _turn(at.year) else self._count(at, turn)
            at = turn
        return total + self._count(at, end)

    def nth(self, start: datetime, number: int) -> datetime | None:
        """The instant from `start` on that `number` others precede; none beyond 200 years."""
        at, horizon = start, min(start, LATEST - _NUMBERED) + _NUMBERED
        if number == 0:
            return next(self.between(start, horizon), None)
        while at < horizon:
            turn = _turn(at.year + 1)
            here = self._in_year(at.year) if at == _turn(at.year) else self._count(at, turn)
            if number < here:
                return self._nth(at, turn, number)
            number -= here
            at = turn
        return None

    def _in_year(self, year: int) -> int:
        if year not in self._years:
            self._years[year] = self._count(_turn(year), _turn(year + 1))
        return self._years[year]

    def _count(self, start: datetime, end: datetime) -> int:
        total = 0
        for stretch in stretches(self.zone, start, end):
            total += walls.count(self.pattern, *self._walls(stretch)) + self._shifts(stretch)
        return total

    def _nth(self, start: datetime, end: datetime, number: int) -> datetime | None:
        for stretch in stretches(self.zone, start, end):
            if self._shifts(stretch):
                if number == 0:
                    return stretch.start
                number -= 1
            first, last = self._walls(stretch)
            here = walls.count(self.pattern, first, last)
            if number < here:
                wall = walls.nth(self.pattern, first, last, number)
                return None if wall is None else wall.replace(tzinfo=UTC) - stretch.offset
            number -= here
        return None

    def _walls(self, stretch: Stretch) -> tuple[datetime, datetime]:
        """The wall times of a stretch that count: a repeated one counts in the pass that `fold` names."""
        first = stretch.start.replace(tzinfo=None) + stretch.offset
        last = stretch.end.replace(tzinfo=None) + stretch.offset
        if self.fold == "first" and stretch.entered and stretch.entered.repeats:
            first = max(first, stretch.entered.walls[1])
        if self.fold == "last" and stretch.left and stretch.left.repeats:
            last = min(last, stretch.left.walls[0])
        return first, last

    def _shifts(self, stretch: Stretch) -> bool:
        """Whether times that were skipped happen at the start of the stretch, and none is due just then."""
        change = stretch.entered
        if self.gap == "skip" or change is None or change.repeats or change.at != stretch.start:
            return False
        resumed = change.walls[1]
        whole = self.whole or self.pattern
        return self._skips(change, whole) and not any(walls.walls(whole, resumed, resumed + _INSTANT))

    def _skips(self, change: Change, whole: Pattern) -> bool:
        start, end = change.walls
        if self.gap == "resume":
            last = max(walls.walls(whole, start, end), default=None)
            return last is not None and any(walls.walls(self.pattern, last, last + _INSTANT))
        skipped = walls.walls(self.pattern, start, end)
        return any(not _left_out(wall, start, end) for wall in skipped)


def occurrences_of(cron: Cron, zone: ZoneInfo, gap: Gap = "shift", fold: Fold = "first") -> Occurrences:
    """When a cron ticks. One by the interval (`*/15 * * * *`) ticks whenever clocks show its times.

    The hourly one ticks in every hour there is, also in what is left of one whose beginning was skipped.
    """
    if not cron.wild:
        return Occurrences(cron, zone, gap, fold)
    return Occurrences(cron, zone, "resume" if cron.times == _HOURLY else "skip", "both")


def _turn(year: int) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC)


def _left_out(wall: datetime, start: datetime, end: datetime) -> bool:
    """Whether the whole date of `wall` lies in the gap."""
    midnight = wall.replace(hour=0, minute=0, second=0)
    return start <= midnight and midnight + _DAY <= end
