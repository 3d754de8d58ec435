"""The only way in for asset events: recorded in one transaction, mapped later."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import IntegrityError, OperationalError, connection, transaction

from core import bulk, locks
from core.models import Asset, AssetEvent, DagRun, JournalEntry
from scheduling import dating, doorbell, idempotency, journal, keeping, states
from scheduling.algebra.errors import InvalidKey, PartitionError
from scheduling.algebra.keys import validate_key
from scheduling.idempotency import Name
from scheduling.journal import Deed
from scheduling.masking import masked

Source = AssetEvent.Source

MOST_UNDONE = 2
"""How often in a row a recording is begun anew that the database has undone for the sake of another."""

COLUMNS = (
    "asset_id",
    "partition_key",
    "partition_date",
    "extra",
    "source",
    "source_run_id",
    "source_task_id",
    "created_by",
    "timestamp",
    "idempotency_key",
)


class InactiveAsset(PartitionError):
    """No definition names the asset any more: nobody would see what is reported of it."""


@dataclass(frozen=True, slots=True)
class EventReport:
    """What somebody reports: this partition of this asset changed.

    `extra` describes the event and is never scheduled on; it is kept without secrets, and with `marks`, which
    say how it came. An empty `idempotency_key` is none.
    """

    asset: Asset
    partition_key: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    idempotency_key: str | None = None
    task_id: str = ""
    marks: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Registered:
    """The event on record; not new if one with the same idempotency key was there before."""

    event: AssetEvent
    is_new: bool


def register_events(
    reports: Sequence[EventReport], *, source: Source, deed: Deed, at: datetime, run: DagRun | None = None
) -> list[Registered]:
    """Record all of `reports` or none, and wake the worker that maps them.

    :returns: one answer for each report, in order.
    :raises InvalidKey: and what else `check` does; the sentence names the report if there are several.
    :raises IdempotencyKeyTaken: if another event of the asset has the idempotency key of one of them.
    """
    for index, report in enumerate(reports):
        check(report, f"event {index}: " if len(reports) > 1 else "", is_of_run=run is not None)

    def record() -> list[Registered]:
        answers = _record(reports, [deed] * len(reports), source, at, run)
        if source is not Source.RUN:
            _note([answer.event for answer in answers if answer.is_new], deed, at)
        return answers

    return _agreed(reports, record)


def register_each(
    asked: Sequence[tuple[EventReport, Deed]], *, source: Source, at: datetime
) -> list[Registered]:
    """Record what several have reported, as if each had come alone, in one transaction for all of them.

    Each is in the journal by itself. A report that cannot be recorded keeps the others from it: `check` all.
    """
    reports, deeds = [report for report, _ in asked], [deed for _, deed in asked]
    for report in reports:
        check(report)

    def record() -> list[Registered]:
        answers = _record(reports, deeds, source, at)
        told = zip(answers, deeds, strict=True)
        journal.note_all([_entry(answer.event, deed, at) for answer, deed in told if answer.is_new])
        return answers

    return _agreed(reports, record)


def check(report: EventReport, where: str = "", *, is_of_run: bool = False) -> None:
    """:raises InvalidKey: for a key that cannot be one.
    :raises InactiveAsset: for an asset that is not defined any more, unless a run under way wrote it.
    :raises NotKept: for an extra that cannot be kept.
    """
    if not (report.asset.is_active or is_of_run):
        raise InactiveAsset(f"asset {report.asset} is not defined any more: it takes no events")
    if report.partition_key is not None:
        try:
            validate_key(report.partition_key)
        except InvalidKey as error:
            raise InvalidKey(f"{where}{error}") from None
    if report.extra:
        keeping.check(report.extra, f"{where}the extra of {report.asset}")


def _agreed(reports: Sequence[EventReport], record: Callable[[], list[Registered]]) -> list[Registered]:
    before: set[Name | int] = set()
    undone = 0
    while True:
        try:
            with transaction.atomic():
                return record()
        except OperationalError as error:
            # Of those who wait for each other the database undoes one, and that may be us.
            undone += 1
            if not locks.was_undone(error) or undone > MOST_UNDONE or connection.in_atomic_block:
                raise
        except IntegrityError:
            # Somebody recorded one of the idempotency keys between our look and our insert: look again.
            known = set(_known(reports))
            if known == before:
                raise
            before = known


def _record(
    reports: Sequence[EventReport],
    deeds: Sequence[Deed],
    source: Source,
    at: datetime,
    run: DagRun | None = None,
) -> list[Registered]:
    known = _known(reports)
    names = [_name(report) or index for index, report in enumerate(reports)]
    dates = {asset.pk: dating.of_asset(asset) for asset in {report.asset for report in reports}}
    fresh: dict[Name | int, AssetEvent] = {}
    for name, report, deed in zip(names, reports, deeds, strict=True):
        if first := known.get(name) or fresh.get(name):
            idempotency.check_same(first, report.asset, report.partition_key, report.extra)
        else:
            fresh[name] = event = _event(report, source, deed, at, run)
            event.partition_date = event.partition_date or dates[report.asset.pk](report.partition_key)
    recorded = _write(list(fresh.values()))
    states.record_events(recorded, at)
    if recorded:
        doorbell.ring(doorbell.Bell.ROUTE)
    answers, told = [], set()
    for name in names:
        event = fresh[name] if name in fresh else known[name]
        answers.append(Registered(event, is_new=name in fresh and name not in told))
        told.add(name)
    return answers


def _write(rows: list[AssetEvent]) -> list[AssetEvent]:
    if len(rows) == 1:
        [row] = rows
        row.pk = bulk.insert_one(AssetEvent, COLUMNS, tuple(getattr(row, name) for name in COLUMNS))
        return rows
    for row, pk in zip(rows, bulk.take_ids(AssetEvent, len(rows)), strict=True):
        row.pk = pk
    given = ("id", *COLUMNS)
    # Two that bring the same idempotency keys wait for each other's at the first of them, never crosswise.
    ordered = sorted(rows, key=lambda row: (row.asset_id, row.idempotency_key or ""))
    bulk.insert(AssetEvent, given, [tuple(getattr(row, name) for name in given) for row in ordered])
    return rows


def _event(report: EventReport, source: Source, deed: Deed, at: datetime, run: DagRun | None) -> AssetEvent:
    return AssetEvent(
        asset=report.asset,
        partition_key=report.partition_key,
        partition_date=run.partition_date if run and report.partition_key == run.partition_key else None,
        extra={**masked(report.extra), **report.marks},
        source=source,
        source_run=run,
        source_task_id=report.task_id,
        created_by=deed.by,
        timestamp=at,
        idempotency_key=report.idempotency_key or None,
    )


def _name(report: EventReport) -> Name | None:
    return idempotency.name_of(report.asset, report.idempotency_key)


def _known(reports: Sequence[EventReport]) -> dict[Name | int, AssetEvent]:
    found = idempotency.known({name for report in reports if (name := _name(report))})
    return dict(found.items())


def _note(recorded: list[AssetEvent], deed: Deed, at: datetime) -> None:
    """One journal entry for one event, and one for a bulk of them."""
    if len(recorded) == 1:
        journal.note_all([_entry(recorded[0], deed, at)])
    elif recorded:
        assets = sorted({event.asset.name for event in recorded})
        journal.note("asset events recorded", deed=deed, at=at, events=len(recorded), assets=assets)


def _entry(event: AssetEvent, deed: Deed, at: datetime) -> JournalEntry:
    return journal.entry("asset event recorded", deed=deed, at=at, about=event.asset, key=event.partition_key)
