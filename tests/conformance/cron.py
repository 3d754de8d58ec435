"""Answers about timetables that tick by a cron."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from scheduling.algebra.cadence import Tick
from scheduling.algebra.cron_timetables import CronPartitionTimetable, CronTriggerTimetable
from tests.conformance.vectors import Answer

_INSTANT = timedelta(microseconds=1)
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def built(spec: dict[str, Any]) -> CronTriggerTimetable:
    """The timetable as a definition file would build it; a stored spec has its cron read as well."""
    fields = {name: value for name, value in spec.items() if name != "type"}
    if isinstance(span := fields.get("run_immediately"), dict):
        fields["run_immediately"] = timedelta(**span)
    return CLASSES[spec["type"]](**fields)


def validate(timetable: CronTriggerTimetable, case: dict[str, Any]) -> Answer:
    timetable.check()
    return {"ok": True}


def iterate(timetable: CronPartitionTimetable, case: dict[str, Any]) -> Answer:
    """Airflow reads the clock face of both ends in the zone of the timetable, whatever their offset says."""
    start, end = (_read_there(case[name], timetable) for name in ("from", "to"))
    found = list(islice(timetable.ticks(start - _INSTANT, end), case["max"] + 1))
    runs = [[utc(tick.at), tick.partition_key, utc(tick.partition_date)] for tick in found]
    return {"runs": runs[: case["max"]], "truncated": len(runs) > case["max"]}


def following(timetable: CronPartitionTimetable, case: dict[str, Any]) -> Answer:
    start = datetime.fromisoformat(case["earliest"]) if "earliest" in case else None
    latest = datetime.fromisoformat(case["latest"]) if "latest" in case else None
    now = datetime.fromisoformat(case["now"]) if "now" in case else start or _LONG_AGO
    tick = timetable.first_tick(now=now, start=start, catchup="all" if case["catchup"] else "last")
    runs: list[Any] = []
    while len(runs) < case["n"]:
        if tick is None or (latest is not None and tick.at > latest):
            runs.append(None)
            break
        runs.append(_row(tick))
        tick = timetable.next_tick(tick.at)
    return {"runs": runs}


def utc(instant: datetime | None) -> str | None:
    return None if instant is None else instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _row(tick: Tick) -> list[str | None]:
    return [utc(tick.at), tick.partition_key, utc(tick.partition_date)]


def _read_there(text: str, timetable: CronTriggerTimetable) -> datetime:
    wall = datetime.fromisoformat(text).replace(tzinfo=None)
    return wall.replace(tzinfo=timetable.zone).astimezone(UTC)


CLASSES: dict[str, type[CronTriggerTimetable]] = {
    cls.__name__: cls for cls in (CronTriggerTimetable, CronPartitionTimetable)
}
OPS = {"cron_validate": validate, "cron_iter": iterate, "cron_next": following}
