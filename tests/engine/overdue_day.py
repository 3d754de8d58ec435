"""A day of hours, two of which will be late."""

from datetime import UTC, datetime, timedelta

from core.models import Dag, HeldRun
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY, consumer, emit, hours, turn

BEGAN = datetime(2026, 3, 1, tzinfo=UTC)
HALF = timedelta(minutes=30)
DAY = "2026-03-10"


def at(hour: int, minute: int = 0, day: int = 10) -> datetime:
    return datetime(2026, 3, day, hour, minute, tzinfo=UTC)


def ingest() -> Dag:
    """Who makes the hours."""
    hourly = {"type": "CronPartitionTimetable", "cron": "0 * * * *"}
    return world.dag("ingest", hourly, writes=["hourly"], start_date=BEGAN, is_paused=True)


def held() -> HeldRun:
    """Its hours may each be half an hour late; hours 9 and 22 are not there."""
    consumer("sum", {"hourly": HOURS_TO_DAY}, late_after=1800)
    emit("hourly", *hours(DAY, *(n for n in range(24) if n not in (9, 22))), at=at(8))
    turn(at(8))
    return world.held("sum", DAY)


def again(row: HeldRun) -> HeldRun:
    return HeldRun.objects.get(pk=row.pk)
