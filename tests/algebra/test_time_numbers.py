"""Numbers of partitions of time: which key has which, and which keys have none."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.algebra.calendars import BusinessCalendar
from scheduling.algebra.errors import InvalidKey
from scheduling.algebra.periods import Grain, starts_at
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.algebra.time_shorthands import DailyPartitions
from tests.moments import utc

NEW_YORK = "America/New_York"


class TestNumbers:
    def test_outside_of_the_definition_there_are_none(self):
        days = DailyPartitions("2026-03-01", "2026-03-04")
        for number in (-1, 3, 10**9):
            with pytest.raises(IndexError):
                days.key_at(number)
        with pytest.raises(IndexError):
            DailyPartitions("2026-03-01").key_at(10**9)
        assert days.keys(3, 5) == ()
        assert days.keys(1) == ("2026-03-02", "2026-03-03")

    @pytest.mark.parametrize("key", ["2026-02-28", "2026-03-04"])
    def test_a_key_outside_is_none_and_the_nearest_is_named(self, key):
        with pytest.raises(InvalidKey, match=r"the nearest is 2026-03-0[13]"):
            DailyPartitions("2026-03-01", "2026-03-04").index(key)

    def test_a_key_to_come_is_none_yet(self):
        days = DailyPartitions("2026-03-01")
        assert days.contains("2030-01-01")
        assert not days.contains("2030-01-01", utc("2026-03-10T00:00"))

    @pytest.mark.parametrize("key", ["2026-3-2", "bad", "", None, 5, "2026-03-02T00"])
    def test_a_sloppy_spelling_is_no_key(self, key):
        assert not DailyPartitions("2026-03-01").contains(key)

    @given(
        st.sampled_from(
            ["minute", "hour", "day", "week", "month", "quarter", "year", "*/10 * * * *", "30 2 * * 1-5"]
        ),
        st.sampled_from(["UTC", NEW_YORK, "Australia/Lord_Howe", "America/Santiago", "Pacific/Apia"]),
        st.datetimes(datetime(2009, 1, 1), datetime(2012, 1, 1)),
        st.integers(0, 100_000),
        st.booleans(),
    )
    @settings(max_examples=200)
    def test_numbers_and_keys_are_inverse(self, cadence, zone, start, number, business):
        exclusions = [BusinessCalendar()] if business and cadence in ("minute", "hour", "day") else []
        definition = TimePartitions(cadence, start, timezone=zone, exclusions=exclusions)
        number = number if cadence in ("minute", "hour", "*/10 * * * *") else number % 150
        key = definition.key_at(number)
        assert definition.index(key) == number
        begin, end = definition.period(key)
        assert begin < end
        assert definition.keys(number, number + 2)[0] == key

    @given(
        st.sampled_from([Grain.HOUR, Grain.DAY, Grain.MONTH]),
        st.sampled_from(
            [NEW_YORK, "Australia/Lord_Howe", "America/Havana", "Pacific/Apia", "Africa/Casablanca"]
        ),
        st.dates(date(2010, 1, 1), date(2030, 1, 1)),
    )
    @settings(max_examples=100)
    def test_periods_are_those_of_the_calendar(self, grain, zone, day):
        """Each period is one that `periods` finds too, wall time by wall time."""
        place = ZoneInfo(zone)
        wall = datetime(day.year, day.month, 1 if grain is Grain.MONTH else day.day)
        definition = TimePartitions(grain.value, wall, wall + timedelta(days=3), timezone=zone)
        hours = 72 if grain is Grain.HOUR else 3
        step = timedelta(hours=1) if grain is Grain.HOUR else timedelta(days=1)
        walls = [wall + step * n for n in range(hours)]
        if grain is Grain.MONTH:
            walls = [each for each in walls if each.day == 1]
        wanted = sorted(start for each in walls for start in starts_at(grain, each, place))
        assert [definition.start_of(n) for n in range(definition.count())] == wanted
