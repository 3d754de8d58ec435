"""Windows of one's own: the business days of a week or a month, with the holidays of a calendar.

A month rollup over business days fires when its last business day is there, and a Saturday that arrives all
the same is shown as unexpected.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime

from scheduling.algebra.calendars import BusinessCalendar
from scheduling.algebra.registry import register
from scheduling.algebra.windows import MonthWindow, PeriodWindow, WeekWindow


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class BusinessWeekWindow(WeekWindow):
    """The business days of a week."""

    holidays: tuple[date, ...] = ()
    calendar: BusinessCalendar = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        PeriodWindow.__post_init__(self)
        _set_calendar(self, self.holidays)

    def keeps(self, wall: datetime) -> bool:
        return self.calendar.is_business_day(wall)


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class BusinessMonthWindow(MonthWindow):
    """The business days of a month."""

    holidays: tuple[date, ...] = ()
    calendar: BusinessCalendar = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        PeriodWindow.__post_init__(self)
        _set_calendar(self, self.holidays)

    def keeps(self, wall: datetime) -> bool:
        return self.calendar.is_business_day(wall)


def _set_calendar(window: PeriodWindow, holidays: tuple[date, ...]) -> None:
    """Lists of dates, and dates written as text, are taken too."""
    calendar = BusinessCalendar(tuple(holidays))
    object.__setattr__(window, "calendar", calendar)
    object.__setattr__(window, "holidays", calendar.holidays)
