"""Periods in a zone: where they really start, and what they are made of."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.members import members, members_between, walls_between
from scheduling.algebra.periods import (
    Grain,
    next_start,
    previous_start,
    start_at,
    start_of,
    starts_at,
    wall_of,
    zone,
)
from tests.algebra.zones import CHANGING
from tests.moments import utc

NEW_YORK, SANTIAGO, APIA = zone("America/New_York"), zone("America/Santiago"), zone("Pacific/Apia")
LORD_HOWE, TROLL = zone("Australia/Lord_Howe"), zone("Antarctica/Troll")
UTC_ZONE = zone("UTC")
PERIODS = [Grain.MINUTE, Grain.HOUR, Grain.DAY, Grain.WEEK, Grain.MONTH, Grain.QUARTER, Grain.YEAR]


def day(text, found):
    start = start_at(Grain.DAY, datetime.fromisoformat(text), found)
    return start, next_start(Grain.DAY, start, found)


class TestALocalDay:
    @pytest.mark.parametrize(
        ("name", "text", "begins", "ends", "hours"),
        [
            # TC-01
            ("America/New_York", "2024-03-10", "2024-03-10T05:00", "2024-03-11T04:00", 23),
            ("America/New_York", "2026-03-08", "2026-03-08T05:00", "2026-03-09T04:00", 23),
            ("America/New_York", "2026-11-01", "2026-11-01T04:00", "2026-11-02T05:00", 25),
            ("Europe/Brussels", "2026-03-29", "2026-03-28T23:00", "2026-03-29T22:00", 23),
            ("Europe/Brussels", "2026-10-25", "2026-10-24T22:00", "2026-10-25T23:00", 25),
            # TC-02
            ("America/Santiago", "2026-09-06", "2026-09-06T04:00", "2026-09-07T03:00", 23),
            ("Asia/Beirut", "2026-03-29", "2026-03-28T22:00", "2026-03-29T21:00", 23),
            ("America/Havana", "2026-03-08", "2026-03-08T05:00", "2026-03-09T04:00", 23),
            # TC-03
            ("Pacific/Apia", "2011-12-29", "2011-12-29T10:00", "2011-12-30T10:00", 24),
            # by half an hour, and by two
            ("Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00", "2026-04-05T13:30", 24),
            ("Australia/Lord_Howe", "2026-10-04", "2026-10-03T13:30", "2026-10-04T13:00", 24),
            ("Antarctica/Troll", "2026-10-25", "2026-10-24T22:00", "2026-10-26T00:00", 26),
            ("UTC", "2026-03-08", "2026-03-08T00:00", "2026-03-09T00:00", 24),
        ],
    )
    def test_has_its_real_hours(self, name, text, begins, ends, hours):
        found = zone(name)
        start, end = day(text, found)
        assert (start, end) == (utc(begins), utc(ends))
        assert len(members(Grain.DAY, Grain.HOUR, start, found)) == hours

    def test_that_was_skipped_does_not_start(self):
        assert start_at(Grain.DAY, datetime(2011, 12, 30), APIA) is None
        assert starts_at(Grain.DAY, datetime(2011, 12, 30), APIA) == ()

    def test_that_was_skipped_is_passed_over(self):
        start, end = day("2011-12-29", APIA)
        assert wall_of(end, APIA) == datetime(2011, 12, 31)
        assert previous_start(Grain.DAY, end, APIA) == start

    def test_whose_midnight_comes_twice_starts_once(self):
        """Havana 2026-11-01 01:00 goes back to 00:00."""
        start, _ = day("2026-11-01", zone("America/Havana"))
        assert starts_at(Grain.DAY, datetime(2026, 11, 1), zone("America/Havana")) == (start,)
        assert start_of(Grain.DAY, start + timedelta(minutes=90), zone("America/Havana")) == start

    def test_whose_midnight_was_skipped_starts_when_clocks_resume(self):
        start, _ = day("2026-09-06", SANTIAGO)
        assert start_of(Grain.DAY, start, SANTIAGO) == start
        assert start_of(Grain.DAY, start + timedelta(hours=5), SANTIAGO) == start

    def test_has_real_months_around_it(self):
        """TC-01: 743 and 721 hours of New York, 744 of UTC."""
        hours = {
            (name, month): len(
                members(
                    Grain.MONTH,
                    Grain.HOUR,
                    start_at(Grain.MONTH, datetime(2026, month, 1), zone(name)),
                    zone(name),
                )
            )
            for name, month in [("America/New_York", 3), ("America/New_York", 11), ("UTC", 3)]
        }
        assert hours == {("America/New_York", 3): 743, ("America/New_York", 11): 721, ("UTC", 3): 744}


class TestAnHour:
    def test_that_comes_twice_starts_twice(self):
        first, second = starts_at(Grain.HOUR, datetime(2026, 11, 1, 1), NEW_YORK)
        assert next_start(Grain.HOUR, first, NEW_YORK) == second
        assert previous_start(Grain.HOUR, second, NEW_YORK) == first
        assert start_of(Grain.HOUR, second + timedelta(minutes=59), NEW_YORK) == second
        assert len(members(Grain.HOUR, Grain.MINUTE, first, NEW_YORK)) == 60
        assert len(members(Grain.HOUR, Grain.MINUTE, second, NEW_YORK)) == 60

    def test_that_is_skipped_never_starts(self):
        assert starts_at(Grain.HOUR, datetime(2026, 3, 8, 2), NEW_YORK) == ()
        assert next_start(Grain.HOUR, utc("2026-03-08T06:00"), NEW_YORK) == utc("2026-03-08T07:00")

    def test_may_have_thirty_or_ninety_minutes(self):
        """Lord Howe changes by half an hour."""
        (short,) = starts_at(Grain.HOUR, datetime(2026, 10, 4, 2), LORD_HOWE)
        (long,) = starts_at(Grain.HOUR, datetime(2026, 4, 5, 1), LORD_HOWE)
        assert len(members(Grain.HOUR, Grain.MINUTE, short, LORD_HOWE)) == 30
        assert len(members(Grain.HOUR, Grain.MINUTE, long, LORD_HOWE)) == 90
        assert next_start(Grain.HOUR, long, LORD_HOWE) - long == timedelta(minutes=90)

    def test_of_kolkata_starts_at_half_past_in_utc(self):
        """TC-06."""
        kolkata = zone("Asia/Kolkata")
        assert start_of(Grain.HOUR, utc("2026-02-17T13:45"), kolkata) == utc("2026-02-17T13:30")


class TestMembers:
    @pytest.mark.parametrize(
        ("text", "days"), [("2024-02-01", 29), ("2026-02-01", 28), ("2100-02-01", 28), ("2000-02-01", 29)]
    )
    def test_of_february_follow_the_calendar(self, text, days):
        """TC-25."""
        assert len(members(Grain.MONTH, Grain.DAY, utc(text), UTC_ZONE)) == days

    def test_of_an_iso_week_cross_the_year(self):
        """TC-23."""
        found = members(Grain.WEEK, Grain.DAY, utc("2024-12-30"), UTC_ZONE)
        assert [instant.date().isoformat() for instant in found] == [
            *(
                "2024-12-30",
                "2024-12-31",
                "2025-01-01",
                "2025-01-02",
                "2025-01-03",
                "2025-01-04",
                "2025-01-05",
            )
        ]

    def test_of_a_week_may_start_on_sunday(self):
        found = members(Grain.WEEK, Grain.DAY, utc("2026-05-13"), UTC_ZONE, "sunday")
        assert found[0] == utc("2026-05-10")

    def test_of_a_quarter_can_be_months(self):
        found = members(Grain.QUARTER, Grain.MONTH, utc("2026-04-01"), UTC_ZONE)
        assert found == (utc("2026-04-01"), utc("2026-05-01"), utc("2026-06-01"))

    def test_of_a_week_with_a_skipped_day_are_six(self):
        start = start_of(Grain.WEEK, utc("2011-12-28T12:00"), APIA)
        assert len(members(Grain.WEEK, Grain.DAY, start, APIA)) == 6

    def test_between_wall_times_may_be_none(self):
        assert members_between(Grain.HOUR, datetime(2026, 1, 1), datetime(2026, 1, 1), UTC_ZONE) == ()

    def test_as_wall_times_carry_the_fold(self):
        walls = walls_between(Grain.HOUR, datetime(2026, 11, 1), datetime(2026, 11, 1, 3), NEW_YORK)
        assert [(wall.hour, wall.fold) for wall in walls] == [(0, 0), (1, 0), (1, 1), (2, 0)]

    def test_as_wall_times_show_where_a_day_really_starts(self):
        (wall,) = walls_between(Grain.DAY, datetime(2026, 9, 6), datetime(2026, 9, 7), SANTIAGO)
        assert wall == datetime(2026, 9, 6, 1)

    def test_reach_to_the_end_of_the_calendar(self):
        walls = walls_between(Grain.HOUR, datetime(9999, 12, 31), datetime.max, UTC_ZONE)
        assert len(walls) == 24
        assert walls_between(Grain.MONTH, datetime(9999, 12, 1), datetime.max, UTC_ZONE) == [
            datetime(9999, 12, 1)
        ]


MOMENTS = st.datetimes(datetime(1995, 1, 1), datetime(2037, 1, 1)).map(
    lambda moment: moment.replace(tzinfo=UTC)
)


class TestNeighbours:
    @given(
        MOMENTS, st.sampled_from(PERIODS), st.sampled_from(CHANGING), st.sampled_from(["monday", "sunday"])
    )
    def test_surround_every_instant(self, moment, grain, name, week_start):
        found = zone(name)
        start, following = (step(grain, moment, found, week_start) for step in (start_of, next_start))
        assert start <= moment < following
        assert start_of(grain, start, found, week_start) == start
        assert start_of(grain, following, found, week_start) == following

    @given(MOMENTS, st.sampled_from(PERIODS), st.sampled_from(CHANGING))
    def test_step_forth_and_back(self, moment, grain, name):
        found = zone(name)
        following = next_start(grain, moment, found)
        assert previous_start(grain, following, found) == start_of(grain, moment, found)

    @given(MOMENTS, st.sampled_from(CHANGING))
    def test_of_hours_fill_the_day_without_a_gap(self, moment, name):
        found = zone(name)
        start = start_of(Grain.DAY, moment, found)
        hours = members(Grain.DAY, Grain.HOUR, start, found)
        stepped = [start]
        while (ahead := next_start(Grain.HOUR, stepped[-1], found)) < next_start(Grain.DAY, start, found):
            stepped.append(ahead)
        assert list(hours) == stepped
