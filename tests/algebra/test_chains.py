"""Mappers one after another."""

from datetime import UTC, datetime

import pytest

from scheduling.algebra.composites import ChainMapper
from scheduling.algebra.errors import CannotMap, InvalidDefinition
from scheduling.algebra.mappers import AllowedKeyMapper, FixedKeyMapper, IdentityMapper
from scheduling.algebra.policies import MinimumCount, WaitForAll
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.spreads import FanOutMapper
from scheduling.algebra.temporal import (
    StartOfDayMapper,
    StartOfHourMapper,
    StartOfMonthMapper,
    StartOfQuarterMapper,
    StartOfWeekMapper,
    StartOfYearMapper,
)
from scheduling.algebra.windows import DayWindow, HourWindow, MonthWindow, QuarterWindow, WeekWindow

HOURS = RollupMapper(StartOfDayMapper(), DayWindow())
DAYS = RollupMapper(StartOfMonthMapper(input_format="%Y-%m-%d"), MonthWindow())


class TestChainMapper:
    """Slide 64 of the talk."""

    def test_maps_one_after_another(self):
        mapper = ChainMapper(StartOfHourMapper(), StartOfDayMapper(input_format="%Y-%m-%dT%H"))
        assert mapper.to_downstream("2026-03-10T09:37:51") == ("2026-03-10",)
        assert mapper.partition_date("2026-03-10") == datetime(2026, 3, 10, tzinfo=UTC)
        assert mapper.representative("2026-03-10") == "2026-03-10T00:00:00"
        assert mapper.required("2026-03-10") is None
        assert mapper.is_one_to_one
        assert mapper.samples() == mapper.mappers[-1].samples()
        assert mapper.counts_as("x") == "x"

    def test_that_does_not_fit_is_refused_when_defined(self):
        with pytest.raises(InvalidDefinition, match="cannot read what StartOfHourMapper writes") as refusal:
            ChainMapper(StartOfHourMapper(), StartOfDayMapper())
        assert refusal.value.path == "mappers[1]"

    def test_that_fits_for_some_keys_is_not(self):
        mapper = ChainMapper(StartOfQuarterMapper(), StartOfYearMapper(input_format="%Y-Q1"))
        assert mapper.to_downstream("2026-02-01T00:00:00") == ("2026",)
        with pytest.raises(CannotMap):
            mapper.to_downstream("2026-05-01T00:00:00")

    def test_does_not_know_what_a_list_will_let_through(self):
        mapper = ChainMapper(StartOfHourMapper(), AllowedKeyMapper(["2026-03-10T09"]))
        assert mapper.to_downstream("2026-03-10T09:37:51") == ("2026-03-10T09",)

    def test_knows_what_a_fixed_key_is(self):
        with pytest.raises(InvalidDefinition):
            ChainMapper(FixedKeyMapper("all"), StartOfDayMapper())

    def test_names_each_key_once(self):
        week = FanOutMapper(StartOfWeekMapper(), WeekWindow())
        assert ChainMapper(week, FixedKeyMapper("x")).to_downstream("2026-03-10T00:00:00") == ("x",)

    def test_spreads_what_is_spread(self):
        quarter = FanOutMapper(StartOfQuarterMapper(), QuarterWindow(members="month"))
        month = FanOutMapper(StartOfMonthMapper(input_format="%Y-%m"), MonthWindow())
        made = ChainMapper(quarter, month).to_downstream("2026-03-10T00:00:00")
        assert (len(made), made[0], made[-1]) == (90, "2026-01-01", "2026-03-31")

    @pytest.mark.parametrize("mappers", [(), (IdentityMapper(),)])
    def test_joins_at_least_two(self, mappers):
        with pytest.raises(TypeError):
            ChainMapper(*mappers)

    def test_knows_its_upstream_keys_where_every_part_does(self):
        chain = ChainMapper(AllowedKeyMapper(["us"]), IdentityMapper())
        assert chain.upstream_keys("us") == ("us",)
        assert ChainMapper(StartOfHourMapper(), IdentityMapper()).upstream_keys("2026-03-10T09") is None


class TestRollupsInAChain:
    def test_wait_after_a_mapper(self):
        mapper = ChainMapper(
            StartOfHourMapper(), RollupMapper(StartOfDayMapper(input_format="%Y-%m-%dT%H"), DayWindow())
        )
        required = mapper.required("2026-03-10")
        assert len(required) == 24
        assert required[9] == "2026-03-10T09:00:00"
        assert mapper.counts_as("2026-03-10T09:37:51") == "2026-03-10T09:00:00"
        assert mapper.to_downstream("2026-03-10T09:37:51") == ("2026-03-10",)

    def test_wait_for_each_other(self):
        mapper = ChainMapper(HOURS, DAYS)
        assert len(mapper.required("2026-02")) == 28 * 24
        assert mapper.to_downstream("2026-02-14T09:00:00") == ("2026-02",)
        assert mapper.wait_policy == WaitForAll()

    def test_wait_before_what_keeps_keys(self):
        mapper = ChainMapper(HOURS, AllowedKeyMapper(["2026-03-10"]))
        assert len(mapper.required("2026-03-10")) == 24

    def test_cannot_wait_before_what_merges_keys(self):
        with pytest.raises(InvalidDefinition, match="use a RollupMapper there as well") as refusal:
            ChainMapper(
                RollupMapper(StartOfHourMapper(), HourWindow()), StartOfDayMapper(input_format="%Y-%m-%dT%H")
            )
        assert refusal.value.path == "mappers[1]"

    def test_count_what_cannot_be_read_as_itself(self):
        mapper = ChainMapper(AllowedKeyMapper(["2026-03-10T09:00:00"]), HOURS)
        assert mapper.counts_as("mars") == "mars"
        assert mapper.counts_as("2026-03-10T09:00:00") == "2026-03-10T09:00:00"

    def test_with_policies_of_their_own_are_refused(self):
        with pytest.raises(InvalidDefinition):
            ChainMapper(RollupMapper(StartOfDayMapper(), DayWindow(), MinimumCount(3)), DAYS)
