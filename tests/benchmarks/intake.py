"""`python -m tests.benchmarks.intake`: events over the API, one a request, from eight clients.

Two web processes on PostgreSQL, the token checked and the journal written for each event; one Dag listens.
Airflow 3.3.2 took 99 events a second of the same machine. Exits 1 if the bar is missed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from time import perf_counter

from tests.benchmarks import clients, stand
from tests.benchmarks.figures import Figure, percentile

EVENTS = 6000
CLIENTS = 8
AIRFLOW = 99
FACTOR = 6


def measured(site: stand.Site, scale: float = 1) -> Iterator[Figure]:
    from tests.engine import world

    world.consumer("copy", {"sales": world.IDENTITY})
    asset_id, token = world.asset("sales").pk, clients.login()
    site.start_web(2)
    warm_up, events = 50 * CLIENTS, max(CLIENTS, int(EVENTS * scale))
    floor = clients.plain_inserts(site, CLIENTS, max(0.3, 3 * scale))
    yield Figure(f"the floor: plain INSERT and COMMIT, {CLIENTS} connections", floor, "rows/s")
    post(site, token, asset_id, warm_up, "warm")
    used, database = site.cpu(), site.database_cpu()
    wall, latencies = post(site, token, asset_id, events, "key")
    used, database = site.cpu() - used, site.database_cpu() - database
    assert site.row("SELECT count(*) FROM core_assetevent") == (warm_up + events,)
    assert site.row("SELECT count(*) FROM core_journalentry WHERE event = 'asset event recorded'") == (
        warm_up + events,
    )
    yield Figure(
        f"POST of {events:,} events, {CLIENTS} clients, 2 web processes",
        events / wall,
        "events/s",
        AIRFLOW * FACTOR,
        cpu=used + database,
    )
    yield Figure("the same, p50", 1000 * percentile(latencies, 50), "ms")
    yield Figure("the same, p99", 1000 * percentile(latencies, 99), "ms")
    yield Figure("processor time of web for an event", 1000 * used / events, "ms")
    yield Figure("processor time of the database for an event", 1000 * database / events, "ms")


def post(site: stand.Site, token: str, asset_id: int, events: int, prefix: str) -> tuple[float, list[float]]:
    """Wall seconds until all `events` are answered, and how long each took."""
    latencies: list[list[float]] = [[] for _ in range(CLIENTS)]

    def client(number: int) -> None:
        connection = clients.Connection(site.ports[number % len(site.ports)], token)
        for each in range(number, events, CLIENTS):
            begun = perf_counter()
            status, answer = connection.post(
                "/api/v2/assets/events", clients.event(asset_id, f"{prefix}-{each}")
            )
            latencies[number].append(perf_counter() - begun)
            assert status == 200, answer
        connection.close()

    wall = clients.crowd(CLIENTS, client)
    return wall, [latency for each in latencies for latency in each]


if __name__ == "__main__":
    sys.exit(stand.run(__doc__, measured))
