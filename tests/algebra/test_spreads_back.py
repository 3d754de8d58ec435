"""Fan-outs, asked from their end: which upstream keys feed a downstream key."""

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from datetime import datetime

import pytest

from scheduling.algebra import spreads
from scheduling.algebra.composites import ChainMapper
from scheduling.algebra.errors import BeyondCalendar, PartitionError
from scheduling.algebra.mappers import AllowedKeyMapper, FixedKeyMapper, IdentityMapper
from scheduling.algebra.periods import floor_wall, shift_wall
from scheduling.algebra.spreads import FanOutMapper
from scheduling.algebra.temporal import (
    StartOfDayMapper,
    StartOfHourMapper,
    StartOfMinuteMapper,
    StartOfMonthMapper,
    StartOfQuarterMapper,
    StartOfWeekMapper,
    StartOfYearMapper,
)
from scheduling.algebra.windows import (
    DayWindow,
    Direction,
    HourWindow,
    MonthWindow,
    QuarterWindow,
    WeekWindow,
    YearWindow,
)

HOURS = StartOfHourMapper(input_format="%Y-%m-%dT%H")
DAYS = StartOfDayMapper(input_format="%Y-%m-%d")
WEEKS = StartOfWeekMapper(input_format="%G-W%V", output_format="%G-W%V")
MONTHS = StartOfMonthMapper(input_format="%Y-%m")
QUARTERS = StartOfQuarterMapper(input_format="%Y-Q{quarter}")
YEARS = StartOfYearMapper(input_format="%Y")
ZAGREB, NEW_YORK = "Europe/Zagreb", "America/New_York"


@dataclass(frozen=True, slots=True)
class WorkingDays(WeekWindow):
    def keeps(self, wall):
        return wall.weekday() < 5


def fed(mapper, first, last):
    """By downstream key, the upstream keys from around `first` to `last` that feed it."""
    found, upstream = defaultdict(set), mapper.upstream_mapper
    at = floor_wall(upstream.grain, first, upstream.keys.week_start)
    while at < last:
        try:
            key = upstream.representative(upstream.keys.key_of(at))
            for made in mapper.to_downstream(key):
                found[made].add(key)
        except PartitionError:
            pass
        at = shift_wall(upstream.grain, at, 1)
    return found


def check(mapper, first, last):
    """Each key made of what is well within `first` and `last` is traced back to just what feeds it."""
    every, third = fed(mapper, first, last), (last - first) / 3
    made = fed(mapper, first + third, last - third)
    assert made
    for key in made:
        keys = mapper.upstream_keys(key)
        assert sorted(keys) == sorted(every[key]), key


@pytest.mark.parametrize("direction", list(Direction))
class TestEachKeyIsTracedBack:
    @pytest.mark.parametrize(
        ("upstream", "down"),
        [
            (WEEKS, None),
            (WEEKS, StartOfWeekMapper()),
            (WEEKS, StartOfMonthMapper()),
            (WEEKS, StartOfYearMapper()),
            (WEEKS, StartOfHourMapper()),
            (WEEKS, IdentityMapper()),
            (DAYS, None),
            (DAYS, StartOfMonthMapper()),
            (MONTHS, None),
            (MONTHS, StartOfWeekMapper()),
            (MONTHS, ChainMapper(IdentityMapper(), IdentityMapper())),
        ],
    )
    @pytest.mark.parametrize("kind", [WeekWindow, WorkingDays])
    def test_through_weeks(self, upstream, down, kind, direction):
        check(
            FanOutMapper(upstream, kind(direction=direction), down),
            datetime(2023, 1, 1),
            datetime(2027, 1, 1),
        )

    @pytest.mark.parametrize(
        ("upstream", "window", "down"),
        [
            (MONTHS, QuarterWindow(members="month"), None),
            (MONTHS, QuarterWindow(members="month"), StartOfQuarterMapper()),
            (QUARTERS, QuarterWindow(members="month"), None),
            (QUARTERS, QuarterWindow(members="month"), StartOfYearMapper()),
            (QUARTERS, MonthWindow(), StartOfWeekMapper()),
            (YEARS, YearWindow(members="quarter"), None),
            (DAYS, MonthWindow(), StartOfMonthMapper()),
        ],
    )
    def test_through_longer_periods(self, upstream, window, down, direction):
        mapper = FanOutMapper(upstream, replace(window, direction=direction), down)
        check(mapper, datetime(2017, 1, 1), datetime(2029, 1, 1))

    @pytest.mark.parametrize("month", [3, 11])
    @pytest.mark.parametrize(
        ("upstream", "window", "down"),
        [
            (DAYS, DayWindow(), StartOfDayMapper(ZAGREB)),
            (DAYS, DayWindow(), StartOfHourMapper(ZAGREB)),
            (DAYS, DayWindow(), StartOfHourMapper(output_format="%Y-%m-%dT%H%z")),
            (HOURS, HourWindow(), StartOfMinuteMapper()),
            (HOURS, HourWindow(), StartOfDayMapper()),
            (HOURS, DayWindow(), None),
        ],
    )
    def test_where_clocks_change(self, upstream, window, down, month, direction):
        there = replace(upstream, timezone=NEW_YORK)
        mapper = FanOutMapper(there, replace(window, direction=direction), down)
        check(mapper, datetime(2026, month, 4 - month // 3), datetime(2026, month, 13 - month // 3))


@pytest.mark.parametrize(("kept", "most"), [(spreads.MOST_KEPT, 1), (0, 8)])
def test_keys_of_one_event_look_at_each_window_once_unless_it_is_too_long(kept, most, monkeypatch):
    monkeypatch.setattr(spreads, "MOST_KEPT", kept)
    looked = []

    class Watched(WeekWindow):
        def keeps(self, wall):
            looked.append(wall)
            return True

    mapper = FanOutMapper(WEEKS, Watched())
    for key in mapper.to_downstream("2026-W11"):
        assert mapper.upstream_keys(key) == ("2026-W11",)
    assert max(Counter(looked).values()) == most


class TestWhatCannotBe:
    def test_a_key_that_feeds_nothing_is_not_among_them(self):
        """The Tuesday of that week is refused, and with it the whole key."""
        mapper = FanOutMapper(WEEKS, WeekWindow(), AllowedKeyMapper(("2026-03-09T00:00:00",)))
        with pytest.raises(PartitionError):
            mapper.to_downstream("2026-W11")
        assert mapper.upstream_keys("2026-03-09T00:00:00") == ()

    def test_of_one_that_is_no_member_is_nothing(self):
        days = FanOutMapper(WEEKS, WorkingDays())
        assert days.upstream_keys("2026-03-14") == ()
        assert FanOutMapper(WEEKS, WeekWindow(), IdentityMapper()).upstream_keys("nonsense") == ()

    @pytest.mark.parametrize(
        "mapper",
        [
            FanOutMapper(WEEKS, WeekWindow(), FixedKeyMapper("k")),
            FanOutMapper(StartOfWeekMapper(), WeekWindow(), StartOfMonthMapper()),
            FanOutMapper(replace(HOURS, output_format="%Y-%m-%dT%H"), YearWindow(), StartOfDayMapper()),
        ],
    )
    def test_is_not_listed(self, mapper):
        """Any week; any moment of a week; a year of hours."""
        assert mapper.upstream_keys(mapper.samples()[0]) is None

    def test_of_the_end_of_the_calendar_is_refused(self):
        with pytest.raises(BeyondCalendar):
            FanOutMapper(WEEKS, WeekWindow(), StartOfMonthMapper()).upstream_keys("9999-12")
