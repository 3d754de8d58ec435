"""What a look of a sensor found, made true: keys, asset events and runs, all of them its own deed."""

from datetime import datetime

from core.models import Asset, AssetEvent, Dag, Sensor
from scheduling import dynamic, events, runs
from scheduling.algebra.errors import PartitionError
from scheduling.authoring.sensors import Look, Trigger
from scheduling.events import EventReport
from scheduling.journal import Deed


class BadLook(PartitionError):
    """What a sensor said cannot be recorded."""


def make_true(sensor: Sensor, seen: Look, *, at: datetime) -> str:
    """Make what was said true; what came of it, in words, or nothing. All or none of it, inside `atomic`.

    :raises BadLook: if it names an asset or a Dag that is not there; and what those who record it raise.
    """
    deed = Deed(by=f"sensor {sensor.name}", via="sensor")
    added = removed = 0
    for change in seen.key_changes:
        name = dynamic.name_of(change.partitions)
        if change.is_removal:
            removed += len(dynamic.remove(name, change.keys, deed=deed, at=at))
        else:
            added += len(dynamic.add(name, change.keys, deed=deed, at=at))
    counts = {
        "event": _register(seen, deed, at),
        "run": sum(_trigger(each, deed, at) for each in seen.triggers),
        "key added": added,
        "key removed": removed,
    }
    return ", ".join(_some(count, noun) for noun, count in counts.items() if count)


def _register(seen: Look, deed: Deed, at: datetime) -> int:
    names = {report.asset for report in seen.reports}
    assets = {row.name: row for row in Asset.objects.filter(name__in=names)}
    if unknown := sorted(names - set(assets)):
        raise BadLook(f"there is no asset {unknown[0]!r}: name one that a definition file has")
    reports = [
        EventReport(assets[each.asset], each.partition_key, each.extra, each.idempotency_key)
        for each in seen.reports
    ]
    if not reports:
        return 0
    told = events.register_events(reports, source=AssetEvent.Source.SENSOR, deed=deed, at=at)
    return sum(each.is_new for each in told)


def _trigger(trigger: Trigger, deed: Deed, at: datetime) -> int:
    dag = Dag.objects.filter(dag_id=trigger.dag_id).first()
    if dag is None:
        raise BadLook(f"there is no Dag {trigger.dag_id!r}")
    ask = runs.Ask(trigger.partition_key, trigger.conf, trigger.run_id)
    try:
        runs.trigger(dag, ask, deed=deed, at=at, run_type=runs.Type.SENSOR)
    except runs.DuplicateRunId:
        return 0
    return 1


def _some(count: int, noun: str) -> str:
    first, _, rest = noun.partition(" ")
    return f"{count} {first}{'s' * (count > 1)}{' ' * bool(rest)}{rest}"
