"""Random definitions, for properties that hold for all of them."""

from datetime import timedelta

from hypothesis import strategies as st

from scheduling.algebra.composites import ChainMapper, ProductMapper
from scheduling.algebra.conditions import All, AssetLeaf, AssetRef
from scheduling.algebra.conditions import Any as AnyOf
from scheduling.algebra.knowing import AllPartitionsMapper, LatestPartitionMapper
from scheduling.algebra.mappers import AllowedKeyMapper, FixedKeyMapper, IdentityMapper
from scheduling.algebra.policies import Cancel, Deadline, Fire, MinimumCount, WaitForAll
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.sliding import SlidingWindowMapper
from scheduling.algebra.spreads import FanOutMapper
from scheduling.algebra.temporal import (
    StartOfDayMapper,
    StartOfHourMapper,
    StartOfMonthMapper,
    StartOfQuarterMapper,
    StartOfWeekMapper,
    StartOfYearMapper,
)
from scheduling.algebra.timetables import (
    AssetTimetable,
    CronPartitionTimetable,
    CronRuntimePartitionTimetable,
    PartitionedAssetTimetable,
    PartitionedAtRuntime,
)
from scheduling.algebra.windows import (
    DayWindow,
    HourWindow,
    MonthWindow,
    QuarterWindow,
    SegmentWindow,
    WeekWindow,
    YearWindow,
)

ZONES = st.sampled_from(["UTC", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"])
KEYS = st.text(alphabet="abcdé|\\ 東{}/", min_size=1, max_size=8).filter(lambda key: key == key.strip())
KEY_LISTS = st.lists(KEYS, min_size=1, max_size=4)
DIRECTIONS = st.sampled_from(["forward", "backward", "following"])
LIMITS = st.sampled_from([None, 1, 1000])
FORMATS = st.sampled_from(["%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M%z", "%Y%m%d%H%M"])

policies = st.one_of(
    st.just(WaitForAll()),
    st.builds(MinimumCount, st.integers(-9, 3).filter(bool)),
    st.builds(
        Deadline,
        st.integers(1, 10**6).map(lambda seconds: timedelta(seconds=seconds)),
        st.one_of(st.sampled_from([Fire, Cancel]), st.builds(MinimumCount, st.integers(1, 5))),
    ),
)
period_windows = st.one_of(
    st.builds(HourWindow, direction=DIRECTIONS),
    st.builds(DayWindow, direction=DIRECTIONS, members=st.sampled_from(["hour", "minute"])),
    st.builds(WeekWindow, direction=DIRECTIONS),
    st.builds(MonthWindow, direction=DIRECTIONS),
    st.builds(QuarterWindow, direction=DIRECTIONS, members=st.sampled_from(["day", "month"])),
    st.builds(YearWindow, direction=DIRECTIONS, members=st.sampled_from(["day", "month", "quarter"])),
)
windows = st.one_of(period_windows, st.builds(SegmentWindow, KEY_LISTS))

temporal_mappers = st.one_of(
    *(
        st.builds(cls, ZONES, FORMATS, st.just(output), max_downstream_keys=LIMITS)
        for cls, output in [
            (StartOfHourMapper, "%Y%m%d%H"),
            (StartOfDayMapper, None),
            (StartOfMonthMapper, "%B %Y"),
            (StartOfQuarterMapper, "Q{quarter} %Y"),
            (StartOfYearMapper, "FY%Y"),
        ]
    ),
    st.builds(StartOfWeekMapper, ZONES, week_start=st.sampled_from(["monday", "sunday"])),
)
plain_mappers = st.one_of(
    st.builds(IdentityMapper, max_downstream_keys=LIMITS),
    st.builds(FixedKeyMapper, KEYS),
    st.builds(AllowedKeyMapper, KEY_LISTS),
)
rollups = st.one_of(
    st.builds(
        RollupMapper,
        st.builds(StartOfDayMapper, ZONES, FORMATS),
        st.builds(DayWindow, direction=DIRECTIONS),
        policies,
    ),
    st.builds(RollupMapper, st.builds(StartOfHourMapper, ZONES), st.just(DayWindow()), policies),
    st.builds(RollupMapper, st.builds(FixedKeyMapper, KEYS), st.builds(SegmentWindow, KEY_LISTS)),
)
spreads = st.one_of(
    st.builds(FanOutMapper, st.builds(StartOfWeekMapper, ZONES), st.builds(WeekWindow, direction=DIRECTIONS)),
    st.builds(FanOutMapper, plain_mappers, st.builds(SegmentWindow, KEY_LISTS), st.just(IdentityMapper())),
)
sliding = st.builds(
    SlidingWindowMapper, st.sampled_from(["day", "hour"]), st.integers(0, 9), st.integers(0, 3), ZONES
)
products = st.builds(
    lambda mappers, delimiter: ProductMapper(*mappers, delimiter=delimiter),
    st.lists(st.one_of(plain_mappers, temporal_mappers), min_size=2, max_size=3),
    st.sampled_from(["|", "::"]),
)
chains = st.one_of(
    st.builds(ChainMapper, st.builds(IdentityMapper), temporal_mappers),
    st.builds(
        ProductMapper, st.builds(IdentityMapper), st.just(RollupMapper(StartOfDayMapper(), DayWindow()))
    ),
)
mappers = st.one_of(
    *(plain_mappers, temporal_mappers, rollups, spreads, sliding, products, chains),
    st.builds(AllPartitionsMapper, KEYS, policies),
    st.builds(LatestPartitionMapper, KEYS),
)

leaves = st.one_of(
    st.builds(AssetLeaf, KEYS),
    st.builds(lambda name: AssetRef(name=name), KEYS),
    st.builds(lambda uri: AssetRef(uri=uri), KEYS),
)
conditions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda parts: All(tuple(parts)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: AnyOf(tuple(parts)), st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=5,
)
timetables = st.one_of(
    st.just(PartitionedAtRuntime()),
    st.builds(AssetTimetable, conditions, accept_partitioned=st.booleans()),
    st.builds(CronRuntimePartitionTimetable, st.just("0 6 * * *"), timezone=ZONES),
    st.builds(
        CronPartitionTimetable,
        st.sampled_from(["0 * * * *", "@daily", "15 8 * * 1-5"]),
        timezone=ZONES,
        run_offset=st.integers(-2, 2),
        run_immediately=st.sampled_from([True, False, timedelta(minutes=10)]),
        key_format=st.sampled_from(["", "%Y-%m-%d"]),
        gap=st.sampled_from(["shift", "skip"]),
    ),
    st.builds(
        PartitionedAssetTimetable,
        conditions,
        default_partition_mapper=mappers,
        partition_mapper_config=st.dictionaries(leaves, mappers, max_size=2),
        late=st.sampled_from([None, "settle", "hold"]),
        settle=st.integers(0, 3600).map(lambda seconds: timedelta(seconds=seconds)),
        late_after=st.sampled_from([None, timedelta(hours=1)]),
    ),
)
