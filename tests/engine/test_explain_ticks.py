"""Why has this partition not run, of a Dag that ticks or has a run of it? One world for each answer."""

from datetime import UTC, datetime, timedelta

import pytest

from core.models import Pool
from scheduling import backfills, configuration, runs
from scheduling.explain import Standing
from tests.engine import world
from tests.engine.asking import trigger, why
from tests.engine.world import ALICE, MINUTE, NOW

pytestmark = pytest.mark.django_db
HOURLY = {"type": "CronPartitionTimetable", "cron": "0 * * * *"}
BEGAN = datetime(2026, 3, 1, tzinfo=UTC)


class TestTicks:
    @pytest.fixture
    def ingest(self, db):
        return world.dag("ingest", HOURLY, start_date=BEGAN)

    def test_one_to_come(self, ingest):
        found = why(ingest, "2026-03-12T09:00:00")
        assert (found.standing, found.comes_at) == (Standing.SCHEDULED, datetime(2026, 3, 12, 9, tzinfo=UTC))
        assert found.sentence == "It comes into being at 2026-03-12 09:00 UTC."

    def test_one_that_comes_again_today(self):
        refresh = {"type": "CronPartitionTimetable", "cron": "*/5 * * * *", "key_format": "%Y-%m-%d"}
        found = why(world.dag("refresh", refresh, start_date=BEGAN), "2026-03-11")
        assert found.comes_at == NOW + 5 * MINUTE

    def test_one_that_no_tick_makes(self, ingest):
        assert "No tick of ingest is for it" in why(ingest, "2026-03-10T09:30:00").sentence

    def test_one_from_before_it_began(self, ingest):
        assert "before ingest began (2026-03-01 00:00 UTC)" in why(ingest, "2026-02-01T09:00:00").sentence

    def test_one_after_its_end(self, ingest):
        world.Dag.objects.update(end_date=NOW)
        assert "after the end of ingest" in why(ingest, "2026-03-12T09:00:00").sentence

    def test_one_that_nobody_has_looked_at_yet(self, ingest):
        assert "is beat alive?" in why(ingest, "2026-03-10T09:00:00").sentence

    def test_one_that_was_passed_over_while_paused(self, ingest):
        world.Dag.objects.update(is_paused=True, ticked_until=BEGAN)
        found = why(ingest, "2026-03-10T09:00:00")
        assert "came while ingest is paused" in found.sentence
        assert [each.kind for each in found.hindrances] == ["paused"]
        configuration.set_paused(ingest, False, deed=ALICE, at=NOW)
        assert why(ingest, "2026-03-10T09:00:00").standing == Standing.PASSED_OVER

    @pytest.mark.parametrize(
        ("catchup", "rule"), [("all", "all ticks"), ("last", "only the last tick"), ("none", "no tick")]
    )
    def test_one_of_a_dag_that_was_paused_before_it_began(self, ingest, catchup, rule):
        world.Dag.objects.update(is_paused=True, catchup=catchup)
        assert f"when unpaused it makes up {rule} till then" in why(ingest, "2026-03-10T09:00:00").sentence

    def test_a_dag_whose_runs_name_their_keys(self):
        made = world.dag("names", {"type": "CronRuntimePartitionTimetable", "cron": "0 * * * *"})
        assert (
            why(made, "tw").sentence
            == "Its next tick is at 2026-03-11 10:00 UTC; the run then names its keys."
        )

    def test_a_dag_that_somebody_has_to_trigger(self):
        found = why(world.dag("runtime", {"type": "PartitionedAtRuntime"}), "tw")
        assert (found.standing, found.sentence) == (
            Standing.BY_HAND,
            "Nothing makes it by itself: somebody has to trigger it, or a backfill has.",
        )


class TestRuns:
    @pytest.fixture
    def dag(self, db):
        return world.dag("load", {"type": "PartitionedAtRuntime"}, max_active_runs=2)

    def test_one_that_ran(self, dag):
        trigger(dag, state="success", ended_at=NOW)
        found = why(dag)
        assert (found.standing, found.sentence) == (
            Standing.DONE,
            "It has run: its last run ended well at 2026-03-11 09:10:00 UTC.",
        )

    def test_one_that_failed_says_of_what(self, dag):
        trigger(dag, state="failed", ended_at=NOW, error="Traceback\nRuntimeError: no paper")
        found = why(dag)
        assert found.standing == Standing.FAILED
        assert found.sentence.endswith("failed at 2026-03-11 09:10:00 UTC: RuntimeError: no paper.")

    def test_one_that_was_cancelled(self, dag):
        run = trigger(dag)
        runs.cancel(run, deed=ALICE, at=NOW)
        assert why(dag).standing == Standing.CANCELLED

    def test_one_that_runs(self, dag):
        world.start(trigger(dag))
        assert why(dag).standing == Standing.RUNNING

    def test_one_that_is_behind_others_of_its_dag(self, dag):
        busy = [world.start(trigger(dag, key)) for key in ("a", "b")]
        trigger(dag)
        [limit] = why(dag).hindrances
        assert (limit.kind, list(limit.behind)) == ("max_active_runs", busy)
        assert limit.sentence == "load may have 2 at a time, and 2 are running."

    def test_one_that_is_behind_those_of_its_pool(self, dag):
        pool = Pool.objects.create(name="sftp", slots=1, created_at=NOW, updated_at=NOW)
        other = world.dag("other", {"type": "PartitionedAtRuntime"}, pool=pool)
        busy = world.start(trigger(other))
        world.Dag.objects.filter(pk=dag.pk).update(pool=pool)
        trigger(dag)
        [limit] = why(dag).hindrances
        assert (limit.kind, list(limit.behind)) == ("pool", [busy])
        assert limit.sentence == "Pool sftp has 1 slot, 1 taken; it needs 1."

    def test_one_that_is_in_line(self, dag):
        first = trigger(dag, "a")
        trigger(dag)
        [line] = why(dag).hindrances
        assert (line.kind, list(line.behind)) == ("queue", [first])
        assert line.sentence == "1 queued run of load is before it."

    def test_one_that_waits_for_its_next_attempt(self, dag):
        trigger(dag, run_after=NOW + timedelta(hours=1), failures=1)
        assert why(dag).sentence == "It failed and is tried again from 2026-03-11 10:10:00 UTC on."

    def test_one_that_no_worker_takes(self, dag):
        trigger(dag)
        assert why(dag).sentence == "No worker is alive: nothing runs until one is started."

    def test_one_of_a_paused_dag(self, dag):
        trigger(dag)
        configuration.set_paused(dag, True, deed=ALICE, at=NOW)
        assert [each.kind for each in why(dag).hindrances] == ["paused"]

    def test_one_that_a_backfill_has(self, dag):
        backfill = backfills.start(backfills.Ask((dag,), keys=("a", "b")), deed=ALICE, at=NOW)
        [planned] = why(dag, "b").backfills
        assert (planned.target.backfill, planned.state) == (backfill, "ready")
        backfills.advance(now=NOW)
        backfills.pause(backfill, deed=ALICE, at=NOW)
        assert [each.kind for each in why(dag, "a").hindrances] == ["backfill"]
