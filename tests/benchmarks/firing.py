"""`python -m tests.benchmarks.firing`: from the last key posted to the run that is queued.

One web process, one engine worker and beat, on PostgreSQL and Redis. A held run waits for one more key, which
is posted over the API; a look every 3 ms tells when its run can be seen. Then the same with held runs that
can never fire, and with a great many that wait. Airflow 3.3.2: p50 560 ms, p99 1,017 ms, and behind 500
hopeless ones never. Exits 1 if a bar is missed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

import psycopg

from tests.benchmarks import clients, stand, storing
from tests.benchmarks.figures import Figure, percentile

ROUNDS = 150
HOPELESS = 500
HELD = 100_000
P50, P99 = 50, 250
DEFINITIONS = """
from scheduling.sdk import DAG, Asset, PartitionedAssetTimetable

a, b, c, d = (Asset(name=name) for name in "abcd")
DAG(dag_id="joined", schedule=PartitionedAssetTimetable(assets=a & b))
DAG(dag_id="never", schedule=PartitionedAssetTimetable(assets=c & d))
"""
HELD_SQL = "SELECT 1 FROM core_heldrun WHERE partition_key = %s AND judge_after IS NULL AND verdict <> ''"
QUEUED_SQL = "SELECT 1 FROM core_dagrun WHERE partition_key = %s"


def measured(site: stand.Site, scale: float = 1) -> Iterator[Figure]:
    site.define(DEFINITIONS)
    token = clients.login()
    site.start_web(1)
    site.start_engine()
    rounds = max(5, int(ROUNDS * scale))
    latencies(site, token, max(3, rounds // 10), "warm")
    empty = latencies(site, token, rounds, "first")
    yield from _figures(f"last key posted → run queued, {rounds} times", empty, P50, P99)
    hold("never", "c", max(10, int(HOPELESS * scale)), "hopeless")
    behind = latencies(site, token, rounds, "second")
    p50, p99 = (percentile(empty, each) for each in (50, 99))
    yield from _figures(
        f"the same behind {max(10, int(HOPELESS * scale)):,} hopeless held runs",
        behind,
        max(P50, 1.3 * p50),
        max(P99, 1.3 * p99),
    )
    held = max(100, int(HELD * scale))
    hold("joined", "a", held, "waiting")
    storing.settle()
    among = latencies(site, token, rounds, "third")
    yield from _figures(f"the same among {held:,} open held runs", among, P50, P99)


def _figures(work: str, found: list[float], p50: float, p99: float) -> Iterator[Figure]:
    yield Figure(f"{work}: p50", percentile(found, 50), "ms", p50, at_most=True)
    yield Figure(f"{work}: p99", percentile(found, 99), "ms", p99, at_most=True)


def latencies(site: stand.Site, token: str, rounds: int, prefix: str) -> list[float]:
    """Milliseconds from the post of the last key until its run can be seen, one round after the other."""
    from tests.engine import world

    assets = {name: world.asset(name).pk for name in "ab"}
    found = []
    with psycopg.connect(site.database_url, autocommit=True) as database:
        for number in range(rounds):
            key = f"{prefix}-{number}"
            _post(site, token, clients.event(assets["a"], key))
            _until(database, HELD_SQL, key)
            begun = perf_counter()
            _post(site, token, clients.event(assets["b"], key))
            _until(database, QUEUED_SQL, key)
            found.append(1000 * (perf_counter() - begun))
    return found


def _post(site: stand.Site, token: str, body: bytes) -> None:
    connection = clients.Connection(site.ports[0], token)
    status, answer = connection.post("/api/v2/assets/events", body)
    assert status == 200, answer
    connection.close()


def _until(database: psycopg.Connection[Any], sql: str, key: str) -> None:
    """Ask every few milliseconds until there is a row."""
    deadline = perf_counter() + 30
    while not database.execute(sql, [key]).fetchone():
        assert perf_counter() < deadline, f"nothing for {key} within 30 s"
        time.sleep(0.003)


def hold(dag_id: str, asset: str, count: int, prefix: str) -> None:
    """Open `count` held runs that have one of the keys they need, by the engine's own ways."""
    from scheduling import holds
    from tests.engine import world

    for start in range(0, count, 5000):
        clients.emit(asset, (f"{prefix}-{number}" for number in range(start, min(count, start + 5000))))
        while holds.route_pending(now=datetime.now(UTC)):
            pass
        while holds.judge_due(now=datetime.now(UTC)):
            pass
    opened = world.HeldRun.objects.held().filter(dag__dag_id=dag_id, partition_key__startswith=prefix)
    deadline = perf_counter() + 30
    while opened.count() < count:  # the engine of the site has taken some, and is at work on them
        assert perf_counter() < deadline, f"{opened.count()} of {count} held runs within 30 s"
        time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(stand.run(__doc__, measured))
