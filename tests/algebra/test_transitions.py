"""Changes of clocks, and the spans between them."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.transitions import EARLIEST, changes, next_fold, offset_at, stretches, stretches_back
from tests.moments import utc

NEW_YORK = ZoneInfo("America/New_York")
ZONES = ["UTC", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "Asia/Gaza"]
HOUR = timedelta(hours=1)
MOMENTS = st.datetimes(datetime(1950, 1, 1), datetime(2060, 1, 1)).map(lambda at: at.replace(tzinfo=UTC))


class TestChanges:
    def test_are_the_two_of_a_year_with_daylight_saving(self):
        spring, autumn = changes(NEW_YORK, 2026)
        assert (spring.at, spring.before, spring.after) == (utc("2026-03-08T07:00"), -5 * HOUR, -4 * HOUR)
        assert (autumn.at, autumn.before, autumn.after) == (utc("2026-11-01T06:00"), -4 * HOUR, -5 * HOUR)
        assert (spring.repeats, autumn.repeats) == (False, True)

    def test_name_the_wall_times_that_are_skipped_or_repeated(self):
        spring, autumn = changes(NEW_YORK, 2026)
        assert spring.walls == (datetime(2026, 3, 8, 2), datetime(2026, 3, 8, 3))
        assert autumn.walls == (datetime(2026, 11, 1, 1), datetime(2026, 11, 1, 2))

    def test_none_where_clocks_stand(self):
        assert changes(ZoneInfo("Asia/Kolkata"), 2026) == ()

    def test_a_pause_of_daylight_saving_during_ramadan(self):
        assert [change.at for change in changes(ZoneInfo("Africa/Casablanca"), 2026)] == [
            utc("2026-02-15T02:00"),
            utc("2026-03-22T02:00"),
        ]

    def test_two_changes_within_a_week(self):
        recife = changes(ZoneInfo("America/Recife"), 2000)
        assert [change.at for change in recife] == [
            utc("2000-02-27T02:00"),
            utc("2000-10-08T03:00"),
            utc("2000-10-15T02:00"),
        ]

    def test_a_whole_day_left_out(self):
        apia = [change for change in changes(ZoneInfo("Pacific/Apia"), 2011) if change.at.month == 12]
        assert [change.walls for change in apia] == [(datetime(2011, 12, 30), datetime(2011, 12, 31))]

    @pytest.mark.parametrize(
        ("zone", "year"), [("Asia/Gaza", 2011), ("Australia/Lord_Howe", 1987), ("Pacific/Apia", 2011)]
    )
    def test_agree_with_a_walk_over_every_minute(self, zone, year):
        place = ZoneInfo(zone)
        at, end = datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
        walked, offset = [], offset_at(place, at - timedelta(minutes=1))
        while at < end:
            if (now := offset_at(place, at)) != offset:
                walked.append((at, offset, now))
            offset = now
            at += timedelta(minutes=1)
        assert [(change.at, change.before, change.after) for change in changes(place, year)] == walked


class TestStretches:
    @given(st.sampled_from(ZONES), MOMENTS, st.timedeltas(timedelta(0), timedelta(days=900)))
    def test_cover_the_span_without_holes(self, zone, start, length):
        found = list(stretches(ZoneInfo(zone), start, start + length))
        assert [s.start for s in found] + [start + length] == [start] + [s.end for s in found]

    @given(st.sampled_from(ZONES), MOMENTS, st.timedeltas(timedelta(0), timedelta(days=900)))
    def test_backwards_are_the_same(self, zone, start, length):
        forward = list(stretches(ZoneInfo(zone), start, start + length))
        assert list(stretches_back(ZoneInfo(zone), start, start + length)) == forward[::-1]

    @given(st.sampled_from(ZONES), MOMENTS, st.timedeltas(timedelta(hours=1), timedelta(days=900)))
    def test_keep_one_offset(self, zone, start, length):
        place = ZoneInfo(zone)
        for stretch in stretches(place, start, start + length):
            inside = [stretch.start, stretch.start + (stretch.end - stretch.start) / 2]
            assert {offset_at(place, at) for at in inside} == {stretch.offset}

    def test_know_the_change_they_began_with_even_when_cut_off_after_it(self):
        (stretch,) = stretches(NEW_YORK, utc("2026-11-01T06:30"), utc("2026-11-01T07:00"))
        assert stretch.entered is not None
        assert stretch.entered.at == utc("2026-11-01T06:00")

    def test_know_the_change_that_is_about_to_end_them(self):
        (stretch,) = stretches(NEW_YORK, utc("2026-11-01T05:00"), utc("2026-11-01T05:30"))
        assert stretch.left is not None
        assert stretch.left.at == utc("2026-11-01T06:00")

    def test_begin_with_the_calendar(self):
        (stretch,) = stretches(NEW_YORK, EARLIEST - timedelta(days=30), EARLIEST + timedelta(days=30))
        assert (stretch.start, stretch.entered) == (EARLIEST, None)


class TestNextFold:
    def test_is_the_next_time_clocks_go_back(self):
        fold = next_fold(NEW_YORK, utc("2026-03-08T12:00"))
        assert fold is not None
        assert fold.at == utc("2026-11-01T06:00")

    def test_is_not_the_one_that_is_just_happening(self):
        fold = next_fold(NEW_YORK, utc("2026-11-01T06:00"))
        assert fold is not None
        assert fold.at == utc("2027-11-07T06:00")

    def test_none_where_clocks_stand(self):
        assert next_fold(ZoneInfo("Asia/Tokyo"), utc("2026-01-01T00:00")) is None
