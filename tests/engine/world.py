"""A small world for engine tests: definitions written as rows, and the engine turned by hand."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from core.models import Asset, AssetEvent, Dag, DagRun, Dependency, HeldRun, Outlet, Partition, Sensor
from scheduling import claims, events, holds, ticks
from scheduling.events import EventReport, Registered
from scheduling.journal import Deed

NOW = datetime(2026, 3, 11, 9, 10, tzinfo=UTC)
ALICE = Deed(by="alice", via="web")
MINUTE = timedelta(minutes=1)

RUNTIME = {"type": "PartitionedAtRuntime"}
DAILY = {"type": "CronPartitionTimetable", "cron": "0 0 * * *", "key_format": "%Y-%m-%d"}
LOCAL_DAY = DAILY | {"timezone": "Europe/Ljubljana"}
IDENTITY = {"type": "IdentityMapper"}
HOURS_TO_DAY = {
    "type": "RollupMapper",
    "upstream_mapper": {"type": "StartOfDayMapper"},
    "window": {"type": "DayWindow"},
}
REGIONS = {
    "type": "RollupMapper",
    "upstream_mapper": {"type": "FixedKeyMapper", "downstream_key": "all"},
    "window": {"type": "SegmentWindow", "segments": ["tw", "jp", "us"]},
}


def asset(name: str, **fields: Any) -> Asset:
    fields = {"uri": name, "created_at": NOW, "updated_at": NOW} | fields
    return Asset.objects.get_or_create(name=name, defaults=fields)[0]


def dag(
    dag_id: str, schedule: dict[str, Any] | None = None, *, writes: Sequence[str] = (), **fields: Any
) -> Dag:
    kind = (schedule or {}).get("type", "")
    fields = {
        "is_periodic": kind.startswith("Cron"),
        "is_partitioned": kind not in ("", "AssetTimetable"),
        "created_at": NOW,
        "updated_at": NOW,
    } | fields
    made = Dag.objects.create(dag_id=dag_id, schedule=schedule, **fields)
    for name in writes:
        Outlet.objects.create(dag=made, asset=asset(name), task_id="write")
    return made


def consumer(
    dag_id: str,
    mappers: dict[str, dict[str, Any]],
    *,
    join: str = "all",
    writes: Sequence[str] = (),
    **options: Any,
) -> Dag:
    """A Dag listening to the assets that `mappers` names; `options` go into its timetable."""
    leaves = [{"asset": name} for name in mappers]
    schedule = {
        "type": "PartitionedAssetTimetable",
        "assets": leaves[0] if len(leaves) == 1 else {join: leaves},
        "mapper_config": [{"asset": {"asset": name}, "mapper": mapper} for name, mapper in mappers.items()],
        **options,
    }
    made = dag(dag_id, schedule, writes=writes)
    for name, mapper in mappers.items():
        Dependency.objects.create(
            dag=made, asset=asset(name), leaf={"asset": name}, mapper=mapper, created_at=NOW
        )
    return made


def emit(name: str, *keys: str | None, at: datetime = NOW) -> list[Registered]:
    reports = [EventReport(asset(name), key) for key in keys]
    return events.register_events(reports, source=AssetEvent.Source.API, deed=ALICE, at=at)


def sensor(name: str, **fields: Any) -> Sensor:
    """A sensor that looks each minute, and would now."""
    times = dict.fromkeys(("next_look_at", "created_at", "updated_at"), NOW)
    return Sensor.objects.create(name=name, **({"every": MINUTE, "timeout": MINUTE} | times | fields))


def turn(at: datetime = NOW) -> None:
    """Let the engine do all it can at `at`, except executing runs."""
    ticks.advance(now=at)
    while holds.route_pending(now=at):
        pass
    while holds.judge_due(now=at):
        pass


def hours(day: str, *numbers: int) -> list[str]:
    return [f"{day}T{number:02}:00:00" for number in numbers]


def held(dag_id: str, key: str) -> HeldRun:
    return HeldRun.objects.held().get(dag__dag_id=dag_id, partition_key=key)


def fired(dag_id: str) -> list[str | None]:
    """The keys of the Dag's runs, oldest first."""
    return list(
        DagRun.objects.filter(dag__dag_id=dag_id).order_by("pk").values_list("partition_key", flat=True)
    )


def part(name: str, key: str) -> Partition:
    return Partition.objects.get(asset__name=name, key=key)


def start(run: DagRun, *, worker: str = "w1", at: datetime = NOW) -> DagRun:
    claimed = claims.claim(run.pk, worker=worker, now=at)
    assert claimed is not None
    return claimed


def finish(run: DagRun, *names: str, keys: Sequence[str] | None = None, at: datetime = NOW) -> None:
    claims.succeed(run, [claims.Output(asset(name), keys) for name in names], at=at)
