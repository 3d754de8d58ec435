"""Partitions of time by the names of their grains, and those that a timetable makes."""

from datetime import datetime
from typing import Any

from scheduling.algebra.cron_timetables import CronPartitionTimetable
from scheduling.algebra.starts import cadence_of_ticks
from scheduling.algebra.time_partitions import TimePartitions


def MinutelyPartitions(start: Any, end: Any = None, **options: Any) -> TimePartitions:
    """`TimePartitions` of minutes."""
    return TimePartitions("minute", start, end, **options)


def HourlyPartitions(start: Any, end: Any = None, **options: Any) -> TimePartitions:
    """`TimePartitions` of hours."""
    return TimePartitions("hour", start, end, **options)


def DailyPartitions(start: Any, end: Any = None, **options: Any) -> TimePartitions:
    """`TimePartitions` of days."""
    return TimePartitions("day", start, end, **options)


def WeeklyPartitions(start: Any, end: Any = None, **options: Any) -> TimePartitions:
    """`TimePartitions` of weeks that start on Monday."""
    return TimePartitions("week", start, end, **options)


def MonthlyPartitions(start: Any, end: Any = None, **options: Any) -> TimePartitions:
    """`TimePartitions` of months."""
    return TimePartitions("month", start, end, **options)


def QuarterlyPartitions(start: Any, end: Any = None, **options: Any) -> TimePartitions:
    """`TimePartitions` of quarters."""
    return TimePartitions("quarter", start, end, **options)


def YearlyPartitions(start: Any, end: Any = None, **options: Any) -> TimePartitions:
    """`TimePartitions` of years."""
    return TimePartitions("year", start, end, **options)


def partitions_of(
    timetable: CronPartitionTimetable, start: datetime, end: datetime | None = None
) -> TimePartitions:
    """The partitions that a timetable makes: those of an asset that has no definition of its own."""
    return TimePartitions(
        cadence_of_ticks(timetable),
        start,
        end,
        timezone=timetable.timezone,
        key_format=timetable.key_format,
        end_offset=1 + timetable.run_offset,
    )
