"""Cron expressions as wall times: which days, and which seconds of the day. Zones come later.

croniter reads the expression (names, steps, `L`, `#`, `W`). Its own iteration is not used: across changes of
clocks it runs a fixed time twice, adds an instant after a gap, and steps over half of a 30-minute repetition.
"""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import lru_cache

from croniter import CroniterError, croniter

from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.walls import Month, month_of

PRESETS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@quarterly": "0 0 1 */3 *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}

_MINUTE, _HOUR, _DAY, _MONTH, _WEEKDAY, _SECOND = range(6)
# Long enough to hold 29 February on each weekday.
_SAMPLE = range(2000, 2040)

Values = tuple[int | str, ...]
"""The values of a field as croniter expands it; `("*",)` is all, `"l"` the last."""


@dataclass(frozen=True, slots=True)
class DayRule:
    """The days of a month that an expression names.

    When both day fields restrict, a day needs only one of them; `#`, `L` in the week and `W` are part of both
    sides, as croniter has it.
    """

    days: Values
    months: Values
    weekdays: Values
    nth: tuple[tuple[int | str, tuple[int | str, ...]], ...] = ()
    nearest: tuple[int, ...] = ()

    def of_month(self, year: int, month: int) -> tuple[int, ...]:
        return _days_of_month(self, year, month)


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron expression read: a pattern of wall times.

    `wild` says that it runs by the interval: its minute or hour field starts with `*` or covers all there is.
    Such a cron ticks whenever clocks show a time it names; any other means "once at that time of the day".
    """

    text: str
    rule: DayRule = field(compare=False)
    times: tuple[timedelta, ...] = field(compare=False, repr=False)
    wild: bool = field(compare=False)
    _months: dict[tuple[int, int], Month] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def is_subday(self) -> bool:
        """Whether a day can have several ticks."""
        return len(self.times) > 1

    def month(self, year: int, month: int) -> Month:
        found = self._months.get((year, month))
        if found is None:
            days = self.rule.of_month(year, month)
            found = month_of((datetime(year, month, day), self.times) for day in days)
            self._months[year, month] = found
        return found


def parse(text: object) -> Cron:
    """Read an expression of five fields, of six with seconds last, or a preset such as `@daily`.

    :raises InvalidDefinition: if it is none, or names a day that no month has.
    """
    if not isinstance(text, str):
        raise InvalidDefinition(f"{text!r} is not a cron expression; write five fields, such as 0 6 * * 1-5")
    return _parse(text)


@lru_cache(maxsize=4096)
def _parse(text: str) -> Cron:
    fields = PRESETS.get(text.strip().lower(), text).lower().split()
    _check_fields(text, fields)
    try:
        read = croniter(" ".join(fields), 0.0)
    except (CroniterError, ValueError) as error:
        raise InvalidDefinition(f"{text!r} is not a cron expression: {_reason(error)}") from None
    rule = DayRule(
        days=tuple(read.expanded[_DAY]),
        months=tuple(read.expanded[_MONTH]),
        weekdays=tuple(read.expanded[_WEEKDAY]),
        nth=tuple((day, tuple(sorted(which, key=str))) for day, which in read.nth_weekday_of_month.items()),
        nearest=tuple(sorted(read.nearest_weekday)),
    )
    if not any(rule.of_month(year, month) for year in _SAMPLE for month in range(1, 13)):
        raise InvalidDefinition(f"{text!r} never ticks: no month has such a day")
    wild = any(fields[at].startswith("*") or read.expanded[at] == ["*"] for at in (_MINUTE, _HOUR))
    return Cron(text, rule, _times_of_day(read.expanded), wild)


def _check_fields(text: str, fields: list[str]) -> None:
    if len(fields) not in (5, 6):
        raise InvalidDefinition(
            f"{text!r} is not a cron expression: it has {len(fields)} fields where five belong"
            " (minute, hour, day of month, month, day of week)"
        )
    if any(part.startswith(("h", "r")) for entry in fields for part in entry.split(",")):
        raise InvalidDefinition(f"{text!r} is not a cron expression here: H and R pick times at random")


def _reason(error: Exception) -> str:
    """croniter's reason without the expression, which the caller names."""
    said = str(error).rpartition("]")[2].strip(" .,") or str(error)
    return said.removeprefix("is not acceptable").strip(" .,") or "a field is out of its range"


def _times_of_day(expanded: list[list[int | str]]) -> tuple[timedelta, ...]:
    hours, minutes = _numbers(expanded[_HOUR], 24), _numbers(expanded[_MINUTE], 60)
    seconds = _numbers(expanded[_SECOND], 60) if len(expanded) > _SECOND else (0,)
    return tuple(
        timedelta(hours=hour, minutes=minute, seconds=second)
        for hour in hours
        for minute in minutes
        for second in seconds
    )


def _numbers(values: list[int | str], count: int) -> tuple[int, ...]:
    if values == ["*"]:
        return tuple(range(count))
    return tuple(sorted(value for value in values if isinstance(value, int)))


@lru_cache(maxsize=16_384)
def _days_of_month(rule: DayRule, year: int, month: int) -> tuple[int, ...]:
    if rule.months != ("*",) and month not in rule.months:
        return ()
    dates = [date(year, month, day) for day in range(1, monthrange(year, month)[1] + 1)]
    return tuple(day.day for day in dates if _names(rule, day))


def _names(rule: DayRule, day: date) -> bool:
    by_day, by_weekday = _in_days(rule, day), _in_week(rule, day)
    if rule.days == ("*",) or rule.weekdays == ("*",):
        return by_day and by_weekday
    return (by_day and (not rule.nth or by_weekday)) or (by_weekday and (not rule.nearest or by_day))


def _in_days(rule: DayRule, day: date) -> bool:
    if rule.nearest:
        return any(day.day == _nearest_working_day(day, wanted) for wanted in rule.nearest)
    return "*" in rule.days or day.day in rule.days or ("l" in rule.days and day.day == _length(day))


def _in_week(rule: DayRule, day: date) -> bool:
    weekday = day.isoweekday() % 7
    if not rule.nth:
        return "*" in rule.weekdays or weekday in rule.weekdays
    last = day.day + 7 > _length(day)
    return any(
        named in (weekday, "*") and ((day.day + 6) // 7 in which or (last and "l" in which))
        for named, which in rule.nth
    )


def _nearest_working_day(within: date, wanted: int) -> int:
    """The working day of the month that is closest to day `wanted`."""
    day = within.replace(day=min(wanted, _length(within)))
    if day.weekday() == 5:
        return day.day - 1 if day.day > 1 else day.day + 2
    if day.weekday() == 6:
        return day.day + 1 if day.day < _length(day) else day.day - 2
    return day.day


def _length(of_month: date) -> int:
    return monthrange(of_month.year, of_month.month)[1]
