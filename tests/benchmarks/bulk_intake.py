"""`python -m tests.benchmarks.bulk_intake`: events by the ten thousand a request, then mapped and judged.

Two clients and two web processes on PostgreSQL store them; then the work of one engine worker is done here,
in this process: every event is mapped for one Dag, counted and judged, and runs are queued. Exits 1 if a bar
is missed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime

from tests.benchmarks import clients, stand
from tests.benchmarks.figures import Figure, timed

PORTION = 10_000
REQUESTS = 10
PROCESSES = 2
STORED, JUDGED = 15_000, 5_000


def measured(site: stand.Site, scale: float = 1) -> Iterator[Figure]:
    from partitions_site.warming import leave_alone
    from tests.engine import world

    leave_alone()
    world.consumer("copy", {"sales": world.IDENTITY})
    world.consumer("daily", {"hours": world.HOURS_TO_DAY})
    token, portion = clients.login(), max(100, int(PORTION * scale))
    site.start_web(PROCESSES)
    store(site, token, "sales", [f"warm-{number}" for number in range(100 * PROCESSES)], 100)
    keys = [f"key-{number}" for number in range(portion * REQUESTS)]
    yield from _stored(site, token, "sales", keys, portion)
    yield from _done(site, "map for one Dag, one key each, judge, and queue as many runs")
    days = [f"{1900 + n // 336:04}-{n // 28 % 12 + 1:02}-{n % 28 + 1:02}" for n in range(len(keys) // 24)]
    hours = [f"{day}T{hour:02}:00:00" for day in days for hour in range(24)]
    yield from _stored(site, token, "hours", hours, portion)
    yield from _done(site, f"map hours into {len(days):,} days, judge, and queue their runs")


def _stored(site: stand.Site, token: str, asset: str, keys: list[str], portion: int) -> Iterator[Figure]:
    used = site.cpu() + site.database_cpu()
    seconds, _, _ = timed(lambda: store(site, token, asset, keys, portion))
    used = site.cpu() + site.database_cpu() - used
    work = f"store {len(keys):,} events, {portion:,} a request, {PROCESSES} clients and web processes"
    yield Figure(work, len(keys) / seconds, "events/s", STORED, cpu=used)


def store(site: stand.Site, token: str, asset: str, keys: list[str], portion: int) -> None:
    """Each client posts every second portion to a web process of its own."""
    from tests.engine import world

    asset_id = world.asset(asset).pk
    starts = range(0, len(keys), portion)

    def client(number: int) -> None:
        connection = clients.Connection(site.ports[number], token)
        for start in starts[number::PROCESSES]:
            events = [
                {"asset_id": asset_id, "partition_key": key, "extra": {"rows": 100}}
                for key in keys[start : start + portion]
            ]
            status, answer = connection.post("/api/v2/assets/events/bulk", json.dumps(events).encode())
            assert status == 200, answer
        connection.close()

    clients.crowd(PROCESSES, client)


def _done(site: stand.Site, work: str) -> Iterator[Figure]:
    """All that waits is mapped and judged in this process."""
    [waiting] = site.row("SELECT count(*) FROM core_assetevent WHERE routed_at IS NULL")
    database = site.database_cpu()
    seconds, cpu, _ = timed(until_idle)
    database = site.database_cpu() - database
    assert site.row("SELECT count(*) FROM core_assetevent WHERE routed_at IS NULL") == (0,)
    assert site.row("SELECT count(*) FROM core_heldrun WHERE state = 'held'") == (0,)
    yield Figure(f"{waiting:,} events: {work}", waiting / seconds, "events/s", JUDGED, cpu=cpu + database)


def until_idle() -> None:
    """What `scheduling.route_events` and `scheduling.judge_held_runs` do until nothing waits."""
    from scheduling import holds

    while holds.route_pending(now=datetime.now(UTC)):
        pass
    while holds.judge_due(now=datetime.now(UTC)):
        pass


if __name__ == "__main__":
    sys.exit(stand.run(__doc__, measured))
