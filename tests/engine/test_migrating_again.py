"""A migration that makes indexes while others write, and is stopped half-way, is run again."""

from contextlib import closing

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from core.models import DagRun, HeldRun
from tests.engine.world import NOW, RUNTIME, dag

pytestmark = pytest.mark.django_db(transaction=True)

MADE = {"event_of_asset", "run_gone_wrong", "held_verdict", "journal_by_time"}


def migrate(*to):
    call_command("migrate", "core", *to, verbosity=0)


@pytest.fixture
def before():
    """The database before the migration that makes four indexes; as it should be afterwards."""
    migrate("0017")
    assert not MADE & indexes()
    yield
    migrate()
    assert indexes() >= MADE


def indexes():
    """Those of the tables concerned, without what is not finished."""
    tables = ("core_assetevent", "core_dagrun", "core_heldrun", "core_journalentry")
    with connection.cursor() as cursor:
        found = {name for table in tables for name in connection.introspection.get_constraints(cursor, table)}
        return found - unfinished(cursor)


def unfinished(cursor):
    if connection.vendor != "postgresql":
        return set()
    cursor.execute("SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid")
    return {name for (name,) in cursor.fetchall()}


class Stopped(Exception):
    """As if the process had been killed."""


def test_stopped_between_two_indexes(before):
    def stop(execute, sql, *rest):
        if "held_verdict" in sql and "CREATE" in sql:
            raise Stopped
        return execute(sql, *rest)

    with connection.execute_wrapper(stop), pytest.raises(Stopped):
        migrate("0018")
    assert MADE & indexes() == {"event_of_asset", "run_gone_wrong"}
    migrate("0018")
    assert indexes() >= MADE


@pytest.mark.pg
def test_stopped_in_the_middle_of_one(before):
    """It waits for whoever writes to the table, and is broken off: PostgreSQL leaves what it has begun."""
    with closing(connection.copy()) as other, other.cursor() as writer:
        other.set_autocommit(False)
        writer.execute(f"LOCK TABLE {HeldRun._meta.db_table} IN ROW EXCLUSIVE MODE")
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = '500ms'")
        with pytest.raises(OperationalError, match="statement timeout"):
            migrate("0018")
        other.rollback()
    with connection.cursor() as cursor:
        cursor.execute("RESET statement_timeout")
        assert unfinished(cursor) == {"held_verdict"}
    migrate("0018")
    with connection.cursor() as cursor:
        assert unfinished(cursor) == set()
    assert indexes() >= MADE


def test_that_is_only_shown_makes_each(before, capsys):
    call_command("sqlmigrate", "core", "0018", no_color=True)
    shown = capsys.readouterr().out
    assert all(f'"{name}"' in shown for name in MADE)


@pytest.fixture
def one_held_run_a_run():
    """The database before a run could have several held runs."""
    migrate("0027")
    yield
    migrate()


@pytest.mark.pg
def test_what_lets_a_run_have_several_held_runs_locks_nobody_out(one_held_run_a_run):
    with CaptureQueriesContext(connection) as asked:
        migrate("0028")
    said = [each["sql"] for each in asked if HeldRun._meta.db_table in each["sql"]]
    assert [sql for sql in said if "INDEX" in sql and "CONCURRENTLY" not in sql] == []
    assert [sql for sql in said if "ADD CONSTRAINT" in sql] == []
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, HeldRun._meta.db_table)
    of_run = {name: each for name, each in found.items() if each["columns"] == ["run_id"]}
    assert "held_of_run" in of_run
    assert [name for name, each in of_run.items() if each["unique"]] == []
    assert [name for name, each in of_run.items() if each["foreign_key"]]


def test_stopped_before_lost_workers_are_counted():
    run = DagRun(dag=dag("a", RUNTIME), run_id="r", run_type="manual", state="running", lease_until=NOW)
    run.queued_at = run.run_after = run.updated_at = NOW
    run.attempt, run.failures = 5, 1
    run.save()
    migrate("0028")

    def stop(execute, sql, *rest):
        if sql.startswith("UPDATE") and "losses" in sql:
            assert not connection.in_atomic_block
            raise Stopped
        return execute(sql, *rest)

    with connection.execute_wrapper(stop), pytest.raises(Stopped):
        migrate("0029")
    migrate()
    assert DagRun.objects.get().losses == 3
