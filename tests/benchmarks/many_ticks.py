"""`python -m tests.benchmarks.many_ticks`: thousands of cron Dags whose tick comes at the same moment.

The task of the engine worker, run in this process on PostgreSQL: until the run of every Dag is queued, each
once; then once more, when nothing is left to do. Exits 1 if the bar is missed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from tests.benchmarks import stand
from tests.benchmarks.figures import Figure, timed

DAGS = 5000
SECONDS = 10


def measured(site: stand.Site, scale: float = 1) -> Iterator[Figure]:
    from core.models import Dag, DagRun
    from partitions_site.celery import app

    app.loader.import_default_modules()
    look = app.tasks["scheduling.advance_ticks"]
    count = max(10, int(DAGS * scale))
    define(count)
    database = site.database_cpu()
    seconds, cpu, _ = timed(look)
    database = site.database_cpu() - database
    assert DagRun.objects.count() == count
    assert DagRun.objects.values("dag").distinct().count() == count
    yield Figure(
        f"{count:,} cron Dags due at once, until the runs of all are queued",
        seconds,
        "s",
        SECONDS,
        at_most=True,
        cpu=cpu + database,
    )
    Dag.objects.update(next_tick_at=None)
    seconds, cpu, _ = timed(look)
    assert DagRun.objects.count() == count
    yield Figure("all of them looked at again: nothing is new", seconds, "s", cpu=cpu)


def define(count: int) -> None:
    """Dags that have not been looked at since before the hour began."""
    from core.models import Dag

    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    schedule = {"type": "CronPartitionTimetable", "cron": "0 * * * *", "timezone": "Europe/Berlin"}
    options = {"is_periodic": True, "is_partitioned": True, "created_at": hour, "updated_at": hour}
    Dag.objects.bulk_create(
        Dag(dag_id=f"dag-{number}", schedule=schedule, ticked_until=hour - timedelta(minutes=1), **options)
        for number in range(count)
    )


if __name__ == "__main__":
    sys.exit(stand.run(__doc__, measured))
