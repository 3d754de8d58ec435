"""`python -m tests.benchmarks.lists [ROWS]`: lists of 100 with a million rows behind them, on PostgreSQL.

A server that runs already is used, with a database of its own, or else a private one is started. Each list is
asked for through the whole of the API, sign-in and JSON included. The best of `ROUNDS` counts: what else the
machine does is not the list's doing; the median and the processor time of this process stand beside it. Exits
1 if one takes longer than `BAR`.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from time import perf_counter, process_time

from tests import servers

ROWS = 1_000_000
ROUNDS = 30
BAR = 0.050
NOW = datetime(2026, 3, 1, tzinfo=UTC)

LISTS = {
    "runs": "/api/v2/dags/~/dagRuns?limit=100&order_by=-run_after&cursor=",
    "runs of a Dag": "/api/v2/dags/load/dagRuns?limit=100&order_by=-id&cursor=",
    "events": "/api/v2/assets/events?limit=100&cursor=",
    "events, newest first": "/api/v2/assets/events?limit=100&order_by=-timestamp&cursor=",
    "partitions": "/api/v2/assets/1/partitions?limit=100&cursor=",
    "partitions that failed": "/api/v2/assets/1/partitions?limit=100&state=failed&cursor=",
    "held runs": "/api/v2/heldRuns?limit=100&cursor=",
    "journal": "/api/v2/eventLogs?limit=100&order_by=-when&cursor=",
}


def main(rows: int) -> int:
    with ExitStack() as stack:
        try:
            server = stack.enter_context(servers.postgres())
        except servers.Missing as missing:
            print(f"NOT RUN HERE: {missing}")
            return 1
        name = f"partita_benchmark_lists_{os.getpid()}"
        os.environ["DATABASE_URL"] = stack.enter_context(servers.empty_postgres_database(server, name))
        os.environ["PARTITA_DATA_DIR"] = stack.enter_context(tempfile.TemporaryDirectory())
        os.environ["DJANGO_SETTINGS_MODULE"] = "partitions_site.settings"
        os.environ["PARTITA_LOG_LEVEL"] = "ERROR"
        os.environ["PARTITA_REQUESTS_PER_MINUTE"] = "0"
        _prepare(rows)
        heads = ("best ms", "bar", "median", "processor")
        print(f"{f'a list of 100, {rows:,} rows behind it':<44}" + "".join(f"{each:>11}" for each in heads))
        slow = 0
        for words, best, *others in measured():
            slow += best > BAR
            told = "".join(f"{each * 1000:>11.1f}" for each in (best, BAR, *others))
            print(f"{words:<44}{told}{'  missed' if best > BAR else ''}", flush=True)
    return 1 if slow else 0


def measured() -> Iterator[tuple[str, float, float, float]]:
    """The best and the median wall time of each list, and the least processor time of this process."""
    from django.contrib.auth.models import User
    from rest_framework.test import APIClient

    from partitions_site.models import ApiToken

    user = User.objects.create_superuser("bench", password="bench")
    _, token = ApiToken.objects.create(user=user, expiry=None)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    for words, url in LISTS.items():
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
    from django.db import connection

    django.setup()
    call_command("migrate", verbosity=0)
    from tests.engine import world

    world.asset("sales", pk=1)
    world.dag("load", {"type": "PartitionedAtRuntime"}, writes=["sales"])
    world.consumer("report", {"sales": world.IDENTITY})
    with connection.cursor() as cursor:
        for statement in FILLS:
            cursor.execute(statement, {"rows": rows, "now": NOW})
        cursor.execute("ANALYZE")


FILLS = (
    """INSERT INTO core_assetevent (asset_id, partition_key, extra, source, source_task_id, created_by,
        timestamp, routed_at)
        SELECT 1, 'k' || n, '{}', 'api', '', 'bench', %(now)s + n * interval '1 second', %(now)s
        FROM generate_series(1, %(rows)s) AS n""",
    """INSERT INTO core_partition (asset_id, key, extra, attempt, outcome, data_at, updated_at)
        SELECT 1, 'k' || n, '{}', CASE WHEN n %% 1000 = 0 THEN 'failed' ELSE 'success' END, 'success',
        %(now)s, %(now)s FROM generate_series(1, %(rows)s) AS n""",
    """INSERT INTO core_dagrun (dag_id, run_id, run_type, state, partition_key, failed_keys, conf, note,
        triggered_by, created_by, missing_keys, queued_at, run_after, updated_at, started_at, ended_at,
        attempt, failures, claimed_by, is_elsewhere, pool_slots, cancel_requested, error)
        SELECT core_dag.id, 'r' || n, 'manual', 'success', 'k' || n, '{}', '{}', '',
        'rest_api', 'bench', '[]', %(now)s, %(now)s + n * interval '1 second', %(now)s, %(now)s, %(now)s,
        1, 0, '', false, 0, false, ''
        FROM core_dag, generate_series(1, %(rows)s) AS n WHERE core_dag.dag_id = 'load'""",
    """INSERT INTO core_heldrun (dag_id, partition_key, round, state, opened_at, last_event_at, closed_by,
        verdict, sentence, required_count, received_count)
        SELECT core_dag.id, 'k' || n, 1, 'held', %(now)s, %(now)s, '', 'waiting', '', 24, 3
        FROM core_dag, generate_series(1, %(rows)s) AS n WHERE core_dag.dag_id = 'report'""",
    """INSERT INTO core_journalentry (at, by, via, reason, event, dag_id, run_id, asset_name, partition_key,
        extra)
        SELECT %(now)s + n * interval '1 second', 'bench', 'api', '', 'run triggered', 'load', 'r' || n, '',
        'k' || n, '{}' FROM generate_series(1, %(rows)s) AS n""",
)
"""Rows made by the database itself: a million through the engine would take an hour."""


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS))
