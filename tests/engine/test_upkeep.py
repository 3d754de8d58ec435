"""SQLite chooses its ways by what it knows of its tables: the sweep sees to it that it knows something."""

from datetime import timedelta

import pytest
from django.db import connection

from core.models import DagRun
from scheduling import newruns, tasks
from scheduling.newruns import NewRun
from tests.engine.world import NOW, dag

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL looks after that itself"),
]


def counted():
    """The indexes of runs whose values have been counted."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE name = 'sqlite_stat1'")
        if not cursor.fetchone():
            return set()
        cursor.execute("SELECT idx FROM sqlite_stat1 WHERE tbl = %s", [DagRun._meta.db_table])
        return {name for (name,) in cursor.fetchall() if name}


def test_the_sweep_counts_what_has_grown():
    load = dag("load")
    newruns.create(
        [NewRun(load, DagRun.Type.MANUAL, run_after=NOW - timedelta(minutes=each)) for each in range(2000)],
        at=NOW,
    )
    assert counted() == set()
    tasks.repair()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA index_list(core_dagrun)")
        full = {row[1] for row in cursor.fetchall() if not row[4]}
    assert counted() >= full
