"""`python -m tests.benchmarks.lists`: lists of 100 with a million rows behind them.

On PostgreSQL; with `--sqlite` a tenth of that on SQLite. A server that runs already is used, with a database
of its own, or else a private one is started; `--database URL` takes a PostgreSQL database of yours, fills it
if it is empty, and leaves it. Each list is asked for through the whole of the API, sign-in and JSON included.
The best of `ROUNDS` counts: what else the machine does is not the list's doing; the median and the processor
time of this process stand beside it. Exits 1 if one takes longer than `BAR`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from time import perf_counter, process_time
from typing import Any

from django.db.models import JSONField

from tests import servers
from tests.benchmarks.filling import database, load, settle, written

ROWS = 1_000_000
ROUNDS = 30
BAR = 0.050
NOW = datetime(2026, 3, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)

LISTS = {
    "runs": "/api/v2/dags/~/dagRuns?limit=100&order_by=-run_after&cursor=",
    "runs, and how many there are": "/api/v2/dags/~/dagRuns?limit=100&order_by=-run_after",
    "runs of a Dag": "/api/v2/dags/load/dagRuns?limit=100&order_by=-id&cursor=",
    "runs of a Dag, and how many there are": "/api/v2/dags/load/dagRuns?limit=100&order_by=-id",
    "runs that failed": "/api/v2/dags/~/dagRuns?limit=100&state=failed&order_by=-run_after",
    "runs of a Dag that failed": "/api/v2/dags/load/dagRuns?limit=100&state=failed&order_by=-run_after",
    "events": "/api/v2/assets/events?limit=100&cursor=",
    "events, and how many there are": "/api/v2/assets/events?limit=100",
    "events, newest first": "/api/v2/assets/events?limit=100&order_by=-timestamp&cursor=",
    "events of an asset, newest first": "/api/v2/assets/events?limit=100&asset_id=1&order_by=-timestamp",
    "events of a partition": "/api/v2/assets/events?limit=100&asset_id=1&partition_key=k5000",
    "partitions": "/api/v2/assets/1/partitions?limit=100&cursor=",
    "partitions that failed": "/api/v2/assets/1/partitions?limit=100&state=failed&cursor=",
    "held runs": "/api/v2/heldRuns?limit=100&cursor=",
    "held runs, and how many there are": "/api/v2/heldRuns?limit=100",
    "held runs of a Dag": "/api/v2/heldRuns?limit=100&dag_id=report",
    "journal": "/api/v2/eventLogs?limit=100&order_by=-when&cursor=",
    "journal, and how many entries there are": "/api/v2/eventLogs?limit=100&order_by=-when",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rows", nargs="?", type=int, help=f"default: {ROWS:,}, on SQLite a tenth of it")
    parser.add_argument("--sqlite", action="store_true")
    parser.add_argument("--database", default="")
    parser.add_argument("--only", default="", help="lists whose words contain this")
    options = parser.parse_args()
    rows = options.rows or (ROWS // 10 if options.sqlite else ROWS)
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
        heads = ("best ms", "bar", "median", "processor")
        print(f"{f'a list of 100, {rows:,} rows behind it':<44}" + "".join(f"{each:>11}" for each in heads))
        slow = 0
        for words, best, *others in measured(options.only):
            slow += best > BAR
            told = "".join(f"{each * 1000:>11.1f}" for each in (best, BAR, *others))
            print(f"{words:<44}{told}{'  missed' if best > BAR else ''}", flush=True)
        print(f"load {os.getloadavg()[0]:.2f}")
    return 1 if slow else 0


def measured(only: str) -> Iterator[tuple[str, float, float, float]]:
    """The best and the median wall time of each list, and the least processor time of this process."""
    from django.contrib.auth.models import User
    from rest_framework.test import APIClient

    from partitions_site.models import ApiToken

    user = User.objects.filter(username="bench").first() or User.objects.create_superuser("bench")
    _, token = ApiToken.objects.create(user=user, expiry=None)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    for words, url in LISTS.items():
        if only not in words:
            continue
        taken, worked = [], []
        for _ in range(ROUNDS):
            begin, working = perf_counter(), process_time()
            answer = client.get(url, HTTP_HOST="localhost")
            taken.append(perf_counter() - begin)
            worked.append(process_time() - working)
            assert answer.status_code == 200, answer.content
        yield words, min(taken), statistics.median(taken), min(worked)


def _prepare(rows: int) -> None:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from core.models import Partition

    if not Partition.objects.exists():
        _fill(rows)


def _fill(rows: int) -> None:
    """As many events, partitions, runs, held runs and journal entries each."""
    from django.db import transaction

    from core.models import AssetEvent, DagRun, HeldRun, JournalEntry, Partition
    from tests.engine import world

    with transaction.atomic():
        world.asset("sales", pk=1)
        dag = world.dag("load", {"type": "PartitionedAtRuntime"}, writes=["sales"]).pk
        report = world.consumer("report", {"sales": world.IDENTITY}).pk
        numbers = range(1, rows + 1)
        for model, made in (
            (AssetEvent, map(_event, numbers)),
            (Partition, map(_partition, numbers)),
            (DagRun, (_run(dag, number) for number in numbers)),
            (HeldRun, (_held(report, number) for number in numbers)),
            (JournalEntry, map(_entry, numbers)),
        ):
            _store(model, made)
    settle()


def _store(model: Any, rows: Iterable[dict[str, Any]]) -> None:
    """Rows of what is said of each, and of the defaults of the model."""
    fields = [each for each in model._meta.concrete_fields if not each.primary_key and not each.generated]
    usual = {each.attname: each.get_default() for each in fields}
    for each in fields:
        if isinstance(each, JSONField) and not each.null:
            usual[each.attname] = written(each.get_default())
    load(model, tuple(usual), (tuple((usual | row).values()) for row in rows))


def _event(number: int) -> dict[str, Any]:
    at = NOW + number * SECOND
    return {"asset_id": 1, "partition_key": f"k{number}", "source": "api", "timestamp": at, "routed_at": at}


def _partition(number: int) -> dict[str, Any]:
    attempt = "success" if number % 1000 else "failed"
    return {
        "asset_id": 1,
        "key": f"k{number}",
        "attempt": attempt,
        "outcome": "success",
        "data_at": NOW,
        "updated_at": NOW,
    }


def _run(dag: int, number: int) -> dict[str, Any]:
    at = NOW + number * SECOND
    return {
        "dag_id": dag,
        "run_id": f"r{number}",
        "run_type": "manual",
        "state": "success" if number % 1000 else "failed",
        "partition_key": f"k{number}",
        "triggered_by": "rest_api",
        "attempt": 1,
        **dict.fromkeys(("queued_at", "run_after", "updated_at", "started_at", "ended_at"), at),
    }


def _held(dag: int, number: int) -> dict[str, Any]:
    return {
        "dag_id": dag,
        "partition_key": f"k{number}",
        "opened_at": NOW,
        "last_event_at": NOW,
        "required_count": 24,
        "received_count": 3,
    }


def _entry(number: int) -> dict[str, Any]:
    at = NOW + number * SECOND
    names = {"dag_id": "load", "run_id": f"r{number}", "partition_key": f"k{number}"}
    return {"at": at, "by": "bench", "via": "api", "event": "run triggered", **names}


if __name__ == "__main__":
    sys.exit(main())
