"""Days and hours, against every minute of the days on which clocks change."""

from datetime import UTC, datetime, timedelta
from itertools import groupby
from zoneinfo import ZoneInfo

import pytest

from scheduling.algebra.members import members
from scheduling.algebra.periods import Grain, next_start, start_at, start_of
from tests.algebra.zones import CHANGING, alike
from tests.moments import utc


def runs_of_labels(found, first, last, label):
    """The instants at which `label` of the clock face and the offset changes, minute by minute."""
    minutes = [first + timedelta(minutes=n) for n in range(int((last - first).total_seconds()) // 60)]
    shown = [minute.astimezone(found) for minute in minutes]
    return [next(run)[0] for _, run in groupby(zip(minutes, shown, strict=True), lambda pair: label(pair[1]))]


class TestAgainstTheClock:
    """Every minute of the days on which clocks change, one by one."""

    @pytest.mark.parametrize("name", CHANGING)
    def test_days_start_where_the_date_changes(self, name):
        found = ZoneInfo(name)
        first, last = utc("2026-01-01"), utc("2027-01-01")
        dates = runs_of_labels(found, first, last, lambda shown: shown.date())
        started = [dates[1]]
        while started[-1] < dates[-1]:
            started.append(next_start(Grain.DAY, started[-1], found))
        assert started == dates[1:]

    @pytest.mark.parametrize("name", [name for name in CHANGING if name != "Australia/Lord_Howe"])
    def test_hours_start_where_hour_or_offset_changes(self, name):
        found = ZoneInfo(name)
        for first, last in ((utc("2026-03-01"), utc("2026-04-10")), (utc("2026-09-01"), utc("2026-11-10"))):
            hours = runs_of_labels(
                found, first, last, lambda shown: (shown.date(), shown.hour, shown.utcoffset())
            )
            started = [start_of(Grain.HOUR, hours[1], found)]
            while started[-1] < hours[-1]:
                started.append(next_start(Grain.HOUR, started[-1], found))
            assert started == hours[1:]

    @pytest.mark.slow
    @pytest.mark.parametrize("year", [1987, 2011, 2026])
    def test_days_and_hours_are_right_in_every_zone(self, year):
        for name in alike(year):
            found = ZoneInfo(name)
            first, last = datetime(year, 1, 2, 12, tzinfo=UTC), datetime(year, 12, 30, 12, tzinfo=UTC)
            for shown, begins in first_minutes(found, first, last).items():
                assert start_of(Grain.DAY, begins, found) == begins, f"{name} {shown}"
                assert start_at(Grain.DAY, datetime(shown.year, shown.month, shown.day), found) == begins, (
                    name
                )

    @pytest.mark.slow
    @pytest.mark.parametrize("year", [1987, 2011, 2026])
    def test_days_that_change_have_their_real_hours_in_every_zone(self, year):
        for name in alike(year):
            found = ZoneInfo(name)
            for shown, hours in hours_of_changing_days(found, year).items():
                start = start_at(Grain.DAY, datetime(shown.year, shown.month, shown.day), found)
                assert members(Grain.DAY, Grain.HOUR, start, found) == tuple(hours), f"{name} {shown}"


def first_minutes(found, first, last):
    """The first minute of each local date; asked minute by minute on days when the offset changes."""
    dates = {}
    moment = first
    while moment < last:
        ahead = moment + timedelta(days=1)
        shown, later = moment.astimezone(found), ahead.astimezone(found)
        if shown.utcoffset() == later.utcoffset():
            midnight = datetime(later.year, later.month, later.day) - shown.replace(tzinfo=None)
            dates.setdefault(later.date(), moment + midnight)
        else:
            for minute in range(1, 24 * 60 + 1):
                each = moment + timedelta(minutes=minute)
                if each.astimezone(found).date() > shown.date():
                    dates.setdefault(each.astimezone(found).date(), each)
        moment = ahead
    return {shown: begins for shown, begins in dates.items() if begins > first}


def hours_of_changing_days(found, year):
    """The first minute of every hour shown, for each date on which clocks change by whole hours."""
    days = {}
    moment, last = datetime(year, 1, 2, tzinfo=UTC), datetime(year, 12, 30, tzinfo=UTC)
    while moment < last:
        ahead = moment + timedelta(days=1)
        change = ahead.astimezone(found).utcoffset() - moment.astimezone(found).utcoffset()
        if change and change % timedelta(hours=1) == timedelta(0) and abs(change) < timedelta(hours=12):
            days |= _hours_shown(found, moment - timedelta(days=2), ahead + timedelta(days=2))
        moment = ahead
    return days


def _hours_shown(found, first, last):
    """By date; the dates at both ends, which may be cut, and those shown in two pieces are left out."""
    minutes = [first + timedelta(minutes=n) for n in range(int((last - first).total_seconds()) // 60)]
    labels = [(minute, minute.astimezone(found)) for minute in minutes]
    runs = groupby(labels, lambda pair: (pair[1].date(), pair[1].hour, pair[1].utcoffset()))
    starts = [next(run) for _, run in runs]
    pieces = [shown for shown, _ in groupby(labels, lambda pair: pair[1].date())]
    whole = [shown for shown in pieces[1:-1] if pieces.count(shown) == 1]
    whole = [
        shown for shown in whole if all(begin.minute == 0 for _, begin in starts if begin.date() == shown)
    ]
    return {shown: [at for at, begin in starts if begin.date() == shown] for shown in whole}
