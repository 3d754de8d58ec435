"""Windows with gaps, and the most members that any window has."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from scheduling.algebra.periods import zone
from scheduling.algebra.windows import (
    DayWindow,
    HourWindow,
    MonthWindow,
    QuarterWindow,
    WeekWindow,
    YearWindow,
)


class TestTheMostMembers:
    @pytest.mark.parametrize(
        ("window", "most"),
        [
            (HourWindow(), 60),
            (DayWindow(), 24),
            (WeekWindow(), 7),
            (MonthWindow(), 31),
            (QuarterWindow(), 92),
            (YearWindow(), 366),
            (QuarterWindow(members="month"), 3),
            (YearWindow(members="quarter"), 4),
            (MonthWindow(members="hour"), 744),
        ],
    )
    def test_are_those_of_the_longest_period(self, window, most):
        assert window.most() == most

    def test_grow_where_hours_are_told_apart_that_clocks_repeat(self):
        assert DayWindow().most(timedelta(hours=1)) == 25
        assert WeekWindow().most(timedelta(hours=1)) == 7


@dataclass(frozen=True, slots=True, kw_only=True)
class WeekdayWindow(WeekWindow):
    """A window with gaps."""

    def keeps(self, wall):
        return wall.weekday() < 5


class TestAWindowWithGaps:
    def test_leaves_members_out(self):
        assert len(WeekdayWindow().walls(datetime(2026, 3, 9), zone("UTC"))) == 5

    def test_is_as_long_as_any_at_most(self):
        assert WeekdayWindow().most() == 7
