"""The rows that are the truth. One file per noun; import them from here."""

from core.models.alerts import Alert
from core.models.assets import Asset, AssetEvent, MappingProblem
from core.models.backfills import Backfill, BackfillPartition, BackfillTarget
from core.models.counts import EntryCount, EventCount, RunCount
from core.models.dags import Dag, DefinitionSource, Dependency, Outlet, ScheduleOverride
from core.models.drawings import Drawing, DrawnBlock
from core.models.engine import Bell, Pulse
from core.models.held_runs import ConsumedEvent, HeldRun, ReceivedKey
from core.models.journal import JournalEntry
from core.models.partitions import DynamicKey, FailedAttempt, Partition
from core.models.pools import Pool
from core.models.runs import DagRun, LogLine
from core.models.sensors import Sensor, SensorLook

__all__ = [
    "Alert",
    "Asset",
    "AssetEvent",
    "Backfill",
    "BackfillPartition",
    "BackfillTarget",
    "Bell",
    "ConsumedEvent",
    "Dag",
    "DagRun",
    "DefinitionSource",
    "Dependency",
    "Drawing",
    "DrawnBlock",
    "DynamicKey",
    "EntryCount",
    "EventCount",
    "FailedAttempt",
    "HeldRun",
    "JournalEntry",
    "LogLine",
    "MappingProblem",
    "Outlet",
    "Partition",
    "Pool",
    "Pulse",
    "ReceivedKey",
    "RunCount",
    "ScheduleOverride",
    "Sensor",
    "SensorLook",
]
