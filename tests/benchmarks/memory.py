"""`python -m tests.benchmarks.memory`: what an engine worker holds after a million events.

One engine worker and beat, on PostgreSQL and Redis; events are put in by this process, for a Dag that rolls
hours up into days, so that mappers, held runs and definitions are all used. The worker's memory is taken when
it has got warm, on the way, and at the end. Exits 1 if it has grown by more than a tenth since it was warm.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from time import perf_counter

from tests.benchmarks import clients, stand
from tests.benchmarks.figures import Figure

EVENTS = 1_000_000
WARM = 100_000
PORTION = 10_000
MOST = 1.1
DEFINITIONS = """
from scheduling.sdk import DAG, Asset, DayWindow, PartitionedAssetTimetable, RollupMapper, StartOfDayMapper

hours = Asset(name="hours")
DAG(
    dag_id="daily",
    schedule=PartitionedAssetTimetable(
        assets=hours, default_partition_mapper=RollupMapper(StartOfDayMapper(), DayWindow())
    ),
)
"""
FIRST = datetime(1800, 1, 1, tzinfo=UTC)


def measured(site: stand.Site, scale: float = 1) -> Iterator[Figure]:
    site.define(DEFINITIONS)
    worker = site.start_engine()
    warm, events = max(240, int(WARM * scale)), max(480, int(EVENTS * scale))
    used, begun = site.cpu(), perf_counter()
    put(site, 0, warm)
    before = site.resident(worker) / 1024
    yield Figure(f"a worker after {warm:,} events", before, "MiB")
    half = (warm + events) // 2
    put(site, warm, half)
    yield Figure(f"after {half:,} events", site.resident(worker) / 1024, "MiB")
    put(site, half, events)
    after = site.resident(worker) / 1024
    yield Figure(f"after {events:,} events", after, "MiB", before * MOST, at_most=True, cpu=site.cpu() - used)
    assert site.row("SELECT count(*) FROM core_assetevent WHERE routed_at IS NOT NULL") == (events,)
    assert site.row("SELECT count(*) FROM core_dagrun") == (events // 24,)
    yield Figure(
        "reported, mapped, judged and fired all the while", events / (perf_counter() - begun), "events/s"
    )


def put(site: stand.Site, first: int, end: int) -> None:
    """The hours from one number to another are reported; wait until the worker has done with them."""
    portion = min(PORTION, max(24, end - first))
    for start in range(first, end, portion):
        numbers = range(start, min(end, start + portion))
        clients.emit("hours", (f"{FIRST + timedelta(hours=number):%Y-%m-%dT%H:%M:%S}" for number in numbers))
        site.wait_for(lambda: _is_idle(site), seconds=600)


def _is_idle(site: stand.Site) -> bool:
    waiting = "SELECT (SELECT count(*) FROM core_assetevent WHERE routed_at IS NULL)"
    due = "(SELECT count(*) FROM core_heldrun WHERE state = 'held' AND judge_after <= now())"
    return bool(site.row(f"{waiting} + {due}") == (0,))


if __name__ == "__main__":
    sys.exit(stand.run(__doc__, measured))
