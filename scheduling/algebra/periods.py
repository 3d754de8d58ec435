"""Periods of the calendar in a zone: where they start, and what comes next.

Instants are aware datetimes in UTC. A wall time is a naive datetime read in some zone. A local day that
clocks shorten or lengthen has the hours it really has, and a period whose first moments were skipped starts
at the first moment that exists.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import lru_cache, total_ordering
from typing import Literal
from zoneinfo import ZoneInfo

from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.transitions import EARLIEST, LATEST, change_between, changes, offset_at

WeekStart = Literal["monday", "sunday"]


@total_ordering
class Grain(Enum):
    """The length of a period; finer is less. A second is only ever what a key format resolves."""

    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Grain):
            return NotImplemented
        return _ORDER[self] < _ORDER[other]

    @property
    def is_subday(self) -> bool:
        """Shorter than a day, so that daylight saving can repeat or skip it."""
        return _ORDER[self] < _ORDER[Grain.DAY]

    def holds(self, member: Grain) -> bool:
        """Whether a period of this grain is made of whole `member` periods: a month is not made of weeks."""
        if member is Grain.WEEK:
            return False
        return member < self


_ORDER = {grain: order for order, grain in enumerate(Grain)}
LENGTHS = {
    Grain.SECOND: timedelta(seconds=1),
    Grain.MINUTE: timedelta(minutes=1),
    Grain.HOUR: timedelta(hours=1),
    Grain.DAY: timedelta(days=1),
    Grain.WEEK: timedelta(days=7),
}
_NO_OFFSET = timedelta(0)
MONTHS = {Grain.MONTH: 1, Grain.QUARTER: 3, Grain.YEAR: 12}


def grain_of(name: object) -> Grain:
    """The grain of that name.

    :raises InvalidDefinition: naming the grains there are.
    """
    if isinstance(name, Grain):
        return name
    try:
        return Grain(name)
    except ValueError:
        names = ", ".join(grain.value for grain in Grain if grain is not Grain.SECOND)
        raise InvalidDefinition(f"{name!r} is not a grain; use one of {names}") from None


def zone(name: object) -> ZoneInfo:
    """The zone of that IANA name, such as `Europe/Berlin`.

    :raises InvalidDefinition: if there is no such zone.
    """
    if isinstance(name, ZoneInfo) and name.key is not None:
        name = name.key
    if isinstance(name, str) and name:
        try:
            return _zone(name)
        except (LookupError, ValueError, OSError):
            pass
    raise InvalidDefinition(f"{name!r} is not a time zone; use an IANA name such as Europe/Berlin")


def week_starting(name: object) -> WeekStart:
    """`name` as the day on which weeks start.

    :raises InvalidDefinition: for anything but monday and sunday.
    """
    if name == "monday" or name == "sunday":
        return name
    raise InvalidDefinition(f"weeks cannot start on {name!r}; use monday or sunday")


def floor_wall(grain: Grain, wall: datetime, week_start: WeekStart = "monday") -> datetime:
    """The wall time at which the period that holds `wall` begins."""
    if grain is Grain.HOUR:
        return wall.replace(minute=0, second=0, microsecond=0)
    if grain is Grain.MINUTE:
        return wall.replace(second=0, microsecond=0)
    if grain is Grain.SECOND:
        return wall.replace(microsecond=0)
    if grain is Grain.DAY:
        return datetime(wall.year, wall.month, wall.day)
    if grain is Grain.WEEK:
        weekday = wall.weekday() if week_start == "monday" else wall.isoweekday() % 7
        return datetime(wall.year, wall.month, wall.day) - timedelta(days=weekday)
    months = MONTHS[grain]
    return datetime(wall.year, (wall.month - 1) // months * months + 1, 1)


def shift_wall(grain: Grain, wall: datetime, periods: int) -> datetime:
    """`wall`, the start of a period, moved by that many periods of the calendar.

    :raises OverflowError: beyond the years 1 to 9999.
    """
    if grain in LENGTHS:
        return wall + LENGTHS[grain] * periods
    year, month = divmod(wall.year * 12 + wall.month - 1 + MONTHS[grain] * periods, 12)
    if not 1 <= year <= 9999:
        raise OverflowError(f"{periods} {grain.value}s from {wall:%Y-%m-%d} is beyond the calendar")
    return wall.replace(year=year, month=month + 1)


def wall_of(instant: datetime, zone: ZoneInfo) -> datetime:
    """What clocks in `zone` show at `instant`."""
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)


def instants_of(wall: datetime, zone: ZoneInfo) -> tuple[datetime, ...]:
    """When clocks in `zone` show `wall`: never (skipped), once, or twice (repeated), in order."""
    first = wall.replace(tzinfo=zone, fold=0)
    second = wall.replace(tzinfo=zone, fold=1)
    before, after = first.utcoffset() or _NO_OFFSET, second.utcoffset() or _NO_OFFSET
    if before == after:
        return (first.astimezone(UTC),)
    if before > after:
        return first.astimezone(UTC), second.astimezone(UTC)
    return ()


def start_at(grain: Grain, wall: datetime, zone: ZoneInfo) -> datetime | None:
    """The instant at which the period that begins at `wall` really starts; none if clocks skip all of it."""
    found = instants_of(wall, zone)
    if found:
        return found[0]
    resumed = _gap_end(wall, zone)
    return resumed if wall_of(resumed, zone) < shift_wall(grain, wall, 1) else None


def exists(grain: Grain, wall: datetime, zone: ZoneInfo) -> bool:
    """Whether clocks in `zone` ever show some of the period that begins at `wall`."""
    for first, last in gaps(zone, wall.year):
        if first <= wall < last:
            return start_at(grain, wall, zone) is not None
    return True


@lru_cache(maxsize=8192)
def gaps(zone: ZoneInfo, year: int) -> tuple[tuple[datetime, datetime], ...]:
    """The wall times that clocks skip in a year: from the first up to but not including the second."""
    if zone.key == "UTC":
        return ()
    years = range(max(year - 1, EARLIEST.year), min(year + 1, LATEST.year - 1) + 1)
    found = [change.walls for each in years for change in changes(zone, each) if not change.repeats]
    return tuple(walls for walls in found if walls[0].year <= year <= walls[1].year)


def starts_at(grain: Grain, wall: datetime, zone: ZoneInfo) -> tuple[datetime, ...]:
    """Every instant at which a period labelled `wall` starts, in order.

    A repeated hour starts twice, a skipped one never; a day is one period, however often its midnight comes.
    """
    found = instants_of(wall, zone)
    if found:
        return found if grain.is_subday else found[:1]
    start = start_at(grain, wall, zone)
    return () if start is None else (start,)


def start_of(grain: Grain, instant: datetime, zone: ZoneInfo, week_start: WeekStart = "monday") -> datetime:
    """The start of the period that holds `instant`."""
    wall = floor_wall(grain, wall_of(instant, zone), week_start)
    found = instants_of(wall, zone)
    if not found:
        return _gap_end(wall, zone)
    if grain.is_subday and found[-1] <= instant:
        return found[-1]
    return found[0]


def next_start(grain: Grain, instant: datetime, zone: ZoneInfo, week_start: WeekStart = "monday") -> datetime:
    """The first start of a period after `instant`."""
    if grain.is_subday:
        return _next_subday_start(grain, instant, zone)
    wall = floor_wall(grain, wall_of(instant, zone), week_start)
    while True:
        wall = shift_wall(grain, wall, 1)
        start = start_at(grain, wall, zone)
        if start is not None and start > instant:
            return start


def previous_start(
    grain: Grain, instant: datetime, zone: ZoneInfo, week_start: WeekStart = "monday"
) -> datetime:
    """The start of the period before the one that holds `instant`."""
    current = start_of(grain, instant, zone, week_start)
    return start_of(grain, current - timedelta.resolution, zone, week_start)


def instant_of(wall: datetime, zone: ZoneInfo) -> datetime:
    """The instant of a wall time that exists; `fold` says which of a repeated one."""
    return wall.replace(tzinfo=zone).astimezone(UTC)


def _next_subday_start(grain: Grain, instant: datetime, zone: ZoneInfo) -> datetime:
    """Step in real time, and look again wherever clocks change on the way."""
    while True:
        wall = wall_of(instant, zone)
        ahead = instant + (floor_wall(grain, wall) + LENGTHS[grain] - wall)
        if offset_at(zone, ahead) == offset_at(zone, instant):
            return ahead
        instant = change_between(zone, instant, ahead)
        if start_of(grain, instant, zone) == instant:
            return instant


@lru_cache(maxsize=4096)
def _gap_end(wall: datetime, zone: ZoneInfo) -> datetime:
    """The first instant after the gap in which `wall` was skipped."""
    before = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    after = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    return change_between(zone, before, after)


@lru_cache(maxsize=1024)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo("UTC" if name.lower() == "utc" else name)
