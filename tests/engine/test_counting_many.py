"""Counts of thousands of assets and Dags: those of one are found without a look at all others."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core import counting
from core.models import AssetEvent, DagRun, EntryCount, EventCount, JournalEntry, RunCount
from tests.engine.world import NOW, RUNTIME, asset, dag

pytestmark = [pytest.mark.pg, pytest.mark.django_db]


def fill(counts, column, name, **alike):
    """Counts of three thousand: `name` says what stands in their `column`."""
    fields = [field.name for field in counts._meta.concrete_fields]
    times = {field: NOW for field in fields if field.endswith(("_from", "_to"))}
    counts.objects.bulk_create(
        counts(block=0, rows=1, is_change=False, **{column: name(each)}, **alike, **times)
        for each in range(3000)
    )
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {counts._meta.db_table}")


def plan(rows):
    """How PostgreSQL finds out how many `rows` there are."""
    with CaptureQueriesContext(connection) as asked:
        assert counting.known(rows) is not None
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {asked[0]['sql']}")
        return "\n".join(line for (line,) in cursor.fetchall())


def test_events_of_an_asset():
    fill(EventCount, "asset_id", lambda each: -each)
    rows = AssetEvent.objects.filter(asset_id=asset("a").pk)
    assert "event_count_of_asset" in plan(rows)
    assert "event_count_of_asset" in plan(rows.filter(timestamp__gte=NOW))


def test_runs_of_a_dag():
    fill(RunCount, "dag_id", lambda each: -each, run_type="manual", state="success")
    dag("a", RUNTIME)
    rows = DagRun.objects.filter(dag__dag_id="a")
    assert "run_count_of_dag" in plan(rows)
    assert "run_count_of_dag" in plan(rows.filter(run_after__gte=NOW))


def test_entries_about_a_dag():
    fill(EntryCount, "dag_id", lambda each: f"d{each}", event="run")
    assert "entry_count_of_dag" in plan(JournalEntry.objects.filter(dag_id="d7"))
    assert "entry_count_of_dag" in plan(JournalEntry.objects.filter(dag_id="d7", event="run"))
