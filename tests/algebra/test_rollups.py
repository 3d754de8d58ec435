"""Rollups: what a downstream key needs, what counts, and when it is enough."""

from datetime import UTC, datetime

import pytest

from scheduling.algebra.composites import ChainMapper, ProductMapper
from scheduling.algebra.errors import CannotMap, InvalidDefinition, InvalidKey
from scheduling.algebra.mappers import AllowedKeyMapper, FixedKeyMapper, IdentityMapper
from scheduling.algebra.policies import WaitForAll
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.temporal import StartOfDayMapper, StartOfHourMapper, StartOfWeekMapper
from scheduling.algebra.windows import DayWindow, HourWindow, SegmentWindow, WeekWindow

OFFSET = "%Y-%m-%dT%H:%M:%S%z"


NOW = datetime(2026, 1, 1, tzinfo=UTC)


class TestADayOfHours:
    """Slides 76 and 77 of the talk."""

    @pytest.mark.parametrize("upstream", [StartOfDayMapper(), StartOfHourMapper()])
    def test_needs_twenty_four(self, upstream):
        mapper = RollupMapper(upstream, DayWindow())
        required = mapper.required("2026-03-10")
        assert len(required) == 24
        assert required[0] == "2026-03-10T00:00:00"
        assert required[-1] == "2026-03-10T23:00:00"
        assert mapper.to_downstream("2026-03-10T09:00:00") == ("2026-03-10",)
        assert mapper.partition_date("2026-03-10") == datetime(2026, 3, 10, tzinfo=UTC)

    def test_waits_for_all_unless_told(self):
        mapper = RollupMapper(StartOfDayMapper(), DayWindow())
        assert mapper.is_rollup
        assert mapper.wait_policy == WaitForAll()
        assert mapper.member_noun == "hours"
        assert not mapper.is_one_to_one
        assert not mapper.needs_known
        assert mapper.upstream_keys("2026-03-10") == mapper.required("2026-03-10")
        assert mapper.samples()[0] == "2026-01-10"

    def test_in_the_manner_of_its_members_counts_any_time_within_the_hour(self):
        mapper = RollupMapper(StartOfHourMapper(), DayWindow())
        assert mapper.to_downstream("2026-03-10T09:37:51") == ("2026-03-10",)
        assert mapper.counts_as("2026-03-10T09:37:51") == "2026-03-10T09:00:00"
        assert mapper.counts_as("2026-03-10T09:37:51") in mapper.required("2026-03-10")

    def test_in_the_manner_of_its_period_takes_the_others_as_unexpected(self):
        mapper = RollupMapper(StartOfDayMapper(), DayWindow())
        assert mapper.to_downstream("2026-03-10T09:37:51") == ("2026-03-10",)
        assert mapper.counts_as("2026-03-10T09:37:51") not in mapper.required("2026-03-10")

    @pytest.mark.parametrize("key", ["2026-03-1", "tw", "2026-03-10T00", "", "2026-02-30"])
    def test_never_makes_what_is_no_day(self, key):
        mapper = RollupMapper(StartOfDayMapper(), DayWindow())
        with pytest.raises(InvalidKey):
            mapper.required(key)
        with pytest.raises(InvalidKey):
            mapper.partition_date(key)

    @pytest.mark.parametrize("key", ["tw", "2026-03-10", ""])
    def test_cannot_map_what_is_no_time(self, key):
        for upstream in (StartOfDayMapper(), StartOfHourMapper()):
            with pytest.raises(CannotMap):
                RollupMapper(upstream, DayWindow()).to_downstream(key)
            assert RollupMapper(upstream, DayWindow()).counts_as(key) == key


class TestDaylightSaving:
    """TC-01: with all but one of the real hours the day is held, and it shows exactly that hour."""

    @pytest.mark.parametrize(
        ("day", "count"), [("2026-03-08", 23), ("2026-11-01", 25), ("2026-06-01", 24), ("2024-03-10", 23)]
    )
    @pytest.mark.parametrize("upstream", [StartOfDayMapper, StartOfHourMapper])
    def test_gives_a_day_its_real_hours(self, upstream, day, count):
        mapper = RollupMapper(upstream("America/New_York", OFFSET), DayWindow())
        required = mapper.required(day)
        assert len(required) == count
        for left_out in required:
            assert [key for key in required if key not in set(required) - {left_out}] == [left_out]
            assert mapper.to_downstream(left_out) == (day,)

    def test_tells_both_repeated_hours_apart_where_the_format_can(self):
        required = RollupMapper(StartOfDayMapper("America/New_York", OFFSET), DayWindow()).required(
            "2026-11-01"
        )
        assert [key for key in required if "T01" in key] == [
            *("2026-11-01T01:00:00-0400", "2026-11-01T01:00:00-0500")
        ]

    def test_gives_both_one_label_where_the_format_cannot(self):
        required = RollupMapper(StartOfDayMapper("America/New_York"), DayWindow()).required("2026-11-01")
        assert len(required) == 24

    def test_never_expects_the_skipped_hour(self):
        mapper = RollupMapper(StartOfDayMapper("America/Los_Angeles"), DayWindow())
        assert "2010-03-14T02:00:00" not in mapper.required("2010-03-14")
        assert mapper.to_downstream("2010-03-14T02:00:00") == ("2010-03-14",)

    @pytest.mark.parametrize(
        ("key", "words"),
        [
            (
                "tw|2026-03-08T02:30:00",
                "02:30 never was on 2026-03-08 in America/New_York: the clocks went forward",
            ),
            ("tw|2026-03-08T03:00:00", ""),
            ("tw|2026-11-01T01:00:00", ""),
            ("tw|rubbish", ""),
            ("rubbish", ""),
        ],
    )
    def test_says_of_a_skipped_time_that_it_never_was(self, key, words):
        rollup = RollupMapper(StartOfDayMapper(timezone="America/New_York"), DayWindow())
        assert ProductMapper(IdentityMapper(), rollup).never_was(key) == words

    def test_makes_the_skipped_hour_a_mapping_problem_in_the_manner_of_members(self):
        mapper = RollupMapper(StartOfHourMapper("America/Los_Angeles"), DayWindow())
        with pytest.raises(CannotMap, match="clocks skip that hour"):
            mapper.to_downstream("2010-03-14T02:00:00")

    def test_counts_an_instant_in_any_spelling(self):
        mapper = RollupMapper(StartOfDayMapper("America/New_York", OFFSET), DayWindow())
        assert mapper.counts_as("2026-11-01T06:00:00+0000") == "2026-11-01T01:00:00-0500"
        assert mapper.counts_as("2026-11-01T06:00:00Z") in mapper.required("2026-11-01")

    def test_can_take_a_whole_day_from_a_week(self):
        mapper = RollupMapper(StartOfWeekMapper("Pacific/Apia", "%Y-%m-%d"), WeekWindow())
        assert mapper.required("2011-12-26 (W52)") == (
            *("2011-12-26", "2011-12-27", "2011-12-28", "2011-12-29", "2011-12-31", "2012-01-01"),
        )

    @pytest.mark.parametrize("fold", ["-0400", "-0500"])
    def test_gives_each_repeated_hour_its_own_minutes(self, fold):
        mapper = RollupMapper(StartOfHourMapper("America/New_York", OFFSET, "%Y-%m-%dT%H%z"), HourWindow())
        required = mapper.required(f"2026-11-01T01{fold}")
        assert len(required) == 60
        assert all(key.endswith(fold) for key in required)
        assert mapper.to_downstream(required[30]) == (f"2026-11-01T01{fold}",)


class TestSegments:
    """Slide 83 of the talk."""

    def test_meet_in_one_key(self):
        mapper = RollupMapper(FixedKeyMapper("all_countries"), SegmentWindow(["tw", "jp", "us"]))
        assert mapper.required("all_countries") == ("tw", "jp", "us")
        assert mapper.to_downstream("jp") == ("all_countries",)
        assert mapper.partition_date("all_countries") is None
        assert mapper.counts_as("jp") == "jp"
        assert mapper.samples() == ("all_countries",)
        assert mapper.warnings(NOW) == ()
        assert mapper.member_noun == "keys"

    def test_that_were_not_declared_are_unexpected(self):
        mapper = RollupMapper(FixedKeyMapper("all"), SegmentWindow(["tw"]))
        assert mapper.to_downstream("mars") == ("all",)
        assert "mars" not in mapper.required("all")

    def test_are_needed_by_no_other_key(self):
        with pytest.raises(InvalidKey, match="never comes about"):
            RollupMapper(FixedKeyMapper("all"), SegmentWindow(["tw"])).required("tw")

    def test_may_be_checked_on_their_way(self):
        upstream = ChainMapper(AllowedKeyMapper(["tw", "jp"]), FixedKeyMapper("all"))
        assert RollupMapper(upstream, SegmentWindow(["tw", "jp"])).required("all") == ("tw", "jp")

    @pytest.mark.parametrize(
        ("upstream", "path"),
        [
            (IdentityMapper(), "upstream_mapper"),
            (AllowedKeyMapper(["a", "b"]), "upstream_mapper"),
            (AllowedKeyMapper(["a"]), "window"),
        ],
    )
    def test_that_never_meet_are_refused(self, upstream, path):
        with pytest.raises(InvalidDefinition) as refusal:
            RollupMapper(upstream, SegmentWindow(["a", "b"]))
        assert refusal.value.path == path
