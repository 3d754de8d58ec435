"""Writes sensors as their files define them, and what people change of them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from core.models import DefinitionSource, Sensor
from scheduling import journal
from scheduling.algebra.errors import InvalidDefinition, PartitionError
from scheduling.authoring.files import Loaded, may_define
from scheduling.authoring.sensors import EVERY, LONGEST_CURSOR, TIMEOUT, terms_of
from scheduling.authoring.sensors import Sensor as Authored
from scheduling.authoring.terms import check_name
from scheduling.configuration.deeds import DEFINITIONS
from scheduling.journal import Deed
from scheduling.runlog import storable


class InvalidCursor(PartitionError):
    """What was given cannot be a sensor's cursor."""


def write_sensors(
    loaded: Sequence[Loaded], sources: dict[str, DefinitionSource], at: datetime
) -> dict[str, list[str]]:
    """Write the sensors of all files; what none defines any more becomes inactive.

    :returns: per file, a sentence for each sensor of it that cannot be.
    """
    locked = Sensor.objects.select_related("source").select_for_update(no_key=True, of=("self",))
    rows = {row.name: row for row in locked.order_by("name")}
    written: dict[str, str] = {}
    complaints: dict[str, list[str]] = {}
    for file in loaded:
        for authored in file.sensors:
            try:
                name = check_name("a sensor's name", authored.name)
                if name in written:
                    raise InvalidDefinition(
                        f"sensor {name} is defined in {written[name]} already, and that one counts"
                    )
            except InvalidDefinition as refusal:
                complaints.setdefault(file.name, []).append(str(refusal))
                continue
            written[name] = file.name
            _write(rows.get(name), authored, sources[file.name], at)
    _retire(rows, written, loaded, at)
    return complaints


@transaction.atomic
def set_sensor_paused(sensor: Sensor, paused: bool, *, deed: Deed, at: datetime) -> bool:
    """Let `sensor` look no more, or again, at once. Returns whether that changed anything."""
    row = _locked(sensor)
    if row.is_paused == paused:
        return False
    row.is_paused, row.updated_at, row.next_look_at = paused, at, at
    row.save(update_fields=["is_paused", "updated_at", "next_look_at"])
    journal.note("sensor paused" if paused else "sensor unpaused", deed=deed, at=at, sensor=row.name)
    sensor.refresh_from_db()
    return True


@transaction.atomic
def set_cursor(sensor: Sensor, cursor: str, *, deed: Deed, at: datetime) -> None:
    """Let `sensor` go on from another place. A look that is under way records nothing.

    :raises InvalidCursor: if it is too long, or holds a character that no database keeps.
    """
    if len(cursor) > LONGEST_CURSOR or "\0" in cursor:
        raise InvalidCursor(
            f"a cursor is text of at most {LONGEST_CURSOR} characters, without NUL; this has {len(cursor)}"
        )
    row = _locked(sensor)
    was, row.cursor, row.updated_at = row.cursor, cursor, at
    row.look_number, row.next_look_at = row.look_number + 1, at
    if row.began_at is None:  # nobody looks; whoever does frees it at its end
        row.lease_until = None
    row.save(update_fields=["cursor", "updated_at", "look_number", "lease_until", "next_look_at"])
    journal.note(
        "sensor cursor set", deed=deed, at=at, sensor=row.name, was=was[:1000], now=row.cursor[:1000]
    )
    sensor.refresh_from_db()


def _locked(sensor: Sensor) -> Sensor:
    return Sensor.objects.select_for_update(no_key=True, of=("self",)).get(pk=sensor.pk)


def _write(row: Sensor | None, authored: Authored, source: DefinitionSource, at: datetime) -> None:
    fields: dict[str, Any] = {
        "description": storable(authored.description),
        "source": source,
        "is_active": True,
    }
    fields |= _terms(authored)
    if row is None:
        paused = bool(authored.is_paused_upon_creation)
        Sensor.objects.create(
            name=authored.name, is_paused=paused, next_look_at=at, created_at=at, updated_at=at, **fields
        )
        journal.note("sensor defined", deed=DEFINITIONS, at=at, sensor=authored.name)
        return
    changed = {name for name, value in fields.items() if getattr(row, name) != value}
    if not changed:
        return
    for name in changed:
        setattr(row, name, fields[name])
    row.next_look_at, row.updated_at = min(row.next_look_at, at + row.every), at
    row.save(update_fields=[*changed, "next_look_at", "updated_at"])
    journal.note("sensor changed", deed=DEFINITIONS, at=at, sensor=row.name, changed=sorted(changed))


def _terms(authored: Authored) -> dict[str, Any]:
    """Its terms, or the usual ones with the problem, so that it is shown and does not look."""
    try:
        terms = terms_of(authored)
    except InvalidDefinition as refusal:
        return {"every": EVERY, "timeout": TIMEOUT, "problem": str(refusal)}
    return {"every": terms.every, "timeout": terms.timeout, "problem": ""}


def _retire(rows: dict[str, Sensor], written: dict[str, str], loaded: Sequence[Loaded], at: datetime) -> None:
    """What could not be loaded may define it still."""
    for row in rows.values():
        held = row.source is not None and may_define(loaded, row.source.name)
        if row.is_active and row.name not in written and not held:
            row.is_active, row.updated_at = False, at
            row.save(update_fields=["is_active", "updated_at"])
            journal.note("sensor no longer defined", deed=DEFINITIONS, at=at, sensor=row.name)
