"""The finer periods a period is made of: the real ones, where clocks change too, and the most there are."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from scheduling.algebra.periods import (
    LENGTHS,
    Grain,
    WeekStart,
    floor_wall,
    gaps,
    instant_of,
    instants_of,
    shift_wall,
    start_at,
    start_of,
    starts_at,
    wall_of,
)

_MOST = {
    Grain.HOUR: {
        Grain.HOUR: 1,
        Grain.DAY: 24,
        Grain.WEEK: 7 * 24,
        Grain.MONTH: 31 * 24,
        Grain.QUARTER: 92 * 24,
        Grain.YEAR: 366 * 24,
    },
    Grain.DAY: {Grain.WEEK: 7, Grain.MONTH: 31, Grain.QUARTER: 92, Grain.YEAR: 366},
    Grain.MONTH: {Grain.QUARTER: 3, Grain.YEAR: 12},
    Grain.QUARTER: {Grain.YEAR: 4},
}


def members(
    period: Grain, member: Grain, start: datetime, zone: ZoneInfo, week_start: WeekStart = "monday"
) -> tuple[datetime, ...]:
    """The starts of the `member` periods inside the `period` that starts at `start`, in order.

    Real ones: a skipped hour or day is absent, a repeated hour is there twice.
    """
    wall = floor_wall(period, wall_of(start, zone), week_start)
    found = members_between(member, wall, shift_wall(period, wall, 1), zone)
    if period.is_subday and len(instants_of(wall, zone)) == 2:
        return tuple(instant for instant in found if start_of(period, instant, zone) == start)
    return found


def members_between(member: Grain, begin: datetime, end: datetime, zone: ZoneInfo) -> tuple[datetime, ...]:
    """The starts of the `member` periods labelled from wall time `begin` up to but not including `end`."""
    return tuple(instant_of(wall, zone) for wall in walls_between(member, begin, end, zone))


def walls_between(member: Grain, begin: datetime, end: datetime, zone: ZoneInfo) -> list[datetime]:
    """The same starts as wall times, naive; `fold` marks the second occurrence of a repeated one.

    Only where clocks change does a member cost a look at the zone.
    """
    if zone.key == "UTC":
        return _stepped(member, begin, end)
    if not member.is_subday:
        return _around_gaps(member, _stepped(member, begin, end), zone)
    found: list[datetime] = []
    while begin < end:
        midnight = min(end, floor_wall(Grain.DAY, begin) + timedelta(days=1))
        found += _subday_walls(member, begin, midnight, zone)
        begin = midnight
    return found


def most_members(period: Grain, member: Grain, repeated: timedelta = timedelta(0)) -> int:
    """The most that any `period` has, where clocks go back by at most `repeated` and names tell that."""
    if not member.is_subday:
        return _MOST[member][period]
    return (timedelta(hours=_MOST[Grain.HOUR][period]) + repeated) // LENGTHS[member]


def _stepped(grain: Grain, begin: datetime, end: datetime) -> list[datetime]:
    length = LENGTHS.get(grain)
    if length is None:
        found = []
        while begin < end:
            found.append(begin)
            try:
                begin = shift_wall(grain, begin, 1)
            except OverflowError:
                break
        return found
    return [begin + length * n for n in range(-((begin - end) // length))]


def _subday_walls(grain: Grain, begin: datetime, end: datetime, zone: ZoneInfo) -> list[datetime]:
    """Within one local day; one on which clocks do not change needs no look at the zone for each member."""
    first, last = instants_of(begin, zone), instants_of(end, zone)
    if len(first) == len(last) == 1 and last[0] - first[0] == end - begin:
        return _stepped(grain, begin, end)
    instants = [start for wall in _stepped(grain, begin, end) for start in starts_at(grain, wall, zone)]
    return [instant.astimezone(zone).replace(tzinfo=None) for instant in sorted(instants)]


def _around_gaps(grain: Grain, walls: list[datetime], zone: ZoneInfo) -> list[datetime]:
    """`walls`, but for periods that clocks skip, and those that they cut short at the beginning."""
    years = sorted({wall.year for wall in walls})
    skipped = [gap for year in years for gap in gaps(zone, year)]
    if not skipped:
        return walls
    found = []
    for wall in walls:
        if any(first <= wall < last for first, last in skipped):
            start = start_at(grain, wall, zone)
            found += [] if start is None else [wall_of(start, zone)]
        else:
            found.append(wall)
    return found
