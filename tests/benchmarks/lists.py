"""`python -m tests.benchmarks.lists`: lists of 100 with a million rows behind them.

On PostgreSQL; with `--sqlite` a tenth of that on SQLite. A server that runs already is used, with a database
of its own, or else a private one is started; `--database URL` takes a database of yours, fills it if it is
empty, and leaves it. Each list is asked for through the whole of the API, sign-in and JSON included.

`first` is a list that nobody has asked for: by each of `PROCESSES` processes, one after the other, that has
just started, has signed in and has read one short list. `again` is the same list `ROUNDS` times in one
process, with the least processor time of it. Exits 1 if the median of either is over `BAR`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from time import perf_counter, process_time
from typing import Any

from tests import servers
from tests.benchmarks.many_rows import NOW, SECOND, fill
from tests.benchmarks.storing import database

ROWS = 1_000_000
PROCESSES = 7
ROUNDS = 30
BAR = 0.050

RUNS = "/api/v2/dags/~/dagRuns?limit=100"
OF_DAG = "/api/v2/dags/load/dagRuns?limit=100"
EVENTS = "/api/v2/assets/events?limit=100"
PARTITIONS = "/api/v2/assets/1/partitions?limit=100"
HELD = "/api/v2/heldRuns?limit=100"
JOURNAL = "/api/v2/eventLogs?limit=100"

TIMES_OF_RUNS = {
    f"runs, {name}_{bound} {moment}, by {order}": f"{RUNS}&{name}_{bound}={moment.upper()}&order_by={order}"
    for name in ("start_date", "end_date", "updated_at")
    for bound, moment in (
        ("lte", "early"),
        ("gte", "late"),
        ("lte", "middle"),
        ("gte", "middle"),
        ("lte", "never"),
    )
    for order in ("-run_after", "run_after", "-id", f"-{name}", "state")
}
"""One time and the order of another: no index has both."""

LISTS = {
    "runs": f"{RUNS}&order_by=-run_after",
    "runs, by cursor": f"{RUNS}&order_by=-run_after&cursor=",
    "runs that succeeded": f"{RUNS}&state=success&order_by=-run_after",
    "runs that failed": f"{RUNS}&state=failed&order_by=-run_after",
    "runs since some day": f"{RUNS}&run_after_gte=MIDDLE&order_by=run_after",
    "runs that started since, and went well": f"{RUNS}&start_date_gte=MIDDLE&state=success&order_by=-id",
    "runs within some days": f"{RUNS}&run_after_gte=EARLY&run_after_lte=MIDDLE&order_by=-run_after",
    **TIMES_OF_RUNS,
    "runs that failed long ago": f"{RUNS}&end_date_lte=EARLY&state=failed&order_by=-run_after",
    "runs of a Dag that ended long ago": f"{OF_DAG}&end_date_lte=EARLY&order_by=-run_after",
    "runs that ended long ago, by cursor": f"{RUNS}&end_date_lte=EARLY&order_by=-run_after&cursor=",
    "runs, last ended first": f"{RUNS}&order_by=-end_date",
    "runs, first started first": f"{RUNS}&order_by=start_date",
    "runs, last changed first": f"{RUNS}&order_by=-updated_at",
    "runs by hand": f"{RUNS}&run_type=manual&order_by=-run_after",
    "runs of a Dag": f"{OF_DAG}&order_by=-id",
    "runs of a Dag, by cursor": f"{OF_DAG}&order_by=-id&cursor=",
    "runs of a Dag that failed": f"{OF_DAG}&state=failed&order_by=-run_after",
    "runs of a Dag that went well": f"{OF_DAG}&state=success&order_by=-run_after",
    "runs of a Dag since some day": f"{OF_DAG}&run_after_gte=MIDDLE&order_by=run_after",
    "events": EVENTS,
    "events, by cursor": f"{EVENTS}&cursor=",
    "events, newest first": f"{EVENTS}&order_by=-timestamp",
    "events of an asset, newest first": f"{EVENTS}&asset_id=1&order_by=-timestamp",
    "events of assets of some name": f"{EVENTS}&name_pattern=sal&order_by=-timestamp",
    "events of a partition": f"{EVENTS}&asset_id=1&partition_key=k5000",
    "events since some day": f"{EVENTS}&timestamp_gte=MIDDLE",
    "events long ago, newest number first": f"{EVENTS}&timestamp_lte=EARLY&order_by=-id",
    "events of an asset within some days": f"{EVENTS}&asset_id=1&timestamp_gte=EARLY&timestamp_lt=MIDDLE",
    "partitions": PARTITIONS,
    "partitions, by cursor": f"{PARTITIONS}&cursor=",
    "partitions that are there": f"{PARTITIONS}&state=materialized",
    "partitions that failed": f"{PARTITIONS}&state=failed",
    "held runs": HELD,
    "held runs, by cursor": f"{HELD}&cursor=",
    "held runs of a Dag": f"{HELD}&dag_id=report",
    "held runs since some day": f"{HELD}&opened_at_gte=EARLY",
    "journal": f"{JOURNAL}&order_by=-when",
    "journal, by cursor": f"{JOURNAL}&order_by=-when&cursor=",
    "journal of a Dag": f"{JOURNAL}&dag_id=load&order_by=-when",
    "journal of a kind": f"{JOURNAL}&event=trigger_dag_run&order_by=-when",
    "journal of long ago, newest number first": f"{JOURNAL}&before=EARLY&order_by=-id",
    "journal since some day": f"{JOURNAL}&after=MIDDLE&order_by=-when",
}


def main() -> int:
    options = _options()
    rows = options.rows or (ROWS // 10 if options.sqlite else ROWS)
    if options.once:
        print(json.dumps(asked_once(rows, options.only)))
        return 0
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        try:
            url = options.database or database(stack, "lists", options.sqlite, directory)
        except servers.Missing as missing:
            print(f"NOT RUN HERE: {missing}")
            return 1
        os.environ["DATABASE_URL"] = url
        os.environ["PARTITA_DATA_DIR"] = directory
        os.environ["DJANGO_SETTINGS_MODULE"] = "partitions_site.settings"
        os.environ["PARTITA_LOG_LEVEL"] = "ERROR"
        os.environ["PARTITA_REQUESTS_PER_MINUTE"] = "0"
        _prepare(rows)
        slow = _tell(rows, options.only)
        print(f"load {os.getloadavg()[0]:.2f}")
    return 1 if slow else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rows", nargs="?", type=int, help=f"default: {ROWS:,}, on SQLite a tenth of it")
    parser.add_argument("--sqlite", action="store_true")
    parser.add_argument("--database", default="")
    parser.add_argument("--only", default="", help="lists whose words contain this")
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _tell(rows: int, only: str) -> int:
    """Prints a line for each list; how many are over the bar."""
    heads = "".join(f"{each:>9}" for each in ("first", "median", "worst", "again", "median", "worst", "CPU"))
    print(f"{f'ms; a list of 100, {rows:,} rows behind it':<50}{heads}   (bar {BAR * 1000:.0f})")
    first, slow = first_times(rows, only), 0
    for words, taken, worked in _again(rows, only):
        figures = [each for times in (first[words], taken) for each in _told(times)]
        missed = max(figures[1], figures[4]) > BAR
        slow += missed
        told = "".join(f"{each * 1000:>9.1f}" for each in (*figures, worked))
        print(f"{words:<50}{told}{'  missed' if missed else ''}", flush=True)
    return slow


def _told(times: list[float]) -> tuple[float, float, float]:
    return min(times), statistics.median(times), max(times)


def first_times(rows: int, only: str) -> dict[str, list[float]]:
    """How long each list takes that nobody has asked for: a new process asks for each of them once."""
    times: dict[str, list[float]] = {}
    command = [sys.executable, "-m", "tests.benchmarks.lists", str(rows), "--once", "--only", only]
    for _ in range(PROCESSES):
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for words, taken in json.loads(told.splitlines()[-1]).items():
            times.setdefault(words, []).append(taken)
    return times


def asked_once(rows: int, only: str) -> dict[str, float]:
    """In a process that was started for it, and is warm as web is: how long each list takes."""
    import django

    django.setup()
    client = _client()
    _asked(client, "/api/v2/pools")
    return {words: _asked(client, url)[0] for words, url in _lists(rows, only)}


def _again(rows: int, only: str) -> Any:
    """The wall times of each list when it is asked for over and over, and the least processor time."""
    client = _client()
    for words, url in _lists(rows, only):
        times = [_asked(client, url) for _ in range(ROUNDS)]
        yield words, [taken for taken, _ in times], min(worked for _, worked in times)


def _lists(rows: int, only: str) -> list[tuple[str, str]]:
    moments = {"NEVER": -1, "EARLY": rows // 4, "MIDDLE": rows // 2, "LATE": rows - rows // 100}
    found = []
    for words, url in LISTS.items():
        for name, seconds in moments.items():
            url = url.replace(name, f"{NOW + seconds * SECOND:%Y-%m-%dT%H:%M:%SZ}")
        if only in words:
            found.append((words, url))
    return found


def _client() -> Any:
    from django.contrib.auth.models import User
    from rest_framework.test import APIClient

    from partitions_site.models import ApiToken
    from partitions_site.warming import warm_up

    warm_up()
    user = User.objects.filter(username="bench").first() or User.objects.create_superuser("bench")
    _, token = ApiToken.objects.create(user=user, expiry=None)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


def _asked(client: Any, url: str) -> tuple[float, float]:
    begin, working = perf_counter(), process_time()
    answer = client.get(url, HTTP_HOST="localhost")
    taken = perf_counter() - begin, process_time() - working
    assert answer.status_code == 200, answer.content
    return taken


def _prepare(rows: int) -> None:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from core.models import Partition

    if not Partition.objects.exists():
        fill(rows)


if __name__ == "__main__":
    sys.exit(main())
