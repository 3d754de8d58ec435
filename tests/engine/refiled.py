"""What held runs of the Dag `c` have received and consumed, to compare before and after a change."""

from core.models import ConsumedEvent, HeldRun
from tests.engine import world

DAY = "RollupMapper(StartOfDayMapper(), DayWindow(){})"
SIX_HOURS = world.hours("2026-03-10", *range(6))


def held() -> dict[str, list[str]]:
    """The keys received by each open held run."""
    return {
        row.partition_key: sorted(row.received.values_list("key", flat=True))
        for row in HeldRun.objects.held()
    }


def consumed(key: str) -> list[str | None]:
    events = ConsumedEvent.objects.filter(held_run__dag__dag_id="c", held_run__partition_key=key)
    return sorted(events.values_list("event__partition_key", flat=True))
