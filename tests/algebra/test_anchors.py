"""The anchor of a window: where it may begin, and its members from there on."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.errors import CannotMap
from scheduling.algebra.periods import floor_wall, zone
from scheduling.algebra.windows import (
    DayWindow,
    Direction,
    MonthWindow,
    QuarterWindow,
    WeekWindow,
    YearWindow,
)

UTC_ZONE = zone("UTC")


def walls(window, anchor, found=UTC_ZONE):
    return [wall.isoformat() for wall in window.walls(datetime.fromisoformat(anchor), found)]


class TestAnAnchor:
    @pytest.mark.parametrize("window", [MonthWindow(), QuarterWindow(), YearWindow(members="month")])
    @pytest.mark.parametrize("direction", ["forward", "backward", "following"])
    def test_of_a_month_or_more_is_the_first_of_a_month(self, window, direction):
        window = type(window)(direction=direction, members=window.members)
        with pytest.raises(CannotMap, match="no first of a month"):
            window.walls(datetime(2026, 3, 11), UTC_ZONE)

    def test_of_a_day_may_be_any_time(self):
        assert walls(DayWindow(), "2026-03-10T10:42:15")[:2] == ["2026-03-10T10:42:15", "2026-03-10T11:42:15"]

    @pytest.mark.parametrize(
        ("window", "anchor"),
        [
            (DayWindow(direction="backward"), "0001-01-01"),
            (WeekWindow(direction="following"), "9999-12-27"),
            (MonthWindow(), "9999-12-01"),
            (DayWindow(), "9999-12-31T23:00"),
        ],
    )
    def test_may_not_lead_beyond_the_calendar(self, window, anchor):
        with pytest.raises(CannotMap, match="beyond the calendar") as refusal:
            window.walls(datetime.fromisoformat(anchor), UTC_ZONE)
        assert isinstance(refusal.value, OverflowError)

    def test_may_be_the_last_day_there_is(self):
        assert len(walls(DayWindow(), "9999-12-31")) == 24
        assert len(walls(QuarterWindow(direction="backward", members="month"), "9999-12-01")) == 3

    @given(
        st.sampled_from([DayWindow, WeekWindow, MonthWindow, QuarterWindow, YearWindow]),
        st.sampled_from(list(Direction)),
        st.datetimes(datetime(1990, 1, 1), datetime(2060, 1, 1)),
        st.sampled_from(["monday", "sunday"]),
    )
    def test_is_found_again_from_each_member(self, cls, direction, moment, week_start):
        window = cls(direction=direction)
        anchor = floor_wall(window.period, moment, week_start)
        for wall in window.walls(anchor, UTC_ZONE):
            assert window.anchor_of(wall, week_start) == anchor

    @given(
        st.sampled_from([DayWindow, WeekWindow, MonthWindow]),
        st.sampled_from(list(Direction)),
        st.datetimes(datetime(1990, 1, 1), datetime(2060, 1, 1)),
    )
    def test_of_any_time_has_a_window_that_holds_it(self, cls, direction, moment):
        window = cls(direction=direction)
        member = floor_wall(window.members, moment)
        assert member in window.walls(window.anchor_of(moment), UTC_ZONE)
