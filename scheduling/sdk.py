"""Everything a definition file imports: `from scheduling.sdk import Asset, DAG, asset, sensor, task, …`.

Plug-in classes are made below `Mapper`, `Window`, `WaitPolicy` or `Timetable` and made known by `register`.
"""

from scheduling.algebra.calendars import BusinessCalendar
from scheduling.algebra.composites import ChainMapper, ProductMapper
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.errors import CannotMap, InvalidDefinition, InvalidKey, PartitionError
from scheduling.algebra.keys import KeyFormat, join_segments, split_segments
from scheduling.algebra.knowing import AllPartitionsMapper, LatestPartitionMapper
from scheduling.algebra.mappers import AllowedKeyMapper, FixedKeyMapper, IdentityMapper, Mapper
from scheduling.algebra.partitions import DynamicPartitions, Partitions, StaticPartitions
from scheduling.algebra.policies import Cancel, Deadline, Fire, MinimumCount, WaitForAll, WaitPolicy
from scheduling.algebra.registry import register
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.sliding import SlidingWindowMapper
from scheduling.algebra.spreads import FanOutMapper
from scheduling.algebra.temporal import (
    StartOfDayMapper,
    StartOfHourMapper,
    StartOfMinuteMapper,
    StartOfMonthMapper,
    StartOfQuarterMapper,
    StartOfWeekMapper,
    StartOfYearMapper,
)
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.algebra.time_shorthands import (
    DailyPartitions,
    HourlyPartitions,
    MinutelyPartitions,
    MonthlyPartitions,
    QuarterlyPartitions,
    WeeklyPartitions,
    YearlyPartitions,
)
from scheduling.algebra.timetables import (
    AssetTimetable,
    CronPartitionTimetable,
    CronRuntimePartitionTimetable,
    CronTriggerTimetable,
    PartitionedAssetTimetable,
    PartitionedAtRuntime,
    Timetable,
)
from scheduling.algebra.windows import (
    DayWindow,
    HourWindow,
    MonthWindow,
    QuarterWindow,
    SegmentWindow,
    WeekWindow,
    Window,
    YearWindow,
)
from scheduling.authoring.assets import Asset
from scheduling.authoring.context import RunCancelled, RunTimedOut
from scheduling.authoring.dags import DAG, asset
from scheduling.authoring.executors import External, Python, Webhook
from scheduling.authoring.sensors import Look, sensor
from scheduling.authoring.tasks import task

__all__ = [
    "DAG",
    "AllPartitionsMapper",
    "AllowedKeyMapper",
    "Asset",
    "AssetTimetable",
    "BusinessCalendar",
    "Cancel",
    "CannotMap",
    "ChainMapper",
    "CronPartitionTimetable",
    "CronRuntimePartitionTimetable",
    "CronTriggerTimetable",
    "DailyPartitions",
    "DayWindow",
    "Deadline",
    "DynamicPartitions",
    "External",
    "FanOutMapper",
    "Fire",
    "FixedKeyMapper",
    "HourWindow",
    "HourlyPartitions",
    "IdentityMapper",
    "InvalidDefinition",
    "InvalidKey",
    "KeyFormat",
    "LatestPartitionMapper",
    "Look",
    "Mapper",
    "MinimumCount",
    "MinutelyPartitions",
    "MonthWindow",
    "MonthlyPartitions",
    "MultiPartitions",
    "PartitionError",
    "PartitionedAssetTimetable",
    "PartitionedAtRuntime",
    "Partitions",
    "ProductMapper",
    "Python",
    "QuarterWindow",
    "QuarterlyPartitions",
    "RollupMapper",
    "RunCancelled",
    "RunTimedOut",
    "SegmentWindow",
    "SlidingWindowMapper",
    "StartOfDayMapper",
    "StartOfHourMapper",
    "StartOfMinuteMapper",
    "StartOfMonthMapper",
    "StartOfQuarterMapper",
    "StartOfWeekMapper",
    "StartOfYearMapper",
    "StaticPartitions",
    "TimePartitions",
    "Timetable",
    "WaitForAll",
    "WaitPolicy",
    "Webhook",
    "WeekWindow",
    "WeeklyPartitions",
    "Window",
    "YearWindow",
    "YearlyPartitions",
    "asset",
    "join_segments",
    "register",
    "sensor",
    "split_segments",
    "task",
]
