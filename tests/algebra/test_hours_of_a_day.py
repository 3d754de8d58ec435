"""Hourly ticks, hourly partitions and the hours a day waits for are the same, whatever clocks do."""

from datetime import datetime, timedelta

import pytest

from scheduling.algebra.cron_timetables import CronPartitionTimetable
from scheduling.algebra.periods import instant_of, zone
from scheduling.sdk import DayWindow, HourlyPartitions, RollupMapper, StartOfDayMapper


@pytest.mark.parametrize("cron", ["0 * * * *", "@hourly", "0 0-23 * * *"])
@pytest.mark.parametrize("form", ["%Y-%m-%dT%H%z", "%Y-%m-%dT%H:%M:%S%z"])
@pytest.mark.parametrize(
    ("name", "day", "hours"),
    [
        ("Australia/Lord_Howe", "2026-10-04", 24),
        ("Australia/Lord_Howe", "2026-04-05", 24),
        ("America/New_York", "2026-03-08", 23),
        ("America/New_York", "2026-11-01", 25),
        ("America/Santiago", "2026-09-06", 23),
        ("Asia/Kathmandu", "2026-03-08", 24),
    ],
)
def test_are_the_same(cron, form, name, day, hours):
    first = instant_of(datetime.fromisoformat(day), zone(name))
    last = instant_of(datetime.fromisoformat(day) + timedelta(days=1), zone(name))
    second = timedelta(seconds=1)
    timetable = CronPartitionTimetable(cron, timezone=name, key_format=form)
    ticked = [tick.partition_key for tick in timetable.ticks(first - second, last - second)]
    defined = HourlyPartitions("2026-01-01", "2027-01-01", timezone=name, key_format=form)
    awaited = RollupMapper(StartOfDayMapper(timezone=name, input_format=form), DayWindow()).required(day)
    assert sorted(ticked) == sorted(awaited)
    assert len(ticked) == hours
    assert all(defined.contains(key) for key in ticked)
