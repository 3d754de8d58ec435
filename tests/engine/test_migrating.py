"""Migrations of large tables: others read and write meanwhile, and nothing is left out."""

import pytest
from django.core.management import call_command
from django.db import connection

from core import counting
from core.models import AssetEvent, DagRun, EventCount, JournalEntry
from tests.engine.world import NOW, RUNTIME, dag, emit

pytestmark = [pytest.mark.pg, pytest.mark.django_db(transaction=True)]

LOCKED = (
    "SELECT count(*) FROM pg_locks WHERE relation = 'core_dagrun'::regclass AND pid = pg_backend_pid() "
    "AND mode IN ('AccessExclusiveLock', 'ShareLock')"
)


def migrate(*to):
    call_command("migrate", "core", *to, verbosity=0)


@pytest.fixture
def back_to():
    """Takes the database back to a migration; it is as it should be afterwards, whatever happened."""
    yield migrate
    migrate()


def run(of, number, **fields):
    times = {"queued_at": NOW, "run_after": NOW, "updated_at": NOW}
    return DagRun.objects.create(
        dag=of, run_id=f"r{number}", run_type="manual", state="success", **times, **fields
    )


class TestRunsFiredShort:
    def test_are_told_apart_from_what_was_there(self, back_to):
        of = dag("a", RUNTIME)
        run(of, 1, created_by="alice", missing_keys=["x"])
        run(of, 2, created_by="alice", missing_keys=[])
        run(of, 3, created_by="", missing_keys=["x"])
        back_to("0022")
        migrate()
        assert [*DagRun.objects.filter(is_fired_short=True).values_list("run_id", flat=True)] == ["r1"]

    def test_lock_nobody_out_while_all_runs_are_read(self, back_to):
        back_to("0022")
        locked = []

        def look(execute, sql, *rest):
            answer = execute(sql, *rest)
            if "run_fired_short" in sql or sql.strip().startswith("UPDATE core_dagrun"):
                with connection.connection.cursor() as cursor:
                    locked.append(cursor.execute(LOCKED).fetchone()[0])
            return answer

        with connection.execute_wrapper(look):
            migrate()
        assert locked == [0, 0, 0]  # the update, what was not finished before, the index


class TestLostWorkers:
    @pytest.mark.parametrize(("state", "losses"), [("queued", 3), ("running", 2), ("failed", 0)])
    def test_are_told_from_the_attempts_of_what_is_under_way(self, back_to, state, losses):
        run(dag("a", RUNTIME), 1, attempt=5, failures=2)
        DagRun.objects.update(state=state, lease_until=NOW)
        back_to("0027")
        migrate()
        assert DagRun.objects.get().losses == losses


class TestCounts:
    def test_are_taken_anew_after_a_restore_of_rows_alone(self, back_to):
        emit("a", "x", "y")
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")  # as `--disable-triggers` does
            emit("a", "z")
            cursor.execute("RESET session_replication_role")
        EventCount.objects.create(block=0, asset_id=1, timestamp_from=NOW, timestamp_to=NOW, rows=7)
        assert counting.known(AssetEvent.objects.all()) == 9
        back_to("0024")
        migrate()
        assert counting.known(AssetEvent.objects.all()) == 3
        emit("a", "u")
        assert counting.known(AssetEvent.objects.all()) == 4
        assert counting.known(JournalEntry.objects.all()) == JournalEntry.objects.count()

    def test_leave_no_trigger_behind(self, back_to):
        back_to("0024")
        with connection.cursor() as cursor:
            cursor.execute("SELECT proname FROM pg_proc WHERE proname ~ '^core_.*count_'")
            assert cursor.fetchall() == []
