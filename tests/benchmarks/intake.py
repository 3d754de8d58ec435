"""`python -m tests.benchmarks.intake`: events over the API, one a request, from eight clients.

Two web processes on PostgreSQL, the token checked and the journal written for each event; one Dag listens.
Airflow 3.3.2 took 99 events a second of a machine of this size. As machines differ, `--airflow URL` posts to
one that runs here as well, in turns, and what is judged is the ratio. Exits 1 if the bar is missed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from time import perf_counter
from uuid import uuid4

from tests.benchmarks import clients, peer, stand
from tests.benchmarks.clients import Receiver
from tests.benchmarks.figures import Figure, options, percentile

EVENTS = 6000
CLIENTS = 8
WARM_UP = 50 * CLIENTS
AIRFLOW = 99
FACTOR = 6
TURNS = 3


def measured(site: stand.Site, scale: float = 1) -> Iterator[Figure]:
    ours, events = started(site), max(CLIENTS, int(EVENTS * scale))
    yield floor(site, scale)
    post(ours, WARM_UP, "warm")
    used, database = site.cpu(), site.database_cpu()
    wall, latencies = post(ours, events, "key")
    used, database = site.cpu() - used, site.database_cpu() - database
    check(site, WARM_UP + events)
    work = f"POST of {events:,} events, {CLIENTS} clients, 2 web processes"
    yield Figure(work, events / wall, "events/s", AIRFLOW * FACTOR, cpu=used + database)
    yield from times("the same", latencies)
    yield Figure("processor time of web for an event", 1000 * used / events, "ms")
    yield Figure("processor time of the database for an event", 1000 * database / events, "ms")


def beside(site: stand.Site, scale: float, *, airflow: Receiver) -> Iterator[Figure]:
    """We and an Airflow in turns of about the same length; one has nothing to do while the other is asked."""
    ours, run = started(site), uuid4().hex[:8]
    events = max(CLIENTS, int(EVENTS * scale / TURNS))
    turns = ((ours, events, "we"), (airflow, max(CLIENTS, events // FACTOR), "Airflow"))
    yield floor(site, scale)
    for receiver, *_ in turns:
        post(receiver, WARM_UP, f"{run}-warm")
    used, walls = site.cpu() + site.database_cpu(), {"we": 0.0, "Airflow": 0.0}
    latencies: dict[str, list[float]] = {"we": [], "Airflow": []}
    for turn in range(TURNS):
        for receiver, amount, who in turns:
            wall, took = post(receiver, amount, f"{run}-{turn}")
            walls[who] += wall
            latencies[who] += took
    used = site.cpu() + site.database_cpu() - used
    check(site, WARM_UP + TURNS * events)
    rates = {who: len(latencies[who]) / walls[who] for who in walls}
    for who in walls:
        work = f"{who}: POST of {len(latencies[who]):,} events in {TURNS} turns, {CLIENTS} clients"
        yield Figure(work, rates[who], "events/s", cpu=used if who == "we" else None)
        yield from times(who, latencies[who])
    yield Figure("events a second, ours by Airflow's", rates["we"] / rates["Airflow"], "x", FACTOR)


def started(site: stand.Site) -> Receiver:
    """Two web processes, and an asset that one Dag listens to."""
    from tests.engine import world

    world.consumer("copy", {peer.ASSET: world.IDENTITY})
    asset_id, token = world.asset(peer.ASSET).pk, clients.login()
    site.start_web(2)
    return Receiver(site.ports, token, asset_id)


def floor(site: stand.Site, scale: float) -> Figure:
    rows = clients.plain_inserts(site, CLIENTS, max(0.3, 3 * scale))
    return Figure(f"the floor: plain INSERT and COMMIT, {CLIENTS} connections", rows, "rows/s")


def times(who: str, latencies: Sequence[float]) -> Iterator[Figure]:
    for percent in (50, 99):
        yield Figure(f"{who}, p{percent}", 1000 * percentile(latencies, percent), "ms")


def check(site: stand.Site, events: int) -> None:
    """All that was answered is on record, and in the journal."""
    assert site.row("SELECT count(*) FROM core_assetevent") == (events,)
    journal = "SELECT count(*) FROM core_journalentry WHERE event = 'asset event recorded'"
    assert site.row(journal) == (events,)


def post(receiver: Receiver, events: int, prefix: str) -> tuple[float, list[float]]:
    """Wall seconds until all `events` are answered, and how long each took."""
    latencies: list[list[float]] = [[] for _ in range(CLIENTS)]

    def client(number: int) -> None:
        port = receiver.ports[number % len(receiver.ports)]
        connection = clients.Connection(port, receiver.token)
        for each in range(number, events, CLIENTS):
            body = clients.event(receiver.asset_id, f"{prefix}-{each}")
            begun = perf_counter()
            status, answer = connection.post("/api/v2/assets/events", body)
            latencies[number].append(perf_counter() - begun)
            assert status == 200, answer
        connection.close()

    wall = clients.crowd(CLIENTS, client)
    return wall, [latency for each in latencies for latency in each]


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("--airflow", metavar="URL", help="measure this one in turns with us")
    asked = parser.parse_args()
    if not asked.airflow:
        return stand.run_at(asked.scale, measured)
    try:
        airflow = peer.receiver(asked.airflow)
    except (OSError, ValueError) as reason:
        parser.error(f"--airflow: {reason}")
    return stand.run_at(asked.scale, partial(beside, airflow=airflow))


if __name__ == "__main__":
    sys.exit(main())
