"""Patterns of wall times, such as a cron: walked, counted and indexed month by month.

A wall time is a naive datetime. Where clocks change it may come twice or not at all; that is `occurrences`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, Protocol

Times = Sequence[timedelta]
"""Times of a day, ascending, as what to add to its midnight."""


class Month(NamedTuple):
    """The days of one month that have wall times, each with its midnight and its times."""

    days: tuple[tuple[datetime, Times], ...]
    size: int


class Pattern(Protocol):
    """Wall times that some rule names; asked month by month, and expected to remember."""

    def month(self, year: int, month: int) -> Month: ...


def by_day(
    pattern: Pattern, start: datetime, end: datetime, step: Literal[1, -1] = 1
) -> Iterator[tuple[datetime, Times]]:
    """The wall times in [start, end) by day, forward or back: its midnight, and its times in that order."""
    for year, month in _months(start, end, step):
        for midnight, times in pattern.month(year, month).days[::step]:
            within = _within(midnight, times, start, end)
            if within:
                yield midnight, within[::step]


def walls(pattern: Pattern, start: datetime, end: datetime) -> Iterator[datetime]:
    """The wall times in [start, end)."""
    for midnight, times in by_day(pattern, start, end):
        for time in times:
            yield midnight + time


def count(pattern: Pattern, start: datetime, end: datetime) -> int:
    """How many wall times there are in [start, end); costs a look at each month."""
    if start >= end:
        return 0
    total = 0
    for year, month in _months(start, end):
        found = pattern.month(year, month)
        whole = start <= datetime(year, month, 1) and (year, month) < (end.year, end.month)
        total += found.size if whole else _count_days(found, start, end)
    return total


def nth(pattern: Pattern, start: datetime, end: datetime, number: int) -> datetime | None:
    """The wall time in [start, end) that `number` others precede."""
    for year, month in _months(start, end):
        found = pattern.month(year, month)
        if start <= datetime(year, month, 1) and number >= found.size:
            number -= found.size
            continue
        for midnight, times in found.days:
            within = _within(midnight, times, start, end)
            if number < len(within):
                return midnight + within[number]
            number -= len(within)
    return None


def month_of(days: Iterator[tuple[datetime, Times]]) -> Month:
    """A month of those days; days without times are left out."""
    kept = tuple((midnight, times) for midnight, times in days if times)
    return Month(kept, sum(len(times) for _, times in kept))


def _count_days(month: Month, start: datetime, end: datetime) -> int:
    return sum(len(_within(midnight, times, start, end)) for midnight, times in month.days)


def _within(midnight: datetime, times: Times, start: datetime, end: datetime) -> Times:
    """The times of one day that lie in [start, end)."""
    first = 0 if start <= midnight else bisect_left(times, start - midnight)
    return times[first : bisect_left(times, end - midnight)]


def _months(start: datetime, end: datetime, step: Literal[1, -1] = 1) -> Iterator[tuple[int, int]]:
    """The months that [start, end) touches, forward or back."""
    numbers = range(start.year * 12 + start.month - 1, end.year * 12 + end.month)
    for number in numbers[::step]:
        yield number // 12, number % 12 + 1
