"""Policies of rollups that could never be met."""

from datetime import UTC, datetime

import pytest

from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.mappers import FixedKeyMapper
from scheduling.algebra.policies import Deadline, Fire, MinimumCount, WaitForAll
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.temporal import (
    StartOfDayMapper,
    StartOfMonthMapper,
    StartOfWeekMapper,
    StartOfYearMapper,
)
from scheduling.algebra.windows import (
    DayWindow,
    MonthWindow,
    SegmentWindow,
    WeekWindow,
    YearWindow,
)

OFFSET = "%Y-%m-%dT%H:%M:%S%z"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class TestPoliciesWithinReach:
    """TC-26."""

    @pytest.mark.parametrize(
        ("upstream", "window", "n"),
        [
            (StartOfDayMapper(), DayWindow(), 25),
            (StartOfDayMapper("America/New_York"), DayWindow(), 25),
            (StartOfDayMapper("America/New_York", OFFSET), DayWindow(), 26),
            (StartOfWeekMapper(), WeekWindow(), 8),
            (StartOfMonthMapper(), MonthWindow(), 32),
            (FixedKeyMapper("all"), SegmentWindow(["a", "b"]), 3),
        ],
    )
    def test_are_refused_beyond_what_any_period_has(self, upstream, window, n):
        with pytest.raises(InvalidDefinition, match="can never be met") as refusal:
            RollupMapper(upstream, window, MinimumCount(n))
        assert refusal.value.path == "wait_policy"
        assert RollupMapper(upstream, window, MinimumCount(n - 1)).wait_policy == MinimumCount(n - 1)

    @pytest.mark.parametrize(
        ("upstream", "window", "n", "words"),
        [
            (
                StartOfDayMapper("America/New_York", OFFSET),
                DayWindow(),
                24,
                "unreachable on 2026-03-08, which has 23 hours",
            ),
            (StartOfDayMapper("America/New_York", OFFSET), DayWindow(), 25, "which has 24 hours"),
            (
                StartOfMonthMapper(input_format="%Y-%m-%d"),
                MonthWindow(),
                30,
                "unreachable on 2026-02, which has 28 days",
            ),
            (
                StartOfYearMapper(input_format="%Y-%m-%d"),
                YearWindow(),
                366,
                "unreachable on 2027, which has 365 days",
            ),
        ],
    )
    def test_are_warned_about_where_some_period_has_fewer(self, upstream, window, n, words):
        (warning,) = RollupMapper(upstream, window, MinimumCount(n)).warnings(NOW)
        assert words in warning

    @pytest.mark.parametrize(
        "policy", [MinimumCount(23), MinimumCount(-2), WaitForAll(), Deadline("6h", Fire)]
    )
    def test_are_not_warned_about_otherwise(self, policy):
        mapper = RollupMapper(StartOfDayMapper("America/New_York", OFFSET), DayWindow(), policy)
        assert mapper.warnings(NOW) == ()

    def test_warn_of_hours_with_one_name(self):
        (warning,) = RollupMapper(StartOfDayMapper("America/Los_Angeles"), DayWindow()).warnings(NOW)
        assert "come twice" in warning
