"""Mappers joined segment by segment."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.composites import ProductMapper
from scheduling.algebra.errors import CannotMap, InvalidDefinition, InvalidKey
from scheduling.algebra.knowing import AllPartitionsMapper, LatestPartitionMapper
from scheduling.algebra.mappers import AllowedKeyMapper, FixedKeyMapper, IdentityMapper
from scheduling.algebra.policies import MinimumCount, WaitForAll
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.sliding import SlidingWindowMapper
from scheduling.algebra.spreads import FanOutMapper
from scheduling.algebra.temporal import (
    StartOfDayMapper,
    StartOfHourMapper,
    StartOfMonthMapper,
    StartOfWeekMapper,
)
from scheduling.algebra.windows import DayWindow, SegmentWindow, WeekWindow

HOURS = RollupMapper(StartOfDayMapper(), DayWindow())
REGIONS = RollupMapper(FixedKeyMapper("all"), SegmentWindow(["eu", "us"]))


class TestProductMapper:
    """Slide 63 of the talk, and TC-35."""

    def test_maps_segment_by_segment(self):
        mapper = ProductMapper(IdentityMapper(), StartOfDayMapper())
        assert mapper.to_downstream("us|2026-03-10T09:00:00") == ("us|2026-03-10",)
        assert mapper.partition_date("us|2026-03-10") == datetime(2026, 3, 10, tzinfo=UTC)
        assert mapper.required("us|2026-03-10") is None
        assert mapper.counts_as("us|2026-03-10T09:37:51") == "us|2026-03-10T09:37:51"
        assert mapper.is_one_to_one
        assert not mapper.is_rollup
        assert mapper.wait_policy is None
        assert mapper.member_noun == "keys"

    @pytest.mark.parametrize("key", ["us", "us|2026-03-10T09:00:00|x", "", "us|2026-03-10", "us|"])
    def test_makes_other_keys_a_mapping_problem(self, key):
        with pytest.raises(CannotMap):
            ProductMapper(IdentityMapper(), StartOfDayMapper()).to_downstream(key)

    def test_says_how_many_segments_belong_there(self):
        with pytest.raises(CannotMap, match=r"3 segments joined with \|; this mapper takes 2"):
            ProductMapper(IdentityMapper(), IdentityMapper()).to_downstream("a|b|c")

    def test_shows_what_it_makes_to_whoever_asks_for_another_key(self):
        mapper = ProductMapper(IdentityMapper(), RollupMapper(StartOfDayMapper(), DayWindow()))
        with pytest.raises(
            InvalidKey, match=r"has 1 segment joined with \|; this mapper makes 2, as in …\|20"
        ):
            mapper.required("garbage")

    @pytest.mark.parametrize(
        ("delimiter", "key", "made"),
        [
            ("::", "us::2026-03-10T09:00:00", "us::2026-03-10"),
            ("/", "us/2026-03-10T09:00:00", "us/2026-03-10"),
        ],
    )
    def test_may_be_joined_otherwise(self, delimiter, key, made):
        assert ProductMapper(IdentityMapper(), StartOfDayMapper(), delimiter=delimiter).to_downstream(
            key
        ) == (made,)

    def test_may_stand_in_another(self):
        inner = ProductMapper(IdentityMapper(), StartOfDayMapper(), delimiter="#")
        mapper = ProductMapper(IdentityMapper(), inner)
        assert mapper.to_downstream("us|x#2026-03-10T09:00:00") == ("us|x#2026-03-10",)
        assert mapper.partition_date("us|x#2026-03-10") == datetime(2026, 3, 10, tzinfo=UTC)

    def test_escapes_what_would_be_another_segment(self):
        mapper = ProductMapper(FixedKeyMapper("a|b"), IdentityMapper())
        (key,) = mapper.to_downstream("x|y")
        assert key == "a\\|b|y"
        assert mapper.representative(key) == "a\\|b|y"

    @pytest.mark.parametrize(
        ("mapper", "key"),
        [
            (ProductMapper(IdentityMapper(), IdentityMapper()), "a|b"),
            (ProductMapper(StartOfDayMapper(), StartOfMonthMapper()), "2026-03-10|2026-03"),
            (ProductMapper(IdentityMapper(), StartOfDayMapper()), "a|b|c"),
        ],
    )
    def test_has_no_date_where_none_or_several_segments_have_one(self, mapper, key):
        assert mapper.partition_date(key) is None

    @pytest.mark.parametrize("mappers", [(), (IdentityMapper(),)])
    def test_joins_at_least_two(self, mappers):
        with pytest.raises(TypeError, match="two mappers or more"):
            ProductMapper(*mappers)

    @pytest.mark.parametrize("delimiter", ["", "\\", None, 5])
    def test_needs_a_delimiter(self, delimiter):
        with pytest.raises(InvalidDefinition) as refusal:
            ProductMapper(IdentityMapper(), IdentityMapper(), delimiter=delimiter)
        assert refusal.value.path == "delimiter"

    def test_is_made_of_mappers(self):
        with pytest.raises(InvalidDefinition) as refusal:
            ProductMapper(IdentityMapper(), DayWindow())
        assert refusal.value.path == "mappers[1]"

    def test_knows_its_upstream_keys_where_every_part_does(self):
        assert ProductMapper(IdentityMapper(), AllowedKeyMapper(["x"])).upstream_keys("a|x") == ("a|x",)
        assert ProductMapper(IdentityMapper(), StartOfDayMapper()).upstream_keys("a|2026-03-10") is None

    def test_spreads_over_every_combination(self):
        week = FanOutMapper(StartOfWeekMapper(input_format="%Y-%m-%d"), WeekWindow())
        made = ProductMapper(IdentityMapper(), week).to_downstream("us|2026-03-10")
        assert len(made) == 7
        assert made[0] == "us|2026-03-09"

    def test_is_one_value(self):
        assert ProductMapper(IdentityMapper(), HOURS) == ProductMapper(IdentityMapper(), HOURS, delimiter="|")
        assert ProductMapper(IdentityMapper(), HOURS) != ProductMapper(IdentityMapper(), HOURS, delimiter="/")
        assert len({ProductMapper(IdentityMapper(), HOURS), ProductMapper(HOURS, IdentityMapper())}) == 2

    @given(st.text(min_size=1, max_size=6), st.text(min_size=1, max_size=6))
    def test_keeps_every_pair_of_segments(self, left, right):
        mapper = ProductMapper(IdentityMapper(), IdentityMapper())
        key = ProductMapper(FixedKeyMapper("k"), IdentityMapper()).delimiter.join([left, right])
        try:
            (made,) = mapper.to_downstream(key)
        except CannotMap:
            return
        assert mapper.to_downstream(made) == (made,)


class TestRollupsInAProduct:
    def test_need_all_hours_per_region(self):
        mapper = ProductMapper(IdentityMapper(), HOURS)
        required = mapper.required("us|2026-03-10")
        assert mapper.is_rollup
        assert len(required) == 24
        assert required[9] == "us|2026-03-10T09:00:00"
        assert mapper.to_downstream(required[9]) == ("us|2026-03-10",)
        assert mapper.wait_policy == WaitForAll()
        assert mapper.member_noun == "hours"
        assert mapper.upstream_keys("us|2026-03-10") == required

    def test_do_not_mix_regions(self):
        mapper = ProductMapper(IdentityMapper(), HOURS)
        assert not set(mapper.required("us|2026-03-10")) & set(mapper.required("eu|2026-03-10"))

    def test_need_every_region_times_every_hour(self):
        mapper = ProductMapper(REGIONS, HOURS)
        required = mapper.required("all|2026-03-10")
        assert len(required) == len(set(required)) == 48
        assert required[0] == "eu|2026-03-10T00:00:00"
        assert required[-1] == "us|2026-03-10T23:00:00"
        assert {mapper.to_downstream(key) for key in required} == {("all|2026-03-10",)}

    def test_are_complete_by_row_or_all_at_once(self):
        """TC-37: three regions by seven days."""
        week = RollupMapper(StartOfWeekMapper(input_format="%Y-%m-%d"), WeekWindow())
        regions = RollupMapper(FixedKeyMapper("all"), SegmentWindow(["ap", "eu", "us"]))
        by_row, at_once = ProductMapper(IdentityMapper(), week), ProductMapper(regions, week)
        us = {f"us|2026-03-{day:02}" for day in range(9, 16)}
        eu = {f"eu|2026-03-{day:02}" for day in range(9, 15)}
        row = by_row.required("us|2026-03-09 (W11)")
        assert set(row) == us
        assert by_row.wait_policy.satisfied(len(us & set(row)), len(row))
        everything = at_once.required("all|2026-03-09 (W11)")
        assert len(everything) == 21
        assert not at_once.wait_policy.satisfied(len((us | eu) & set(everything)), 21)

    def test_count_in_the_manner_of_members(self):
        mapper = ProductMapper(IdentityMapper(), RollupMapper(StartOfHourMapper(), DayWindow()))
        assert mapper.counts_as("us|2026-03-10T09:37:51") == "us|2026-03-10T09:00:00"

    def test_let_another_time_be_any_within_its_period(self):
        """The first segment is 1:1: any second of its day will do."""
        mapper = ProductMapper(StartOfDayMapper(), REGIONS)
        assert mapper.required("2026-03-10|all") == ("2026-03-10T00:00:00|eu", "2026-03-10T00:00:00|us")
        assert mapper.counts_as("2026-03-10T17:00:00|us") == "2026-03-10T00:00:00|us"

    def test_let_a_fixed_segment_be_anything(self):
        mapper = ProductMapper(FixedKeyMapper("any"), HOURS)
        assert mapper.counts_as("shop 7|2026-03-10T09:00:00") in mapper.required("any|2026-03-10")

    def test_keep_their_own_policy(self):
        some = RollupMapper(StartOfDayMapper(), DayWindow(), MinimumCount(20))
        assert ProductMapper(IdentityMapper(), some).wait_policy == MinimumCount(20)

    def test_together_can_only_wait_for_all(self):
        some = RollupMapper(StartOfDayMapper(), DayWindow(), MinimumCount(20))
        with pytest.raises(InvalidDefinition, match="only wait for all"):
            ProductMapper(REGIONS, some)

    @pytest.mark.parametrize(
        "part",
        [AllPartitionsMapper(), LatestPartitionMapper(), FanOutMapper(StartOfWeekMapper(), WeekWindow())],
    )
    def test_cannot_stand_beside_what_is_not_known(self, part):
        with pytest.raises(InvalidDefinition, match="cannot stand beside a rollup"):
            ProductMapper(part, HOURS)

    def test_may_slide(self):
        mapper = ProductMapper(IdentityMapper(), SlidingWindowMapper(before=2, input_format="%Y-%m-%d"))
        assert mapper.required("us|2026-03-10") == ("us|2026-03-08", "us|2026-03-09", "us|2026-03-10")
        assert mapper.to_downstream("us|2026-03-10") == ("us|2026-03-10", "us|2026-03-11", "us|2026-03-12")

    @pytest.mark.parametrize("key", ["us", "us|2026-03-10|x", "us|tw"])
    def test_never_make_other_keys(self, key):
        with pytest.raises(InvalidKey):
            ProductMapper(IdentityMapper(), HOURS).required(key)

    def test_count_a_key_of_other_segments_as_itself(self):
        mapper = ProductMapper(AllowedKeyMapper(["us"]), HOURS)
        assert mapper.counts_as("mars|x|y") == "mars|x|y"
        assert mapper.counts_as("mars|2026-03-10T09:00:00") == "mars|2026-03-10T09:00:00"

    def test_pass_on_warnings_once(self):
        warned = RollupMapper(StartOfDayMapper("America/New_York"), DayWindow())
        mapper = ProductMapper(StartOfHourMapper("America/New_York"), warned)
        assert len(mapper.warnings()) == 1
