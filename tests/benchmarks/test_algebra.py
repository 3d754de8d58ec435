"""The benchmark compares like with like."""

import pytest

from scheduling.algebra.composites import ProductMapper
from scheduling.algebra.mappers import IdentityMapper
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.temporal import StartOfDayMapper, StartOfHourMapper, StartOfYearMapper
from scheduling.algebra.windows import DayWindow, YearWindow
from tests.benchmarks import algebra

KEYS = ["2026-03-10T09:37:51", "2024-02-29T23:59:59", "2001-01-01T00:00:00"]


@pytest.mark.parametrize("key", KEYS)
def test_the_plain_loops_answer_what_the_mappers_answer(key):
    assert StartOfHourMapper().to_downstream(key) == (algebra.plain_hour(key),)
    assert ProductMapper(IdentityMapper(), StartOfDayMapper()).to_downstream(f"us|{key}") == (
        algebra.plain_product(f"us|{key}"),
    )
    day, year = key[:10], key[:4]
    assert list(RollupMapper(StartOfDayMapper(), DayWindow()).required(day)) == algebra.plain_day(day)
    days = RollupMapper(StartOfYearMapper(input_format="%Y-%m-%d"), YearWindow())
    assert list(days.required(year)) == algebra.plain_year(year)


def test_a_figure_says_whether_it_meets_its_target():
    slow, fast = (algebra.Figure("mapping", rate, 50.0, 100.0) for rate in (99.0, 100.0))
    assert not slow.is_met
    assert slow.line().endswith("missed")
    assert fast.is_met
    assert "2.0" in fast.line()


def test_a_rate_counts_calls():
    called = []
    assert algebra.rate(called.append, ["a"] * 50) > 0
    assert len(called) == 50


def test_every_moment_is_new():
    assert len(set(algebra.MOMENTS)) == len(algebra.MOMENTS)
