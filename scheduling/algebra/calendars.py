"""Which wall times a definition leaves out: dates, crons, and calendars of business days."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from scheduling.algebra.cron import Cron, parse
from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.walls import Month, Pattern, Times, month_of

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True, slots=True)
class BusinessCalendar:
    """Days that are no business days: those of the weekend, and the holidays."""

    holidays: tuple[date, ...] = ()
    weekend: tuple[str, ...] = ("saturday", "sunday")

    def __post_init__(self) -> None:
        weekend = tuple(str(day).lower() for day in self.weekend)
        for day in weekend:
            if day not in WEEKDAYS:
                raise InvalidDefinition(f"{day!r} is not a day of the week", path="weekend")
        if len(set(weekend)) == len(WEEKDAYS):
            raise InvalidDefinition("a calendar needs at least one business day a week", path="weekend")
        object.__setattr__(self, "weekend", weekend)
        object.__setattr__(self, "holidays", tuple(_date(day, "holidays") for day in self.holidays))

    def is_business_day(self, day: date) -> bool:
        plain = day.date() if isinstance(day, datetime) else day
        return WEEKDAYS[plain.weekday()] not in self.weekend and plain not in self.holidays


Exclusion = str | date | datetime | BusinessCalendar
"""A cron, a whole date, one wall time, or every day that is no business day."""


@dataclass(frozen=True, slots=True)
class Excluding:
    """A pattern without the wall times that `exclusions` name."""

    base: Pattern
    exclusions: tuple[Exclusion, ...]
    _months: dict[tuple[int, int], Month] = field(default_factory=dict, init=False, compare=False, repr=False)

    def month(self, year: int, month: int) -> Month:
        if (year, month) not in self._months:
            self._months[year, month] = month_of(self._left(year, month))
        return self._months[year, month]

    def _left(self, year: int, month: int) -> Iterator[tuple[datetime, Times]]:
        crons = [parse(each) for each in self.exclusions if isinstance(each, str)]
        excluded = [dict(cron.month(year, month).days) for cron in crons]
        for midnight, times in self.base.month(year, month).days:
            if any(_is_left_out(midnight, each) for each in self.exclusions):
                continue
            gone = {time for each in excluded for time in each.get(midnight, ())}
            gone |= {each - midnight for each in self.exclusions if isinstance(each, datetime)}
            yield midnight, tuple(time for time in times if time not in gone) if gone else times


def read_exclusions(given: object) -> tuple[Exclusion, ...]:
    """Exclusions from what an author or a spec gives; text is a date, a wall time, or else a cron.

    :raises InvalidDefinition: with the place of what is none of them.
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidDefinition(f"a list of crons, dates and calendars, not {given!r}")
    found = []
    for place, each in enumerate(given):
        try:
            found.append(_exclusion(each))
        except InvalidDefinition as refusal:
            raise refusal.below(f"[{place}]") from None
    return tuple(found)


def _exclusion(given: Any) -> Exclusion:
    if isinstance(given, BusinessCalendar):
        return given
    if isinstance(given, datetime):
        if given.tzinfo is not None:
            raise InvalidDefinition(f"{given} has an offset; give the wall time that is left out")
        return given
    if isinstance(given, date):
        return given
    if isinstance(given, str) and len(given.split()) == 1 and not given.startswith("@"):
        return _date(given, "") if len(given) == 10 else _wall(given)
    cron: Cron = parse(given)
    return cron.text


def _is_left_out(midnight: datetime, each: Exclusion) -> bool:
    if isinstance(each, BusinessCalendar):
        return not each.is_business_day(midnight)
    return isinstance(each, date) and not isinstance(each, datetime) and each == midnight.date()


def _date(given: object, path: str) -> date:
    if isinstance(given, datetime):
        return given.date()
    if isinstance(given, date):
        return given
    try:
        return date.fromisoformat(str(given))
    except ValueError:
        raise InvalidDefinition(f"{given!r} is not a date; write it like 2026-12-25", path=path) from None


def _wall(given: str) -> datetime:
    try:
        return datetime.fromisoformat(given).replace(tzinfo=None)
    except ValueError:
        raise InvalidDefinition(
            f"{given!r} is not an exclusion; write a cron, 2026-12-25, or 2026-12-25T09:00"
        ) from None
