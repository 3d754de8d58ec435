"""Whether the keys that a Dag writes are keys that its outlets are expected to have, before it writes any."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import takewhile

from core.models import Asset, Dag
from scheduling import dynamic
from scheduling.algebra import specs
from scheduling.algebra.cron_timetables import CronPartitionTimetable
from scheduling.algebra.errors import InvalidKey
from scheduling.algebra.partitions import Partitions
from scheduling.algebra.shapes import Shape, can_meet, shape_of
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.algebra.timetables import Tick, Timetable

TRIED = 8
"""Ticks whose keys are compared with a definition."""

_INSTANT = timedelta(microseconds=1)
_LONG = timedelta(days=3660)


def sentence(dag: Dag, timetable: Timetable | None, made: Shape, asset: Asset, at: datetime) -> str:
    """Which key of `dag` the definition of its outlet does not have, and what mends it; empty if it has all.

    Of a cron with keys the next ticks after `at` are looked at; of other Dags only the form of the keys that
    they are `made` in. Keys that the running code names are not known.

    :raises PartitionError: if the definition cannot be read.
    """
    definition = dynamic.bound(specs.load(asset.partitions, "partitions"))
    if isinstance(timetable, CronPartitionTimetable):
        ticks = takewhile(
            lambda tick: not dag.end_date or tick.at <= dag.end_date, _ticks(dag, timetable, at)
        )
        return next((found for tick in ticks if (found := _of_tick(tick, asset, definition))), "")
    expected = shape_of(definition)
    if timetable is None or timetable.at_runtime or can_meet(made, expected) is not False:
        return ""
    return (
        f"it writes {made.words()} to {asset.name}, whose definition has {expected.words()}: what it writes"
        " there is not in the definition"
    )


def _ticks(dag: Dag, timetable: CronPartitionTimetable, at: datetime) -> Iterator[Tick]:
    after = max(at, dag.start_date - _INSTANT) if dag.start_date else at
    for _ in range(TRIED):
        tick = timetable.next_tick(after)
        if tick is None:
            return
        yield tick
        after = tick.at


def _of_tick(tick: Tick, asset: Asset, definition: Partitions) -> str:
    key = tick.partition_key or ""
    try:
        definition.index(key, tick.at + _LONG)
    except InvalidKey as refusal:
        return (
            f"its timetable writes the key {key} to {asset.name}, which is not in the definition there:"
            f" {refusal}; {_remedy(tick, definition)}"
        )
    return ""


def _remedy(tick: Tick, definition: Partitions) -> str:
    if isinstance(definition, TimePartitions) and tick.partition_date:
        key = definition.format.format(tick.partition_date, definition.zone)
        if key != tick.partition_key and definition.contains(key, tick.at + _LONG):
            return f'with key_format="{definition.key_format}" the timetable writes {key}'
    return "change either of them, or let the code name its keys with add_partitions"
