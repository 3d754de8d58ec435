"""Timetables and partitions of every kind, for properties of all of them."""

from datetime import date, datetime, timedelta

from hypothesis import strategies as st

from scheduling.algebra.calendars import BusinessCalendar
from scheduling.algebra.conditions import AssetLeaf, AssetRef
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.mappers import FixedKeyMapper, IdentityMapper
from scheduling.algebra.partitions import DynamicPartitions, StaticPartitions
from scheduling.algebra.policies import MinimumCount
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.temporal import StartOfDayMapper, StartOfHourMapper
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.algebra.timetables import (
    AssetTimetable,
    CronPartitionTimetable,
    CronRuntimePartitionTimetable,
    CronTriggerTimetable,
    PartitionedAssetTimetable,
    PartitionedAtRuntime,
)
from scheduling.algebra.windows import DayWindow

ZONES = st.sampled_from(["UTC", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"])
CRONS = st.sampled_from(["0 * * * *", "@daily", "*/5 8-18 * * 1-5", "0 0 L * *", "30 2 * * *"])
NAMES = st.text("abcdefg_", min_size=1, max_size=8)
SPANS = st.integers(0, 10**6).map(lambda seconds: timedelta(seconds=seconds))
CLOCK = st.fixed_dictionaries(
    {},
    optional={
        "timezone": ZONES,
        "gap": st.sampled_from(["shift", "skip"]),
        "fold": st.sampled_from(["first", "last", "both"]),
        "run_immediately": st.booleans() | SPANS,
    },
)
KEYED = st.fixed_dictionaries(
    {},
    optional={
        "run_offset": st.integers(-9, 9),
        "key_format": st.sampled_from(["%Y-%m-%d", "%Y-%m-%dT%H%z", "%G-W%V", "%Y/%m"]),
    },
)
LEAVES = st.builds(AssetLeaf, NAMES) | st.builds(AssetRef, name=NAMES) | st.builds(AssetRef, uri=NAMES)
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: st.tuples(inner, inner, st.booleans()).map(lambda t: t[0] & t[1] if t[2] else t[0] | t[1]),
    max_leaves=5,
)
MAPPERS = st.sampled_from(
    [
        IdentityMapper(),
        FixedKeyMapper("all"),
        StartOfHourMapper(timezone="America/New_York"),
        RollupMapper(StartOfDayMapper(), DayWindow(), MinimumCount(-2)),
    ]
)
CONSUMERS = st.builds(
    lambda assets, default, config, others: PartitionedAssetTimetable(
        assets, default_partition_mapper=default, partition_mapper_config=config, **others
    ),
    CONDITIONS,
    MAPPERS,
    st.dictionaries(LEAVES, MAPPERS, max_size=3),
    st.fixed_dictionaries(
        {},
        optional={
            "late": st.sampled_from(["settle", "immediate", "hold", "mark_stale", "restart"]),
            "settle": SPANS,
            "late_after": SPANS.filter(bool),
        },
    ),
)
TIMETABLES = st.one_of(
    st.builds(lambda cron, clock: CronTriggerTimetable(cron, **clock), CRONS, CLOCK),
    st.builds(lambda cron, clock: CronRuntimePartitionTimetable(cron, **clock), CRONS, CLOCK),
    st.builds(lambda cron, clock, keyed: CronPartitionTimetable(cron, **clock, **keyed), CRONS, CLOCK, KEYED),
    st.just(PartitionedAtRuntime()),
    st.builds(
        lambda assets, keyed: AssetTimetable(assets, accept_partitioned=keyed), CONDITIONS, st.booleans()
    ),
    CONSUMERS,
)
EXCLUSIONS = st.lists(
    st.sampled_from(
        [
            "0 0 * * 0",
            date(2026, 12, 25),
            datetime(2026, 3, 8, 5, 30),
            BusinessCalendar((date(2026, 1, 1),), ("friday", "saturday")),
        ]
    ),
    max_size=3,
)
TIMES = st.builds(
    lambda cadence, start, days, zone, offset, exclusions: TimePartitions(
        cadence,
        start,
        None if days is None else start + timedelta(days=days),
        timezone=zone,
        end_offset=offset,
        exclusions=exclusions,
    ),
    st.sampled_from(["minute", "hour", "day", "week", "month", "quarter", "year", "0 5 * * *"]),
    st.datetimes(datetime(2010, 1, 1), datetime(2030, 1, 1)).map(lambda at: at.replace(microsecond=0)),
    st.none() | st.integers(1, 4000),
    ZONES,
    st.integers(-3, 3),
    EXCLUSIONS,
)
SINGLE = st.one_of(
    TIMES,
    st.lists(NAMES, min_size=1, max_size=5, unique=True).map(StaticPartitions),
    st.builds(DynamicPartitions, NAMES),
)
PARTITIONS = SINGLE | st.builds(
    MultiPartitions,
    st.dictionaries(NAMES, SINGLE, min_size=2, max_size=3),
    delimiter=st.sampled_from(["|", "/", "::"]),
)
