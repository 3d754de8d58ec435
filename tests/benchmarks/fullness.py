"""`python -m tests.benchmarks.fullness`: intake and firing with a million events there, beside none.

One web process, one engine worker and beat, on PostgreSQL and Redis. The same work is measured before and
after a million events and a hundred thousand open held runs are on record, written as the engine writes them.
Airflow 3.3.2 keeps 0.66 of its intake with 100,000 rows, and does not fire behind 500 hopeless held runs.
Exits 1 if either takes more than 1.3 times as long.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime

from tests.benchmarks import clients, firing, intake, stand, storing
from tests.benchmarks.figures import Figure, percentile

EVENTS = 1_000_000
HELD = 100_000
POSTED = 2000
ROUNDS = 80
MOST = 1.3


def measured(site: stand.Site, scale: float = 1) -> Iterator[Figure]:
    from tests.engine import world

    site.define(firing.DEFINITIONS + 'plain, heap = Asset(name="plain"), Asset(name="heap")\n')
    token, asset_id = clients.login(), world.asset("plain").pk
    site.start_web(2)
    site.start_engine()
    posted, rounds = max(16, int(POSTED * scale)), max(5, int(ROUNDS * scale))
    _once(site, token, asset_id, max(8, posted // 10), 3, "warm")
    empty = _once(site, token, asset_id, posted, rounds, "empty")
    yield Figure(f"empty: POST of {posted:,} events, 8 clients", empty[0], "events/s", cpu=empty[1])
    yield Figure(f"empty: last key posted → run queued, {rounds} times, p50", empty[2], "ms")
    events, held = max(200, int(EVENTS * scale)), max(50, int(HELD * scale))
    fill(site, events - held, held)
    full = _once(site, token, asset_id, posted, rounds, "full")
    name = f"{events:,} events, {held:,} held runs"
    yield Figure(f"{name}: POST of {posted:,} events, 8 clients", full[0], "events/s", cpu=full[1])
    yield Figure(f"{name}: last key posted → run queued, p50", full[2], "ms")
    yield Figure("intake, time of full by time of empty", empty[0] / full[0], "x", MOST, at_most=True)
    yield Figure("processor time of intake, the same", full[1] / empty[1], "x", MOST, at_most=True)
    yield Figure("firing, time of full by time of empty", full[2] / empty[2], "x", MOST, at_most=True)


def _once(
    site: stand.Site, token: str, asset_id: int, posted: int, rounds: int, prefix: str
) -> tuple[float, float, float]:
    """Events a second, processor seconds of web, engine and database for them, and the median latency."""
    used = site.cpu() + site.database_cpu()
    wall, _ = intake.post(clients.Receiver(site.ports, token, asset_id), posted, prefix)
    used = site.cpu() + site.database_cpu() - used
    found = firing.latencies(site, token, rounds, prefix)
    return posted / wall, used, percentile(found, 50)


def fill(site: stand.Site, plain: int, held: int) -> None:
    """`plain` events that nobody listens to, and `held` that each hold a run; then what autovacuum does."""
    from core.models import AssetEvent

    for start in range(0, plain, 10_000):
        clients.emit("heap", (f"heap-{number}" for number in range(start, min(plain, start + 10_000))))
    AssetEvent.objects.filter(asset__name="heap").update(routed_at=datetime.now(UTC))
    firing.hold("joined", "a", held, "waiting")
    storing.settle()


if __name__ == "__main__":
    sys.exit(stand.run(__doc__, measured))
