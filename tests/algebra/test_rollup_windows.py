"""Rollups of every window: each needs all its members, and each member leads back."""

import pytest

from scheduling.algebra.errors import InvalidKey
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.temporal import (
    StartOfDayMapper,
    StartOfMinuteMapper,
    StartOfMonthMapper,
    StartOfQuarterMapper,
    StartOfWeekMapper,
    StartOfYearMapper,
)
from scheduling.algebra.windows import (
    DayWindow,
    HourWindow,
    MonthWindow,
    QuarterWindow,
    WeekWindow,
    YearWindow,
)


class TestOtherWindows:
    @pytest.mark.parametrize(
        ("mapper", "key", "count", "first", "last"),
        [
            (
                RollupMapper(StartOfMonthMapper(input_format="%Y-%m-%d"), MonthWindow()),
                "2024-02",
                29,
                "2024-02-01",
                "2024-02-29",
            ),
            (
                RollupMapper(StartOfDayMapper(input_format="%Y-%m-%d"), MonthWindow()),
                "2024-02",
                29,
                "2024-02-01",
                "2024-02-29",
            ),
            (
                RollupMapper(StartOfQuarterMapper(input_format="%Y-%m-%d"), QuarterWindow()),
                "2026-Q1",
                90,
                "2026-01-01",
                "2026-03-31",
            ),
            (
                RollupMapper(StartOfQuarterMapper(input_format="%Y-%m"), QuarterWindow(members="month")),
                "2026-Q1",
                3,
                "2026-01",
                "2026-03",
            ),
            (
                RollupMapper(StartOfMonthMapper(input_format="%Y-%m"), YearWindow(members="month")),
                "2026",
                12,
                "2026-01",
                "2026-12",
            ),
            (
                RollupMapper(StartOfYearMapper(input_format="%Y-%m-%d"), YearWindow()),
                "2024",
                366,
                "2024-01-01",
                "2024-12-31",
            ),
            (
                RollupMapper(StartOfWeekMapper(input_format="%Y-%m-%d"), WeekWindow()),
                "2024-12-30 (W01)",
                7,
                "2024-12-30",
                "2025-01-05",
            ),
            (
                RollupMapper(StartOfMinuteMapper(), HourWindow()),
                "2026-03-10T09",
                60,
                "2026-03-10T09:00:00",
                "2026-03-10T09:59:00",
            ),
            (
                RollupMapper(StartOfMonthMapper(), MonthWindow(members="hour")),
                "2026-02",
                672,
                "2026-02-01T00:00:00",
                "2026-02-28T23:00:00",
            ),
        ],
    )
    def test_need_all_their_members(self, mapper, key, count, first, last):
        required = mapper.required(key)
        assert (len(required), required[0], required[-1]) == (count, first, last)
        assert mapper.to_downstream(first) == (key,)
        assert mapper.to_downstream(last) == (key,)

    def test_may_start_weeks_on_sunday(self):
        mapper = RollupMapper(StartOfWeekMapper(input_format="%Y-%m-%d", week_start="sunday"), WeekWindow())
        assert mapper.required("2026-03-08 (W10)")[0] == "2026-03-08"
        assert mapper.to_downstream("2026-03-14") == ("2026-03-08 (W10)",)

    @pytest.mark.parametrize(
        ("direction", "first", "last"),
        [
            ("forward", "2026-03-09", "2026-03-15"),
            ("backward", "2026-03-03", "2026-03-09"),
            ("following", "2026-03-16", "2026-03-22"),
        ],
    )
    def test_work_both_ways_in_every_direction(self, direction, first, last):
        mapper = RollupMapper(StartOfWeekMapper(input_format="%Y-%m-%d"), WeekWindow(direction=direction))
        required = mapper.required("2026-03-09 (W11)")
        assert (required[0], required[-1]) == (first, last)
        assert {mapper.to_downstream(key) for key in required} == {("2026-03-09 (W11)",)}

    def test_beyond_the_calendar_are_no_keys(self):
        with pytest.raises(InvalidKey, match="beyond the calendar"):
            RollupMapper(StartOfDayMapper(), DayWindow(direction="backward")).required("0001-01-01")
