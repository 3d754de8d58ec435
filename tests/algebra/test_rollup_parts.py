"""Parts of a rollup that do not fit each other are refused, and named."""

import pytest

from scheduling.algebra.errors import InvalidDefinition, MismatchedDefinition
from scheduling.algebra.mappers import AllowedKeyMapper, FixedKeyMapper, IdentityMapper
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.temporal import (
    StartOfDayMapper,
    StartOfHourMapper,
    StartOfMonthMapper,
    StartOfWeekMapper,
    StartOfYearMapper,
)
from scheduling.algebra.windows import DayWindow, MonthWindow, QuarterWindow, SegmentWindow, WeekWindow

OFFSET = "%Y-%m-%dT%H:%M:%S%z"


class TestPartsThatDoNotFit:
    """Slide 80 of the talk."""

    @pytest.mark.parametrize("upstream", [IdentityMapper(), FixedKeyMapper("all"), AllowedKeyMapper(["a"])])
    def test_are_strings_under_a_window_of_time(self, upstream):
        with pytest.raises(TypeError, match=r"DayWindow needs instants and \w+ gives strings"):
            RollupMapper(upstream, DayWindow())

    def test_are_instants_under_segments(self):
        with pytest.raises(MismatchedDefinition, match="needs strings and StartOfDayMapper gives instants"):
            RollupMapper(StartOfDayMapper(), SegmentWindow(["a"]))

    def test_are_rollups_under_a_window(self):
        with pytest.raises(TypeError):
            RollupMapper(RollupMapper(StartOfDayMapper(), DayWindow()), MonthWindow())

    @pytest.mark.parametrize(
        ("upstream", "window"),
        [
            (StartOfWeekMapper(), MonthWindow()),
            (StartOfHourMapper(), WeekWindow()),
            (StartOfYearMapper(), DayWindow()),
            (StartOfDayMapper(), QuarterWindow(members="month")),
        ],
    )
    def test_are_grains_of_neither_period_nor_members(self, upstream, window):
        with pytest.raises(InvalidDefinition, match="gives neither") as refusal:
            RollupMapper(upstream, window)
        assert refusal.value.path == "upstream_mapper"

    @pytest.mark.parametrize(
        ("upstream", "window"),
        [
            (StartOfDayMapper(input_format="%Y-%m-%d"), DayWindow()),
            (StartOfMonthMapper(input_format="%Y-%m"), MonthWindow()),
            (StartOfWeekMapper(input_format="%G-W%V"), WeekWindow()),
        ],
    )
    def test_are_formats_too_coarse_for_the_members(self, upstream, window):
        with pytest.raises(InvalidDefinition, match="cannot tell") as refusal:
            RollupMapper(upstream, window)
        assert refusal.value.path == "upstream_mapper.input_format"

    @pytest.mark.parametrize(
        ("fields", "path"),
        [
            ({"upstream_mapper": None, "window": DayWindow()}, "upstream_mapper"),
            ({"upstream_mapper": "day", "window": DayWindow()}, "upstream_mapper"),
            ({"upstream_mapper": DayWindow(), "window": DayWindow()}, "upstream_mapper"),
            ({"upstream_mapper": StartOfDayMapper(), "window": StartOfDayMapper()}, "window"),
            ({"upstream_mapper": StartOfDayMapper(), "window": None}, "window"),
            (
                {"upstream_mapper": StartOfDayMapper(), "window": DayWindow(), "wait_policy": None},
                "wait_policy",
            ),
            (
                {"upstream_mapper": StartOfDayMapper(), "window": DayWindow(), "wait_policy": 20},
                "wait_policy",
            ),
        ],
    )
    def test_are_named(self, fields, path):
        with pytest.raises(InvalidDefinition) as refusal:
            RollupMapper(**fields)
        assert refusal.value.path == path
