"""What can never work is said before the first event, with both keys named."""

import pytest

from scheduling.algebra.agreement import Feed, agree
from scheduling.algebra.calendars import BusinessCalendar
from scheduling.algebra.composites import ProductMapper
from scheduling.algebra.conditions import AssetLeaf, AssetRef
from scheduling.algebra.knowing import AllPartitionsMapper
from scheduling.algebra.mappers import AllowedKeyMapper, FixedKeyMapper, IdentityMapper
from scheduling.algebra.policies import MinimumCount
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.shapes import ANY, Certain, Composite, shape_of
from scheduling.algebra.sliding import SlidingWindowMapper
from scheduling.algebra.temporal import (
    StartOfDayMapper,
    StartOfHourMapper,
    StartOfMonthMapper,
    StartOfYearMapper,
)
from scheduling.algebra.time_shorthands import DailyPartitions, HourlyPartitions
from scheduling.algebra.timetables import (
    CronPartitionTimetable,
    PartitionedAssetTimetable,
    PartitionedAtRuntime,
)
from scheduling.algebra.windows import DayWindow, MonthWindow, SegmentWindow

STATS, TEAM_A, TEAM_B = AssetLeaf("combined_stats"), AssetLeaf("team_a_stats"), AssetRef(name="team_b_stats")
HOURLY = shape_of(CronPartitionTimetable("0 * * * *"))
QUARTER_PAST = shape_of(CronPartitionTimetable("15 * * * *"))
DAILY = shape_of(CronPartitionTimetable("@daily", key_format="%Y-%m-%d"))
HOURS_OF_DAY = RollupMapper(StartOfDayMapper(), DayWindow())
MONTH_OF_DAYS = RollupMapper(StartOfMonthMapper(input_format="%Y-%m-%d"), MonthWindow())


def check(timetable, producers=None, observed=None):
    """What is found where keys of these shapes are produced, and these were seen."""
    feeds = {
        leaf: Feed(
            timetable.mapper_for(leaf),
            (producers or {}).get(leaf, ANY),
            tuple((observed or {}).get(leaf, ())),
        )
        for leaf in timetable.assets.leaves()
    }
    return agree(timetable.assets, feeds)


def findings(mapper, shape, **more):
    return check(PartitionedAssetTimetable(STATS, partition_mapper=mapper), {STATS: shape}, **more)


def errors(found):
    return [each.sentence for each in found if each.severity == "error"]


class TestKeysThatAreTooMany:
    SENTENCE = (
        "maps to 1501 downstream keys, over the limit of 1000: none is queued; give SlidingWindowMapper"
    )

    def found(self, mapper, assets=STATS, **feed):
        others = {leaf: Feed(StartOfDayMapper(), HOURLY) for leaf in assets.leaves() if leaf != STATS}
        return agree(assets, {STATS: Feed(mapper, most=1000, **feed), **others})

    @pytest.mark.parametrize("feed", [{}, {"upstream": HOURLY}, {"observed": ("2026-03-10T00:00:00",)}])
    def test_of_every_key_are_an_error_whatever_is_known_of_the_producer(self, feed):
        found = self.found(SlidingWindowMapper("day", before=1500), **feed)
        assert [self.SENTENCE in sentence for sentence in errors(found)] == [True]

    def test_are_a_warning_where_another_asset_may_open_held_runs(self):
        found = self.found(SlidingWindowMapper("day", before=1500), STATS | TEAM_A, upstream=HOURLY)
        assert [each.severity for each in found if self.SENTENCE in each.sentence] == ["warning"]

    def test_are_none_where_the_mapper_allows_as_many(self):
        assert not errors(self.found(SlidingWindowMapper("day", before=1500, max_downstream_keys=1501)))
        assert not errors(self.found(SlidingWindowMapper("day", before=999)))


class TestKeysThatNeverMeet:
    def test_the_never_firing_example_is_named_with_both_keys(self):
        timetable = PartitionedAssetTimetable(
            STATS & TEAM_A & TEAM_B,
            partition_mapper_config={STATS: StartOfYearMapper(), TEAM_A: StartOfHourMapper()},
        )
        first = check(timetable)[0]
        assert first.severity == "error"
        assert first.sentence.startswith("2026 can never equal 2026-03-10T09: ")
        assert "combined_stats gives keys of the form %Y" in first.sentence
        assert "team_a_stats gives keys of the form %Y-%m-%dT%H" in first.sentence
        assert first.assets == (STATS, TEAM_A)

    def test_three_feeds_aligned_on_the_hour_meet(self):
        timetable = PartitionedAssetTimetable(STATS & TEAM_A & TEAM_B, partition_mapper=StartOfHourMapper())
        shapes = {STATS: HOURLY, TEAM_A: QUARTER_PAST, TEAM_B: HOURLY}
        assert check(timetable, shapes) == ()

    def test_one_override_makes_them_meet(self):
        timetable = PartitionedAssetTimetable(
            STATS & TEAM_A,
            default_partition_mapper=StartOfDayMapper(),
            partition_mapper_config={TEAM_A: IdentityMapper()},
        )
        assert check(timetable, {STATS: HOURLY, TEAM_A: DAILY}) == ()
        assert errors(check(timetable, {STATS: HOURLY, TEAM_A: HOURLY}))

    def test_alternatives_need_not_meet(self):
        config = {STATS: StartOfYearMapper(), TEAM_A: StartOfHourMapper()}
        either = PartitionedAssetTimetable(STATS | TEAM_A, partition_mapper_config=config)
        assert check(either, {STATS: HOURLY, TEAM_A: HOURLY}) == ()

    def test_an_alternative_that_can_never_be_true_is_a_warning(self):
        config = {STATS: StartOfYearMapper(), TEAM_A: StartOfHourMapper()}
        timetable = PartitionedAssetTimetable((STATS & TEAM_A) | TEAM_B, partition_mapper_config=config)
        (finding,) = check(timetable, {STATS: HOURLY, TEAM_A: HOURLY, TEAM_B: HOURLY})
        assert finding.severity == "warning"
        assert "can never equal" in finding.sentence

    def test_one_of_several_alternatives_is_enough_to_meet(self):
        config = {STATS: StartOfYearMapper(), TEAM_A: StartOfDayMapper(), TEAM_B: StartOfDayMapper()}
        timetable = PartitionedAssetTimetable((STATS | TEAM_A) & TEAM_B, partition_mapper_config=config)
        assert errors(check(timetable, dict.fromkeys([STATS, TEAM_A, TEAM_B], HOURLY))) == []

    def test_certain_keys_that_differ(self):
        config = {STATS: FixedKeyMapper("all"), TEAM_A: AllowedKeyMapper(["us", "eu"])}
        timetable = PartitionedAssetTimetable(STATS & TEAM_A, partition_mapper_config=config)
        (sentence,) = errors(check(timetable))
        assert sentence == (
            "all can never equal us: combined_stats gives only the key all, "
            "team_a_stats gives only the keys us, eu"
        )

    def test_a_composite_key_and_a_plain_one(self):
        config = {STATS: ProductMapper(IdentityMapper(), StartOfDayMapper()), TEAM_A: StartOfDayMapper()}
        timetable = PartitionedAssetTimetable(STATS & TEAM_A, partition_mapper_config=config)
        (sentence,) = errors(check(timetable))
        assert sentence.startswith("…|2026-03-10 can never equal 2026-03-10: ")


class TestKeysThatCannotBeRead:
    def test_all_of_them_is_an_error_with_the_reason(self):
        (finding,) = findings(StartOfDayMapper(), DAILY)
        assert finding.severity == "error"
        assert "combined_stats emits keys that StartOfDayMapper cannot read" in finding.sentence
        assert "%Y-%m-%dT%H:%M:%S" in finding.sentence

    def test_some_of_them_is_a_warning(self):
        (finding,) = findings(AllowedKeyMapper(["us", "eu"]), Certain(("us", "cn")))
        assert finding.severity == "warning"
        assert "'cn'" in finding.sentence

    def test_keys_that_were_seen_are_evidence(self):
        seen = {STATS: ["2026-03-10T09", "2026-03-10T10"]}
        assert errors(findings(StartOfDayMapper(), ANY, observed=seen))
        assert findings(StartOfDayMapper(input_format="%Y-%m-%dT%H"), ANY, observed=seen) == ()

    def test_not_knowing_is_said_as_not_knowing(self):
        (finding,) = findings(StartOfDayMapper(), shape_of(PartitionedAtRuntime()))
        assert finding.severity == "unknown"
        assert "not known before the first one" in finding.sentence

    def test_nothing_needs_to_be_known_where_any_key_will_do(self):
        assert findings(FixedKeyMapper("all"), ANY) == ()
        assert findings(IdentityMapper(), ANY) == ()
        (finding, _) = agree(STATS & TEAM_A, {STATS: Feed(IdentityMapper()), TEAM_A: Feed(IdentityMapper())})
        assert finding.severity == "unknown"


class TestKeysThatNeverArrive:
    def test_hours_of_a_day_do(self):
        assert findings(HOURS_OF_DAY, HOURLY) == ()

    def test_a_producer_at_a_quarter_past_never_emits_the_full_hour(self):
        (sentence,) = errors(findings(HOURS_OF_DAY, QUARTER_PAST))
        assert "needs 2023-01-01T00:00:00 of combined_stats" in sentence
        assert "such as 2023-01-01T00:15:00" in sentence

    def test_in_the_other_manner_it_counts_as_that_hour(self):
        assert findings(RollupMapper(StartOfHourMapper(), DayWindow()), QUARTER_PAST) == ()

    def test_weekends_of_a_producer_of_business_days_never_arrive(self):
        weekdays = shape_of(DailyPartitions("2026-01-01", exclusions=[BusinessCalendar()]))
        (sentence,) = errors(findings(MONTH_OF_DAYS, weekdays))
        assert sentence.startswith("2026-01 needs 2026-01-03 of combined_stats, which never emits it but")
        assert "some left out" in sentence

    def test_unless_the_policy_does_without_them(self):
        weekdays = shape_of(DailyPartitions("2026-01-01", exclusions=[BusinessCalendar()]))
        lenient = RollupMapper(MONTH_OF_DAYS.upstream_mapper, MonthWindow(), MinimumCount(-12))
        assert findings(lenient, weekdays) == ()

    def test_segments_that_are_not_among_the_keys(self):
        regions = RollupMapper(FixedKeyMapper("all"), SegmentWindow(["us", "eu", "mars"]))
        (sentence,) = errors(findings(regions, Certain(("us", "eu"))))
        assert sentence == "all needs mars of combined_stats, which never emits it but only the keys us, eu"

    def test_inside_composite_keys(self):
        per_region = ProductMapper(IdentityMapper(), HOURS_OF_DAY)
        assert findings(per_region, Composite((Certain(("us",)), HOURLY))) == ()
        (sentence,) = errors(findings(per_region, Composite((Certain(("us",)), QUARTER_PAST))))
        assert "us|2023-01-01 needs us|2023-01-01T00:00:00" in sentence

    def test_the_25_hours_of_an_autumn_day(self):
        zone = "America/New_York"
        form = "%Y-%m-%dT%H%z"
        hours = shape_of(HourlyPartitions("2026-10-25", timezone=zone))
        mapper = RollupMapper(StartOfDayMapper(timezone=zone, input_format=form), DayWindow())
        assert findings(mapper, hours) == ()

    def test_what_needs_all_known_keys_needs_no_certain_ones(self):
        assert findings(AllPartitionsMapper(), HOURLY) == ()


class TestAgree:
    def test_finds_assets_by_what_they_turned_out_to_be(self):
        """The engine knows which asset a reference is, and so which mapper is configured for it."""
        feeds = {TEAM_B: Feed(StartOfDayMapper(), DAILY), STATS: Feed(StartOfDayMapper(), HOURLY)}
        found = agree(STATS & TEAM_B, feeds)
        assert [each.assets for each in found] == [(TEAM_B,)]

    def test_errors_come_first(self):
        feeds = {STATS: Feed(StartOfDayMapper()), TEAM_A: Feed(StartOfDayMapper(), DAILY)}
        assert [each.severity for each in agree(STATS & TEAM_A, feeds)] == ["error", "unknown"]
