"""A migration that makes indexes while others write, and is stopped half-way, is run again."""

from contextlib import closing

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection

from core.models import HeldRun

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
