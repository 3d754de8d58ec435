"""Does a partition have data, and how did the latest attempt at it end (semantics, section 9)?"""

import pytest
from django.db import connection

from core.models import DagRun, Partition
from scheduling import claims, corrections, newruns, runs, states
from tests.engine.attempting import state
from tests.engine.world import ALICE, MINUTE, NOW, RUNTIME, asset, dag, emit, finish, part, start

pytestmark = pytest.mark.django_db


def no_more_than(most):
    def check(execute, sql, params, many, context):
        if sql.startswith(("SELECT", "UPDATE")):
            assert len(params or ()) <= most, (len(params), sql)
        return execute(sql, params, many, context)

    return check


class TestInOrder:
    @pytest.mark.parametrize(
        ("what_happens", "expected"),
        [
            (["ok"], (True, "success")),
            (["failed", "ok"], (True, "success")),
            (["ok", "failed"], (True, "failed")),
            (["ok", "cancelled"], (True, "success")),
            (["failed", "cancelled"], (False, "failed")),
            (["cancelled"], (False, "")),
            (["ok", "running"], (True, "running")),
            (["ok", "wiped"], (False, "")),
            (["ok", "wiped", "ok"], (True, "success")),
            (["failed", "wiped"], (False, "")),
            (["ok", "wiped", "cancelled"], (False, "")),
            (["failed", "emitted", "cancelled"], (True, "success")),
            (["emitted", "failed", "cancelled", "cancelled"], (True, "failed")),
            (["ok", "failed", "running", "wiped"], (False, "running")),
        ],
    )
    def test_the_latest_that_was_not_cancelled_counts(self, attempts, what_happens, expected):
        for each in what_happens:
            getattr(attempts, each)()
        assert state() == expected


class TestAtTheSameTime:
    def test_a_late_end_of_an_older_attempt_changes_nothing(self, attempts):
        older, newer = attempts.running(), attempts.running()
        attempts.ok(newer)
        attempts.failed(older)
        assert state() == (True, "success")

    def test_but_it_counts_when_the_newer_one_is_cancelled(self, attempts):
        older, newer = attempts.running(), attempts.running()
        attempts.failed(older)
        assert state() == (False, "running")
        attempts.cancelled(newer)
        assert state() == (False, "failed")

    def test_an_older_one_that_still_runs_is_shown_when_the_newer_one_is_cancelled(self, attempts):
        older, newer = attempts.running(), attempts.running()
        attempts.cancelled(newer)
        assert state() == (False, "running")
        assert part("out", "k").attempt_run == older

    def test_not_if_another_has_begun_and_ended_since(self, attempts):
        attempts.running()
        attempts.failed()
        attempts.cancelled()
        assert state() == (False, "failed")

    def test_an_event_by_hand_is_newer_than_a_run_that_began_before(self, attempts):
        run = attempts.running()
        attempts.emitted()
        attempts.failed(run)
        assert state() == (True, "success")

    def test_the_run_of_another_dag_that_writes_the_asset_counts(self, attempts):
        other = attempts.start(made=dag("other", RUNTIME, writes=["out"]))
        attempts.cancelled()
        assert part("out", "k").attempt_run == other


class TestEventsThatAreWrittenLate:
    """Two transactions take their events' numbers in one order and commit in the other."""

    def late(self, *between):
        [older] = emit("out", "k", at=NOW)
        for happens in between:
            happens()
        states.record_events([older.event], NOW + 9 * MINUTE)
        return part("out", "k")

    def test_the_newer_event_stays_that_of_the_partition(self):
        newer = []
        row = self.late(lambda: newer.extend(emit("out", "k", at=NOW + MINUTE)))
        assert (row.last_event, row.data_at) == (newer[0].event, NOW + MINUTE)
        assert row.attempt_at == NOW + MINUTE

    def test_an_attempt_that_began_since_stays_the_latest(self, attempts):
        row = self.late(attempts.failed)
        assert (row.state, row.outcome) == ("failed", "failed")

    def test_one_that_began_before_does_not(self, attempts):
        attempts.now = NOW - 9 * MINUTE
        row = self.late(attempts.failed)
        assert row.state == "materialized"

    def test_what_was_stale_by_then_stays_so_beside_a_newer_event(self):
        def stale():
            emit("out", "k", at=NOW + MINUTE)
            Partition.objects.update(stale_since=NOW + 2 * MINUTE)

        assert self.late(stale).is_stale


class TestAnAssetThatIsNotWrittenAnyMore:
    @pytest.mark.parametrize(("end", "state_before"), [("failed", "failed"), ("cancelled", "failed")])
    def test_says_how_the_attempt_before_ended(self, attempts, end, state_before):
        attempts.failed()
        run = attempts.running()
        attempts.dag.outlets.all().delete()
        getattr(attempts, end)(run)
        assert state() == (False, state_before)
        assert part("out", "k").attempt_run != run


class TestManyKeys:
    """SQLite takes 32,766 values in a statement, or 250,000 as Debian builds it."""

    @pytest.fixture
    def keys(self, monkeypatch):
        monkeypatch.setattr(states, "MOST_PAIRS", 3)
        with connection.execute_wrapper(no_more_than(20)):
            yield [f"k{number:02}" for number in range(40)]

    def test_of_a_run_that_names_them_are_recorded(self, attempts, keys):
        states.make_stale({attempts.dag.pk: keys}, NOW)
        finish(attempts.start(), "out", keys=keys, at=NOW + 5 * MINUTE)
        assert {row.state for row in Partition.objects.exclude(key="k")} == {"materialized"}

    def test_are_all_shown_as_before_when_the_run_ends_otherwise(self, attempts, keys):
        new = newruns.NewRun(attempts.dag, runs.Type.BACKFILL, partition_keys=keys)
        [run, other] = newruns.create([new, new], at=NOW)
        claims.stop(start(run), at=NOW + MINUTE)
        claims.fail(start(other, at=NOW + MINUTE), "boom", at=NOW + 2 * MINUTE)
        assert set(Partition.objects.values_list("attempt", flat=True)) == {"failed"}
        corrections.delete(DagRun.objects.get(pk=other.pk), deed=ALICE, at=NOW + 2 * MINUTE)
        states.take_data(asset("out"), keys, NOW + 2 * MINUTE)
        assert set(Partition.objects.values_list("attempt", flat=True)) == {""}
