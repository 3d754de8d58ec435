"""Hours and days as keys, against every minute around the changes of clocks."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from scheduling.algebra.time_shorthands import DailyPartitions, HourlyPartitions
from scheduling.algebra.transitions import changes
from tests.algebra.zones import alike

MINUTE = timedelta(minutes=1)


def walked(zone, start, end):
    """The hours and days that begin in [start, end), found by looking at the clock every minute.

    A day begins when its date is first shown. An hour begins on the hour, or where clocks skip its start;
    what clocks show again after going back into the middle of an hour is more of that hour.
    """
    hours, days, seen = [], [], set()
    at = start - timedelta(days=2)
    before = None
    while at < end:
        shown = at.astimezone(zone).replace(tzinfo=None, fold=0)
        hour = shown.replace(minute=0, second=0)
        if before is not None and (hour > before or shown.minute == 0):
            hours.append(at)
        if shown.date() not in seen:
            seen.add(shown.date())
            days.append(at)
        before = hour
        at += MINUTE
    return [at for at in hours if at >= start], [at for at in days[1:] if at >= start]


@pytest.mark.slow
class TestEveryZone:
    """Hours and days of all zones, around each change of clocks of some years."""

    @pytest.mark.parametrize("year", [1996, 2011, 2026])
    def test_hours_and_days(self, year):
        for name in alike(year):
            zone = ZoneInfo(name)
            for change in changes(zone, year):
                start, end = change.at - timedelta(hours=30), change.at + timedelta(hours=30)
                hours, days = walked(zone, start, end)
                hourly = HourlyPartitions(start, end, timezone=name)
                daily = DailyPartitions(start, end, timezone=name)
                assert [hourly.start_of(n) for n in range(hourly.count())] == hours, f"{name} {change.at}"
                assert [daily.start_of(n) for n in range(daily.count())] == days, f"{name} {change.at}"
                assert [hourly.index(key) for key in hourly.keys(0, len(hours))] == list(range(len(hours))), (
                    name
                )
