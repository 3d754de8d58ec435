"""What a key that somebody typed means to an asset: its period in words, and a doubt."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from core.models import Asset, Dag
from scheduling import dynamic, listening
from scheduling.algebra.errors import InvalidKey, PartitionError
from scheduling.algebra.keys import validate_key
from scheduling.algebra.partitions import Partitions
from scheduling.board.labels import DAY, label_of, segments_of
from scheduling.listening import BrokenDefinition

LONG = timedelta(days=3660)
"""What has begun and is none of its keys by then never will be."""


@dataclass(frozen=True, slots=True)
class AssetKey:
    """`words`: the period that the key names, empty where nobody can tell; `doubt`: why it may be wrong."""

    words: str = ""
    date: datetime | None = None
    doubt: str = ""


def of_key(asset: Asset, key: str, *, now: datetime) -> AssetKey:
    """What `key` means by the definition of `asset`; without one, to the Dags that write it. Some queries.

    :raises InvalidKey: if it cannot be a key of anything.
    """
    validate_key(key)
    try:
        definition = listening.partitions_of(asset)
        return _by(dynamic.bound(definition), asset, key, now) if definition else _by_producers(asset, key)
    except BrokenDefinition:  # the page of definitions says what is wrong with it
        return AssetKey()


def in_words(key: str, date: datetime, spec: object) -> str:
    """The date of `key` in the first zone that `spec` names; midnight is said where the key has a time."""
    zone = ZoneInfo(next(_timezones(spec), "UTC"))
    local = date.astimezone(zone)
    day = f"{local:%A} {local.day} {local:%B} {local.year}"
    has_clock = any(len(label_of(each)) > DAY for each in segments_of(key))
    if (local.hour, local.minute, local.second) == (0, 0, 0) and not has_clock:
        return f"{day} ({zone.key})"
    clock = f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"
    return f"{day}, {clock} {zone.key}"


def _by(definition: Partitions, asset: Asset, key: str, now: datetime) -> AssetKey:
    try:
        date = definition.partition_date(key)
        words = in_words(key, date, asset.partitions) if date else f"one of the keys of {asset.name}"
        if definition.contains(key, now):  # also one of a period to come, if its end is offset
            return AssetKey(words, date)
        if date and date > now:
            return AssetKey(words, date, "its period has not begun yet")
        definition.index(key, now + LONG)
    except InvalidKey as refusal:
        return AssetKey(doubt=f"it is none of the keys that {asset.name} should have: {refusal}")
    return AssetKey(words, date, "its period is not over yet")


def _by_producers(asset: Asset, key: str) -> AssetKey:
    refusals = []
    writers = Dag.objects.active().filter(outlets__asset=asset, is_partitioned=True).distinct()
    for dag in writers.order_by("dag_id"):
        timetable = listening.timetable_of(dag)
        try:
            date = timetable.resolve(key) if timetable else None
        except PartitionError as refusal:
            refusals.append(f"{dag}, which writes {asset.name}, has no such key: {refusal}")
        else:
            return AssetKey(in_words(key, date, dag.schedule), date) if date else AssetKey()
    return AssetKey(doubt=refusals[0]) if refusals else AssetKey()


def _timezones(spec: object) -> Iterator[str]:
    if isinstance(spec, list):
        for each in spec:
            yield from _timezones(each)
    if isinstance(spec, dict):
        if isinstance(spec.get("timezone"), str):
            yield spec["timezone"]
        for each in spec.values():
            yield from _timezones(each)
