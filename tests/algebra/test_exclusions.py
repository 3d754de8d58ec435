"""Times that a partitions definition leaves out."""

from datetime import date, datetime
from time import perf_counter

import pytest

from scheduling.algebra.calendars import BusinessCalendar
from scheduling.algebra.errors import InvalidDefinition, InvalidKey
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.algebra.time_shorthands import DailyPartitions, HourlyPartitions
from tests.moments import utc

NEW_YORK = "America/New_York"


class TestExclusions:
    WEEKDAYS = DailyPartitions("2023-10-23", timezone="Etc/GMT-2", exclusions=[BusinessCalendar()])

    def test_tc22_friday_ends_on_saturday_and_monday_is_next(self):
        assert self.WEEKDAYS.period("2023-10-27") == (utc("2023-10-26T22:00"), utc("2023-10-27T22:00"))
        assert self.WEEKDAYS.last(utc("2023-10-27T21:59")) == "2023-10-26"
        assert self.WEEKDAYS.last(utc("2023-10-27T22:00")) == "2023-10-27"
        assert self.WEEKDAYS.keys(4, 6) == ("2023-10-27", "2023-10-30")

    @pytest.mark.parametrize("key", ["2023-10-28", "2023-10-29"])
    def test_tc22_saturday_and_sunday_have_no_key(self, key):
        with pytest.raises(InvalidKey, match="the nearest are 2023-10-27 and 2023-10-30"):
            self.WEEKDAYS.index(key)

    @pytest.mark.parametrize(
        ("first", "last", "days"), [("2026-02-01", "2026-03-01", 20), ("2026-03-01", "2026-04-01", 22)]
    )
    def test_tc22_business_days_of_a_month(self, first, last, days):
        assert DailyPartitions(first, last, exclusions=[BusinessCalendar()]).count() == days

    def test_the_running_day_is_not_replaced_by_one_to_come(self):
        """On a Saturday, with weekends left out, no day is running."""
        days = DailyPartitions("2026-03-02", end_offset=1, exclusions=["0 0 * * 6,0"])
        assert days.last(utc("2026-03-07T12:00")) == "2026-03-06"

    def test_by_date_time_and_cron(self):
        hours = HourlyPartitions(
            "2026-12-24",
            "2026-12-27",
            exclusions=["2026-12-25", date(2026, 12, 24), datetime(2026, 12, 26, 3), "0 4-23 * * *"],
        )
        assert hours.keys() == ("2026-12-26T00", "2026-12-26T01", "2026-12-26T02")

    @pytest.mark.parametrize(
        ("given", "path"),
        [
            (["0 0 0 * *"], "exclusions[0]"),
            (["2026-12-25", "soon"], "exclusions[1]"),
            ("2026-12-25", "exclusions"),
            ([5], "exclusions[0]"),
            ([utc("2026-12-25T00:00")], "exclusions[0]"),
        ],
    )
    def test_refuses_what_is_no_exclusion(self, given, path):
        with pytest.raises(InvalidDefinition) as refusal:
            DailyPartitions("2026-01-01", exclusions=given)
        assert refusal.value.path == path

    def test_an_hour_after_a_gap_that_is_left_out_stays_left_out(self):
        """New York 2026-03-08: 02:00 becomes 03:00, which is excluded."""
        hours = HourlyPartitions("2026-03-08", "2026-03-09", timezone=NEW_YORK, exclusions=["* 3-4 * * *"])
        assert hours.keys(1, 3) == ("2026-03-08T01-0500", "2026-03-08T05-0400")

    @pytest.mark.parametrize(("excluded", "second"), [("0 2 * * *", "03+1100"), ("0 3 * * *", "02+1030")])
    def test_what_is_left_of_an_hour_is_excluded_with_it(self, excluded, second):
        """Lord Howe 2026-10-04: hour 02 is half an hour long."""
        hours = HourlyPartitions(
            "2026-10-04", "2026-10-05", timezone="Australia/Lord_Howe", exclusions=[excluded]
        )
        assert hours.key_at(2) == f"2026-10-04T{second}"
        assert hours.count() == 23

    def test_a_tick_that_is_moved_out_of_a_gap_is_excluded_by_the_time_it_has(self):
        """New York 2026-03-08: the tick of 02:30 happens at 03:00."""
        nightly = {"cadence": "30 2 * * *", "start": "2026-03-07", "end": "2026-03-10", "timezone": NEW_YORK}
        assert TimePartitions(**nightly, exclusions=["* 3-4 * * *"]).count() == 3
        assert TimePartitions(**nightly, exclusions=["2026-03-08T02:30"]).keys() == (
            "2026-03-07",
            "2026-03-09",
        )

    def test_refuses_to_leave_nothing(self):
        with pytest.raises(InvalidDefinition, match="nothing is left") as refusal:
            TimePartitions("0 5 * * 1-5", "2026-01-01", exclusions=["* 3-5 * * *"])
        assert refusal.value.path == "exclusions"

    def test_a_rare_period_is_defined_at_once(self):
        begun = perf_counter()
        leap = TimePartitions("0 0 29 2 *", "2000-01-01")
        assert leap.key_at(3) == "2012-02-29"
        assert perf_counter() - begun < 0.5


class TestBusinessCalendar:
    def test_knows_weekends_and_holidays(self):
        calendar = BusinessCalendar(holidays=["2026-12-25"])
        days = [date(2026, 12, day) for day in range(24, 29)]
        assert [calendar.is_business_day(day) for day in days] == [True, False, False, False, True]

    def test_weekends_differ(self):
        calendar = BusinessCalendar(weekend=["Friday", "saturday"])
        assert calendar.is_business_day(date(2026, 3, 8))
        assert not calendar.is_business_day(datetime(2026, 3, 6, 12))

    @pytest.mark.parametrize(
        "fields",
        [
            {"holidays": ["Christmas"]},
            {"weekend": ["caturday"]},
            {"weekend": ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]},
        ],
    )
    def test_refuses_what_is_none(self, fields):
        with pytest.raises(InvalidDefinition):
            BusinessCalendar(**fields)
