"""A started backfill goes on by itself: what starts when, and how each partition ends."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import Backfill, Dag, DagRun, JournalEntry, Partition
from scheduling import backfills, claims, runs
from scheduling.backfills import Order
from scheduling.backfills.ahead import AHEAD
from scheduling.runs import Ask
from tests.backfills.play import (
    begin,
    counts,
    daily,
    days,
    drive,
    execute,
    finish,
    flat,
    producer,
    turn,
)
from tests.engine.world import ALICE, DAILY, NOW, dag

MONTHLY = {"type": "CronPartitionTimetable", "cron": "0 0 1 * *", "key_format": "%Y-%m"}
pytestmark = pytest.mark.django_db


class TestOrder:
    def test_one_run_per_key_the_oldest_first(self):
        backfill = begin(producer(), max_active_runs=1)
        assert drive(backfill) == [[key] for key in days(1, 10)]

    def test_the_newest_first(self):
        backfill = begin(producer(), max_active_runs=1, order=Order.NEWEST)
        assert flat(drive(backfill)) == days(1, 10)[::-1]

    def test_chunks(self):
        backfill = begin(producer(max_keys_per_run=None), keys_per_run=4, max_active_runs=1)
        assert drive(backfill) == [days(1, 4), days(5, 8), days(9, 10)]
        assert counts(backfill) == {"planned": 10, "done": 10}

    def test_one_run_for_all(self):
        backfill = begin(producer(max_keys_per_run=None), keys_per_run=None)
        assert drive(backfill) == [days(1, 10)]

    def test_a_chunk_of_one_has_a_key_of_its_own(self):
        backfill = begin(producer(max_keys_per_run=3), keys_per_run=3)
        drive(backfill)
        last = DagRun.objects.order_by("pk").last()
        assert (last.partition_key, last.partition_keys) == ("2026-03-10", None)


class TestRunsOfABackfill:
    def test_say_where_they_come_from(self):
        backfill = begin(producer(), keys=("2026-03-05",), conf={"fast": True})
        turn()
        run = DagRun.objects.get()
        assert (run.run_type, run.triggered_by, run.created_by) == ("backfill", "backfill", "alice")
        assert (run.backfill, run.conf, run.partition_key) == (backfill, {"fast": True}, "2026-03-05")
        assert run.run_id.startswith("backfill__")
        assert "__2026-03-05__" in run.run_id

    def test_are_dated_by_their_key(self):
        begin(dag("ticking", DAILY, writes=["out"]), keys=("2026-03-05",))
        turn()
        run = DagRun.objects.get()
        assert run.partition_date == datetime(2026, 3, 5, tzinfo=UTC)
        assert run.run_after == NOW
        assert run.run_id.startswith("backfill__2026-03-05T00:00:00+00:00__2026-03-05__")

    def test_of_a_key_to_come_wait_for_it(self):
        begin(dag("ticking", DAILY, writes=["out"]), keys=("2026-03-20",))
        turn()
        assert DagRun.objects.get().run_after == datetime(2026, 3, 20, tzinfo=UTC)
        assert execute() == []

    def test_with_a_key_that_no_address_can_carry_have_an_id_without_it(self):
        begin(dag("free", {"type": "PartitionedAtRuntime"}, writes=["out"]), keys=("a/b?c#d",))
        turn()
        assert "a/b" not in DagRun.objects.get().run_id

    def test_are_queued_ahead_behind_those_that_somebody_else_has_queued(self):
        """What others run takes none of its room, and may wait for long."""
        made = producer()
        backfill = begin(made, max_active_runs=1)
        for key in days(1, 2):
            runs.trigger(made, Ask(key), deed=ALICE, at=NOW)
        turn()
        own = backfill.runs.order_by("pk").values_list("partition_key", flat=True)
        assert list(own) == days(3, 4)

    def test_are_queued_a_few_ahead_and_no_more(self):
        begin(producer(), max_active_runs=2)
        turn()
        assert DagRun.objects.count() == 2 * AHEAD
        assert len(execute(most=1)) == 1
        turn()
        assert DagRun.objects.count() == 2 * AHEAD + 1

    @pytest.mark.parametrize("fields", [{"is_paused": True}, {"max_active_runs": 1}])
    def test_of_a_dag_that_cannot_go_on_keep_no_other_dag_waiting(self, fields):
        free, stuck = producer("a", writes="ones"), producer("b", writes="others")
        Dag.objects.filter(pk=stuck.pk).update(**fields)
        begin(free, stuck, max_active_runs=2)
        for _ in range(12):
            turn()
            execute(end=lambda run: run.dag_id == free.pk and finish(run, NOW))
        assert DagRun.objects.filter(dag=free, state="success").count() == 10

    def test_are_queued_in_portions(self, monkeypatch):
        monkeypatch.setattr("scheduling.backfills.ahead.MOST_RUNS", 3)
        backfill = begin(producer(), max_active_runs=10)
        assert backfills.advance(now=NOW) == 1
        assert DagRun.objects.count() == 3
        turn()
        assert DagRun.objects.count() == 10
        assert counts(backfill)["open"] == 10


class TestLifeCycle:
    def test_tc_40_a_year_is_not_complete_before_its_last_day(self):
        made = producer(writes=daily(start="2024-01-01").name, max_active_runs=1000)
        backfill = begin(made, selection="[2024-01-01...2024-12-31]", max_active_runs=5)
        done = 0
        while done < 366:
            turn()
            backfill.refresh_from_db()
            assert backfill.completed_at is None
            done += len(execute())
            assert counts(backfill)["planned"] == 366
        turn()
        backfill.refresh_from_db()
        assert backfill.completed_at == NOW
        assert counts(backfill) == {"planned": 366, "done": 366}

    def test_never_more_running_than_it_may(self):
        made = producer(max_active_runs=100)
        begin(made, max_active_runs=3)
        turn()
        claimed = [
            claims.claim(pk, worker="w", now=NOW) for pk in DagRun.objects.values_list("pk", flat=True)
        ]
        assert sum(run is not None for run in claimed) == 3

    def test_its_end_is_in_the_journal(self):
        backfill = begin(producer(), selection="[2026-03-01...2026-03-03]")
        drive(backfill, fail=["2026-03-02"])
        entry = JournalEntry.objects.get(event="backfill ended")
        assert (entry.by, entry.dag_id) == ("engine", "load")
        assert entry.extra == {"backfill": backfill.pk, "done": 2, "failed": 1, "skipped": 0, "cancelled": 0}

    def test_it_sleeps_while_its_runs_go_on(self):
        backfill = begin(producer(), max_active_runs=1)
        turn()
        backfill.refresh_from_db()
        assert backfill.advance_after is None
        assert list(Backfill.objects.due(NOW + timedelta(days=1))) == []

    def test_advancing_costs_the_same_whatever_waits(self):
        def cost(count):
            Partition.objects.all().delete()
            backfill = begin(made, selection=f"[2000-01-01...{2000 + count}-01-01]", max_active_runs=1)
            backfills.advance(now=NOW)
            execute(most=1)
            with CaptureQueriesContext(connection) as queries:
                backfills.advance(now=NOW)
            backfills.cancel(backfill, deed=ALICE, at=NOW)
            execute()
            turn()
            return len(queries)

        made = producer(writes=daily(start="2000-01-01").name)
        assert cost(1) == cost(10)

    def test_one_that_is_broken_does_not_stop_another(self, monkeypatch):
        broken, fine = begin(producer("a", "as")), begin(producer("b", "bs"))
        queue = backfills.advancing.ahead.queue

        def failing(backfill, *more):
            if backfill == broken:
                raise RuntimeError("boom")
            return queue(backfill, *more)

        monkeypatch.setattr("scheduling.backfills.ahead.queue", failing)
        turn()
        assert DagRun.objects.filter(backfill=fine).exists()
        broken.refresh_from_db()
        assert broken.advance_after > NOW
        monkeypatch.undo()
        drive(broken, at=NOW + timedelta(hours=1))

    def test_a_paused_dag_starts_nothing_and_goes_on_when_it_is_unpaused(self):
        made = producer()
        backfill = begin(made, keys=("2026-03-01",))
        Dag.objects.update(is_paused=True)
        turn()
        assert execute() == []
        Dag.objects.update(is_paused=False)
        drive(backfill)
        assert counts(backfill) == {"planned": 1, "done": 1}
