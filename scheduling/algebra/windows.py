"""Windows: which finer keys one downstream key stands for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar
from zoneinfo import ZoneInfo

from scheduling.algebra.errors import BeyondCalendar, CannotMap, InvalidDefinition, within
from scheduling.algebra.keys import distinct_keys
from scheduling.algebra.members import most_members, walls_between
from scheduling.algebra.periods import (
    LENGTHS,
    MONTHS,
    Grain,
    WeekStart,
    floor_wall,
    grain_of,
    instant_of,
    next_start,
    previous_start,
    shift_wall,
    start_of,
)

MOST_MEMBERS = 100_000
"""Each is a key that is looked for: a year of minutes would take gigabytes."""


class Direction(StrEnum):
    """Which period a key names: the one that starts at it, the one that ends at it, or the next one."""

    FORWARD = "forward"
    BACKWARD = "backward"
    FOLLOWING = "following"


class Window:
    """The expected set of one downstream key."""

    __slots__ = ()
    Direction: ClassVar[type[Direction]] = Direction

    @property
    def member_noun(self) -> str:
        """What its members are called, in the plural."""
        return "keys"


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodWindow(Window):
    """A period of the calendar and the finer periods that it is made of.

    Subclass it and override `keeps` for a window with gaps, such as one of business days only.

    :param direction: whether a key names the period that starts at it, the one that ends at it, or the next.
    :param members: the finer periods that it is made of, at most 100,000.
    """

    direction: Direction = Direction.FORWARD
    members: Grain = Grain.DAY
    period: ClassVar[Grain]

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", within("direction", _direction, self.direction))
        object.__setattr__(self, "members", within("members", grain_of, self.members))
        if not self.period.holds(self.members):
            raise InvalidDefinition(
                f"no {self.period.value} is made of whole {self.members.value}s", path="members"
            )
        if self.most() > MOST_MEMBERS:
            raise InvalidDefinition(
                f"a {self.period.value} has up to {self.most():,} {self.members.value}s; "
                f"a window has at most {MOST_MEMBERS:,} members",
                path="members",
            )

    @property
    def member_noun(self) -> str:
        return f"{self.members.value}s"

    def keeps(self, wall: datetime) -> bool:
        """Whether the member that starts at `wall` belongs to the window."""
        return True

    def walls(self, anchor: datetime, zone: ZoneInfo) -> list[datetime]:
        """The wall times in `zone` at which the members for `anchor` start; `fold` marks a repeated one.

        `anchor` is the wall time that the downstream key names.

        :raises CannotMap: if a month, quarter or year would not start on the first of a month, and beyond the
            calendar.
        """
        if self.period.is_subday and zone.key != "UTC":
            found = self._short_walls(instant_of(anchor, zone), zone)
        else:
            begin, end = self.bounds(anchor.replace(fold=0))
            found = walls_between(self.members, begin, end, zone)
        if type(self).keeps is PeriodWindow.keeps:
            return found
        return [wall for wall in found if self.keeps(wall)]

    def bounds(self, anchor: datetime) -> tuple[datetime, datetime]:
        """From the first member's start up to but not including the second wall time."""
        if self.period >= Grain.MONTH and anchor.day != 1:
            raise CannotMap(
                f"{anchor:%Y-%m-%d} does not start a {self.period.value}: it is no first of a month"
            )
        try:
            if self.direction is Direction.BACKWARD:
                begin = shift_wall(self.period, anchor, -1)
                return shift_wall(self.members, begin, 1), anchor + timedelta.resolution
            if self.direction is Direction.FOLLOWING:
                anchor = shift_wall(self.period, anchor, 1)
            return anchor, _end(self.period, self.members, anchor)
        except OverflowError:
            raise BeyondCalendar(
                f"the {self.period.value} at {anchor.isoformat()} is beyond the calendar"
            ) from None

    def anchor_of(self, wall: datetime, week_start: WeekStart = "monday") -> datetime:
        """The one anchor whose window holds the member around `wall`, gaps not considered."""
        member = floor_wall(self.members, wall, week_start)
        start = floor_wall(self.period, member, week_start)
        try:
            if self.direction is Direction.FOLLOWING:
                return shift_wall(self.period, start, -1)
            if self.direction is Direction.BACKWARD and member != start:
                return shift_wall(self.period, start, 1)
        except OverflowError:
            raise BeyondCalendar(
                f"the {self.period.value} at {wall.isoformat()} is beyond the calendar"
            ) from None
        return start

    def _short_walls(self, anchor: datetime, zone: ZoneInfo) -> list[datetime]:
        """Members of a period shorter than a day, stepped in real time: the period itself may be repeated."""
        start = start_of(self.period, anchor, zone)
        end = next_start(self.period, start, zone)
        if self.direction is Direction.FOLLOWING:
            start, end = end, next_start(self.period, end, zone)
        elif self.direction is Direction.BACKWARD:
            before = previous_start(self.period, start, zone)
            start, end = next_start(self.members, before, zone), next_start(self.members, start, zone)
        found = []
        while start < end:
            found.append(start.astimezone(zone).replace(tzinfo=None))
            start = next_start(self.members, start, zone)
        return found

    def most(self, repeated: timedelta = timedelta(0)) -> int:
        """The most members it ever has, where clocks go back by at most `repeated` and keys tell that."""
        return most_members(self.period, self.members, repeated)


def check_window(value: object) -> Window:
    """`value` itself, if it is a window.

    :raises InvalidDefinition: otherwise, and for one that holds something that can change.
    """
    if not isinstance(value, Window):
        raise InvalidDefinition(f"it is a window such as DayWindow(), not {value!r}")
    try:
        hash(value)
    except TypeError:
        raise InvalidDefinition(
            f"a {type(value).__name__} must hold values only: tuples, not lists"
        ) from None
    return value


def _end(period: Grain, member: Grain, wall: datetime) -> datetime:
    """The end of the period that starts at `wall`, or of the calendar if its last member ends with that."""
    try:
        return shift_wall(period, wall, 1)
    except OverflowError:
        length = LENGTHS.get(period)
        if length is not None and datetime.max - wall + timedelta.resolution >= length:
            return datetime.max
        if member >= Grain.MONTH and wall.month + MONTHS[period] == 13:
            return datetime.max
        raise


@dataclass(frozen=True, slots=True, kw_only=True)
class HourWindow(PeriodWindow):
    """The minutes of an hour."""

    members: Grain = Grain.MINUTE
    period: ClassVar[Grain] = Grain.HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class DayWindow(PeriodWindow):
    """The hours of a day: 23, 24 or 25 where clocks change."""

    members: Grain = Grain.HOUR
    period: ClassVar[Grain] = Grain.DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class WeekWindow(PeriodWindow):
    """The seven days of a week."""

    period: ClassVar[Grain] = Grain.WEEK


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthWindow(PeriodWindow):
    """The days of a month."""

    period: ClassVar[Grain] = Grain.MONTH


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarterWindow(PeriodWindow):
    """The days of a quarter, or its three months with `members="month"`."""

    period: ClassVar[Grain] = Grain.QUARTER


@dataclass(frozen=True, slots=True, kw_only=True)
class YearWindow(PeriodWindow):
    """The days of a year, or its twelve months with `members="month"`."""

    period: ClassVar[Grain] = Grain.YEAR


@dataclass(frozen=True, slots=True)
class SegmentWindow(Window):
    """The segments that are declared, in the order they are declared."""

    segments: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "segments", within("segments", distinct_keys, self.segments, "a SegmentWindow")
        )


def _direction(value: object) -> Direction:
    try:
        return Direction(str(value))
    except ValueError:
        names = ", ".join(Direction)
        raise InvalidDefinition(f"{value!r} is not a direction of a window; use one of {names}") from None
