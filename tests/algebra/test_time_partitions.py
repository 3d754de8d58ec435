"""Partitions of time: which keys there are, when they come to exist, and which period each names."""

from datetime import timedelta
from time import perf_counter

import pytest

from scheduling.algebra.cron_timetables import CronPartitionTimetable
from scheduling.algebra.errors import InvalidDefinition, InvalidKey
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.algebra.time_shorthands import (
    DailyPartitions,
    HourlyPartitions,
    MinutelyPartitions,
    MonthlyPartitions,
    QuarterlyPartitions,
    WeeklyPartitions,
    YearlyPartitions,
    partitions_of,
)
from tests.moments import utc

NEW_YORK = "America/New_York"


class TestDays:
    def test_tc03_a_day_that_does_not_exist_is_no_key(self):
        days = DailyPartitions("2011-12-28", "2012-01-02", timezone="Pacific/Apia")
        assert days.keys() == ("2011-12-28", "2011-12-29", "2011-12-31", "2012-01-01")
        assert days.period("2011-12-29") == (utc("2011-12-29T10:00"), utc("2011-12-30T10:00"))
        with pytest.raises(InvalidKey, match="does not exist"):
            days.index("2011-12-30")

    @pytest.mark.parametrize(
        ("zone", "day", "hours"),
        [
            (NEW_YORK, "2024-03-10", 23),
            (NEW_YORK, "2026-03-08", 23),
            (NEW_YORK, "2026-11-01", 25),
            ("Europe/Brussels", "2026-03-29", 23),
            ("Europe/Brussels", "2026-10-25", 25),
            ("America/Santiago", "2026-09-06", 23),
            ("Asia/Beirut", "2026-03-29", 23),
            ("America/Havana", "2026-03-08", 23),
        ],
    )
    def test_tc01_and_tc02_are_as_long_as_they_are(self, zone, day, hours):
        start, end = DailyPartitions("2024-01-01", timezone=zone).period(day)
        assert end - start == timedelta(hours=hours)

    @pytest.mark.parametrize(
        ("offset", "in_utc", "in_auckland"),
        [(0, "2023-12-03", "2023-12-04"), (1, "2023-12-04", "2023-12-05"), (-1, "2023-12-02", "2023-12-03")],
    )
    def test_tc20_the_last_complete_partition(self, offset, in_utc, in_auckland):
        now = utc("2023-12-04T22:00")
        assert DailyPartitions("2023-01-01", end_offset=offset).last(now) == in_utc
        auckland = DailyPartitions("2023-01-01", timezone="Pacific/Auckland", end_offset=offset)
        assert auckland.last(now) == in_auckland

    def test_exist_from_the_instant_they_end(self):
        days = DailyPartitions("2026-03-01")
        assert days.last(utc("2026-03-11T00:00")) == "2026-03-10"
        assert days.last(utc("2026-03-11T00:00") - timedelta(seconds=1)) == "2026-03-09"

    def test_of_a_definition_that_begins_later_there_are_none(self):
        days = DailyPartitions("2026-04-01")
        assert days.count(utc("2026-03-10T00:00")) == 0
        assert days.first(utc("2026-03-10T00:00")) is None
        assert days.last(utc("2026-03-10T00:00")) is None

    def test_an_end_caps_what_an_offset_adds(self):
        days = DailyPartitions("2026-03-01", "2026-03-04", end_offset=5)
        assert days.count(utc("2026-03-02T12:00")) == 3
        assert days.count() == 3

    def test_start_today_with_the_running_day(self):
        assert DailyPartitions("2026-03-10", end_offset=1).count(utc("2026-03-10T09:00")) == 1


class TestHours:
    def test_tc04_both_hours_of_a_fold_have_keys(self):
        hours = HourlyPartitions("2023-11-05", "2023-11-06", timezone="America/Los_Angeles")
        assert hours.keys(0, 4) == (
            "2023-11-05T00-0700",
            "2023-11-05T01-0700",
            "2023-11-05T01-0800",
            "2023-11-05T02-0800",
        )
        assert hours.count() == 25

    def test_one_name_is_one_key_where_names_have_no_offset(self):
        hours = HourlyPartitions(
            "2010-11-07", "2010-11-08", timezone="America/Los_Angeles", key_format="%Y-%m-%dT%H:%M:%S"
        )
        assert hours.count() == len(set(hours.keys())) == 24
        (warning,) = hours.warnings(utc("2010-01-01T00:00"))
        assert "2010-11-07 01:00" in warning

    @pytest.mark.parametrize(
        ("last", "now", "nights"),
        [
            ("2012-01-01", "2010-06-01T00:00", ["2010-11-07"]),
            ("2012-01-01", "2011-06-01T00:00", ["2011-11-06"]),
            ("2012-01-01", "2026-11-30T00:00", ["2010-11-07"]),
            (None, "2026-11-30T00:00", ["2027-11-07"]),
            ("2010-11-01", "2026-11-30T00:00", []),
            ("2010-11-01", "2010-06-01T00:00", []),
        ],
    )
    def test_the_night_that_is_warned_of_is_one_of_its_own(self, last, now, nights):
        zone = "America/Los_Angeles"
        hours = HourlyPartitions("2010-01-01", last, timezone=zone, key_format="%Y-%m-%dT%H")
        found = [warning.partition(" the times from ")[2][:10] for warning in hours.warnings(utc(now))]
        assert found == nights

    @pytest.mark.parametrize(
        ("zone", "first", "last", "hours"),
        [
            (NEW_YORK, "2026-03-01", "2026-04-01", 743),
            (NEW_YORK, "2026-11-01", "2026-12-01", 721),
            ("UTC", "2026-03-01", "2026-04-01", 744),
        ],
    )
    def test_tc01_hours_of_a_month(self, zone, first, last, hours):
        assert HourlyPartitions(first, last, timezone=zone).count() == hours

    def test_half_hour_changes_leave_part_of_an_hour(self):
        """Lord Howe 2026-10-04: 02:00 becomes 02:30, so that hour 02 is half an hour long."""
        hours = HourlyPartitions("2026-10-04", "2026-10-05", timezone="Australia/Lord_Howe")
        assert hours.count() == 24
        assert hours.period(hours.key_at(2)) == (utc("2026-10-03T15:30"), utc("2026-10-03T16:00"))
        assert hours.key_at(3) == "2026-10-04T03+1100"

    def test_an_hour_whose_start_is_skipped_in_the_middle_of_another(self):
        """Goose Bay 1996-04-07: one minute after midnight it was 01:01."""
        hours = HourlyPartitions("1996-04-07", "1996-04-08", timezone="America/Goose_Bay")
        assert hours.count() == 24
        assert [hours.index(hours.key_at(number)) for number in range(24)] == list(range(24))
        start, end = hours.period(hours.key_at(0))
        assert end - start == timedelta(minutes=1)

    def test_tc43_thirty_thousand_hours(self):
        hours = HourlyPartitions("2019-01-01")
        now = utc("2022-11-03T14:00")
        assert hours.count(now) == 33662
        assert hours.last(now) == "2022-11-03T13"

    def test_tc43_a_million_minutes_are_counted_and_found_without_being_listed(self):
        minutes = MinutelyPartitions("2024-01-01")
        now = utc("2025-11-25T10:40")
        begun = perf_counter()
        assert minutes.count(now) == 1_000_000
        assert minutes.key_at(999_999) == "2025-11-25T10:39"
        assert minutes.index("2025-11-25T10:39") == 999_999
        assert minutes.keys(500_000, 500_002) == ("2024-12-13T05:20", "2024-12-13T05:21")
        assert minutes.contains("2025-02-28T00:00")
        assert not minutes.contains("2025-02-29T00:00")
        assert perf_counter() - begun < 0.1


class TestOtherGrains:
    def test_tc18_hours_of_a_range(self):
        hours = HourlyPartitions("2026-06-18T08:00", "2026-06-18T10:00")
        assert hours.keys() == ("2026-06-18T08", "2026-06-18T09")

    def test_tc23_weeks_at_the_turn_of_the_year(self):
        weeks = WeeklyPartitions("2024-12-30", "2027-01-10", key_format="%G-W%V")
        assert weeks.partition_date("2025-W01") == utc("2024-12-30T00:00")
        assert weeks.partition_date("2026-W01") == utc("2025-12-29T00:00")
        assert weeks.partition_date("2026-W53") == utc("2026-12-28T00:00")
        assert weeks.last() == "2027-W01"
        assert not weeks.contains("2025-W53")

    def test_tc23_a_week_format_that_mislabels_is_refused(self):
        with pytest.raises(InvalidDefinition) as refusal:
            WeeklyPartitions("2024-12-30", key_format="%Y-W%V")
        assert refusal.value.path == "key_format"

    def test_the_first_is_the_first_that_starts_in_the_span(self):
        assert WeeklyPartitions("2026-03-04").key_at(0) == "2026-03-09 (W11)"
        assert MonthlyPartitions("2026-01-15").key_at(0) == "2026-02"

    def test_months_quarters_and_years(self):
        assert MonthlyPartitions("2026-01-01", "2026-04-01").keys() == ("2026-01", "2026-02", "2026-03")
        assert QuarterlyPartitions("2026-01-01", "2027-01-01").keys() == (
            "2026-Q1",
            "2026-Q2",
            "2026-Q3",
            "2026-Q4",
        )
        assert YearlyPartitions("2021-01-01", "2021-12-31").keys() == ("2021",)

    def test_a_business_day_that_ends_in_the_night(self):
        shop = TimePartitions("0 5 * * *", "2026-09-01", timezone="America/Toronto")
        assert shop.period("2026-09-14") == (utc("2026-09-14T09:00"), utc("2026-09-15T09:00"))
        assert shop.last(utc("2026-09-15T08:59")) == "2026-09-13"
        assert shop.last(utc("2026-09-15T09:00")) == "2026-09-14"


class TestEdgesOfTheCalendar:
    """Programs send any key, and some write 0001-01-01 or 9999-12-31 for "never"."""

    @pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles", "Asia/Tokyo"])
    @pytest.mark.parametrize("day", ["0001-01-01", "0001-12-31", "9999-12-30", "9999-12-31"])
    def test_the_first_and_the_last_days_are_refused(self, zone, day):
        days = DailyPartitions("2026-01-01", timezone=zone)
        with pytest.raises(InvalidKey):
            days.index(day)
        assert not days.contains(day)

    @pytest.mark.parametrize("day", ["0002-01-01", "9997-12-31"])
    def test_days_close_to_them_are_dated(self, day):
        assert DailyPartitions("2026-01-01").partition_date(day) == utc(f"{day}T00:00")


class TestPartitionsOfATimetable:
    def keys(self, timetable, now):
        definition = partitions_of(timetable, utc("2026-03-01T00:00"))
        ticks = timetable.ticks(utc("2026-03-01T00:00") - timedelta(microseconds=1), now)
        ticked = dict.fromkeys(tick.partition_key for tick in ticks)
        return definition.keys(now=now), tuple(ticked)

    @pytest.mark.parametrize(
        "timetable",
        [
            CronPartitionTimetable("0 * * * *"),
            CronPartitionTimetable("0 * * * *", timezone=NEW_YORK),
            CronPartitionTimetable("*/5 * * * *", key_format="%Y-%m-%d"),
            CronPartitionTimetable("*/15 9-17 * * 1-5", key_format="%Y-%m-%dT%H"),
            CronPartitionTimetable("30 2 * * *", timezone=NEW_YORK),
            CronPartitionTimetable("0 6 * * 1-5", key_format="%Y-%m-%d"),
            CronPartitionTimetable("@monthly", key_format="%Y-%m"),
            CronPartitionTimetable("@hourly", key_format="%Y-%m"),
        ],
    )
    def test_are_the_keys_of_its_ticks(self, timetable):
        defined, ticked = self.keys(timetable, utc("2026-03-20T11:07"))
        assert defined == ticked

    def test_of_the_period_that_just_ended_are_those_that_have(self):
        timetable = CronPartitionTimetable("@daily", run_offset=-1, key_format="%Y-%m-%d")
        definition = partitions_of(timetable, utc("2026-03-01T00:00"))
        assert definition.last(utc("2026-03-10T12:00")) == "2026-03-09"
