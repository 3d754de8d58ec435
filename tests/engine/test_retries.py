"""A run that fails is tried again later; attempts that a lost worker took with it are counted apart."""

from datetime import timedelta

import pytest

from core.models import AssetEvent, DagRun, JournalEntry, LogLine
from scheduling import claims, corrections, execution, retries, runs, turns
from scheduling.authoring.attempts import Attempts
from scheduling.runs import Ask
from tests.engine.executing import again
from tests.engine.world import ALICE, MINUTE, NOW, RUNTIME, dag, finish, part, start
from tests.sdk.writing import Directory

pytestmark = pytest.mark.django_db
SECOND = timedelta(seconds=1)


def make(key="k", **fields):
    made = dag("d", RUNTIME, writes=["out"], **{"retries": 2, "retry_delay": MINUTE} | fields)
    return runs.trigger(made, Ask(key), deed=ALICE, at=NOW)


class TestAFailedAttempt:
    def test_is_queued_for_later_with_its_error(self):
        run = start(make())
        assert retries.fail(run, "boom", at=NOW)
        row = again(run)
        assert (row.state, row.run_after, row.error) == ("queued", NOW + MINUTE, "boom")
        assert (row.attempt, row.failures, row.started_at, row.lease_until) == (1, 1, None, None)

    def test_is_not_started_before_its_time(self):
        run = start(make())
        retries.fail(run, "boom", at=NOW)
        assert turns.dispatch(now=NOW + MINUTE - SECOND) == []
        assert claims.claim(run.pk, worker="w", now=NOW + MINUTE - SECOND) is None
        assert turns.dispatch(now=NOW + MINUTE) == [run.pk]
        assert claims.claim(run.pk, worker="w", now=NOW + MINUTE).attempt == 2

    def test_takes_no_slot_meanwhile(self):
        run = make("a", max_active_runs=1)
        other = runs.trigger(run.dag, Ask("b"), deed=ALICE, at=NOW)
        retries.fail(start(run), "boom", at=NOW)
        assert turns.dispatch(now=NOW) == [other.pk]
        assert start(other).attempt == 1

    def test_leaves_the_partition_as_it_was(self):
        run = make()
        finish(start(run), "out")
        second = runs.trigger(run.dag, Ask("k"), deed=ALICE, at=NOW)
        retries.fail(start(second), "boom", at=NOW)
        assert part("out", "k").state == "materialized"

    def test_is_told_in_the_journal(self):
        retries.fail(start(make()), "Traceback:\n  deep\nOSError: gone", at=NOW)
        entry = JournalEntry.objects.get(event="run failed, will be retried")
        assert entry.partition_key == "k"
        assert entry.extra == {
            "error": "OSError: gone",
            "attempt": 1,
            "failures": 1,
            "next_at": "2026-03-11T09:11:00+00:00",
        }

    def test_that_is_the_last_one_is_the_end(self):
        run = make()
        for failures in range(3):
            at = NOW + failures * MINUTE
            assert retries.fail(start(again(run), at=at), f"boom {failures}", at=at) is (failures < 2)
        row = again(run)
        assert (row.state, row.error, row.attempt, row.failures) == ("failed", "boom 2", 3, 2)
        assert part("out", "k").state == "failed"

    def test_that_is_followed_by_a_good_one_leaves_no_trace_of_an_error(self):
        run = make()
        retries.fail(start(run), "boom", at=NOW)
        finish(start(again(run), at=NOW + MINUTE), "out", at=NOW + MINUTE)
        row = again(run)
        assert (row.state, row.error) == ("success", "")
        assert AssetEvent.objects.count() == 1
        assert part("out", "k").state == "materialized"

    def test_waits_longer_each_time(self):
        run, at, waits = make(retries=3, retry_backoff=3), NOW, []
        for _ in range(3):
            retries.fail(start(again(run), at=at), "boom", at=at)
            waits.append(again(run).run_after - at)
            at = again(run).run_after
        assert waits == [MINUTE, 3 * MINUTE, 9 * MINUTE]


class TestSomebodyElse:
    def test_has_cancelled_it_while_it_failed(self):
        run = start(make())
        runs.cancel(run, deed=ALICE, at=NOW)
        assert not retries.fail(run, "boom", at=NOW)
        assert again(run).state == "failed"

    def test_cancels_it_while_it_waits(self):
        run = start(make())
        retries.fail(run, "boom", at=NOW)
        runs.cancel(again(run), deed=ALICE, at=NOW)
        assert again(run).state == "cancelled"
        assert turns.dispatch(now=NOW + MINUTE) == []

    def test_marks_it_while_it_waits(self):
        run = start(make())
        retries.fail(run, "boom", at=NOW)
        corrections.mark(again(run), DagRun.State.SUCCESS, deed=ALICE, at=NOW)
        assert claims.claim(run.pk, worker="w", now=NOW + MINUTE) is None
        assert part("out", "k").state == "missing"

    def test_has_the_run_by_now(self):
        run = start(make())
        claims.take_over_lost(now=NOW + 2 * MINUTE)
        start(again(run), worker="w2", at=NOW + 2 * MINUTE)
        with pytest.raises(claims.LeaseLost):
            retries.fail(run, "boom", at=NOW + 2 * MINUTE)
        assert (again(run).state, again(run).failures) == ("running", 0)

    def test_retries_it_by_hand_and_the_count_begins_anew(self):
        run = make(retries=1)
        for at in (NOW, NOW + MINUTE):
            retries.fail(start(again(run), at=at), "boom", at=at)
        corrections.retry(again(run), deed=ALICE, at=NOW + MINUTE)
        assert retries.fail(start(again(run), at=NOW + MINUTE), "boom", at=NOW + MINUTE)


class TestLostWorkers:
    def test_use_up_no_retry(self):
        run = make(retries=1, max_attempts=2)
        start(run)
        claims.take_over_lost(now=NOW + 2 * MINUTE)
        assert retries.fail(start(again(run), at=NOW + 2 * MINUTE), "boom", at=NOW + 2 * MINUTE), (
            "the first failure"
        )

    def test_have_attempts_of_their_own(self):
        run, at = make(retries=2, max_attempts=2), NOW
        for _ in range(2):
            retries.fail(start(again(run), at=at), "boom", at=at)
            at += MINUTE
        start(again(run), at=at)
        claims.take_over_lost(now=at + 2 * MINUTE)
        assert again(run).state == "queued"
        start(again(run), at=at + 2 * MINUTE)
        claims.take_over_lost(now=at + 4 * MINUTE)
        assert again(run).state == "failed"
        assert "was lost, at attempt 2 of 2" in again(run).error

    def test_are_counted_anew_after_a_retry_by_hand(self):
        run = make(max_attempts=2)
        for at in (NOW, NOW + 2 * MINUTE):
            start(again(run), at=at)
            claims.take_over_lost(now=at + 2 * MINUTE)
        corrections.retry(again(run), deed=ALICE, at=NOW + 4 * MINUTE)
        assert start(again(run), at=NOW + 4 * MINUTE).attempt == 3
        claims.take_over_lost(now=NOW + 6 * MINUTE)
        assert (again(run).state, again(run).losses) == ("queued", 1)


class TestTasks:
    @pytest.fixture
    def defined(self, tmp_path):
        directory = Directory(tmp_path)

        def defined(text):
            directory.write("a", text)
            assert directory.sync().ok

        return defined

    def run(self, times=1):
        """Trigger the Dag and execute its run so often, an hour apart."""
        from core.models import Dag

        run = runs.trigger(Dag.objects.get(dag_id="d"), Ask(), deed=ALICE, at=NOW)
        for number in range(times):
            at = NOW + number * 60 * MINUTE
            execution.execute(start(again(run), at=at), clock=lambda at=at: at)
        return again(run)

    def test_are_all_called_again(self, defined):
        defined(
            """
            with DAG("d", retries=1):
                @task
                def fetch(): print("fetched"); return 7
                @task
                def load(rows, dag_run):
                    if dag_run.attempt == 1:
                        raise OSError("the disk is full")
                    print("loaded", rows)
                load(fetch())
            """
        )
        first = self.run()
        assert (first.state, first.error.splitlines()[-1]) == ("queued", "OSError: the disk is full")
        ended = self.run(times=2)
        assert ended.state == "success"
        said = [(line.attempt, line.text) for line in LogLine.objects.filter(run=ended)]
        assert said[0] == (1, "fetched")
        assert (1, "The run will be tried again from 2026-03-11 09:15:00 UTC on.") in said
        assert said[-2:] == [(2, "fetched"), (2, "loaded 7")]

    @pytest.mark.parametrize(("failing", "state"), [("fetch", "queued"), ("load", "failed")])
    def test_may_each_say_how_often(self, defined, failing, state):
        defined(
            f"""
            with DAG("d", retries=0):
                @task(retries=2, retry_delay="10s")
                def fetch():
                    if "{failing}" == "fetch": raise OSError
                @task
                def load(rows):
                    raise OSError
                load(fetch())
            """
        )
        ended = self.run()
        assert ended.state == state
        if state == "queued":
            assert ended.run_after == NOW + 10 * SECOND

    def test_that_name_keys_which_cannot_be_are_tried_again(self, defined):
        defined(
            """
            with DAG("d", schedule=PartitionedAtRuntime(), retries=1):
                out = Asset("out")
                @task(outlets=[out])
                def write(outlet_events, dag_run):
                    outlet_events[out].keys["" if dag_run.attempt == 1 else "k"] = {}
            """
        )
        assert self.run().state == "queued"
        assert self.run(times=2).state == "success"


def test_what_a_definition_says_is_what_counts():
    made = dag("d", retries=4, retry_delay=2 * MINUTE, retry_backoff=2, run_timeout=9 * MINUTE)
    made.refresh_from_db()
    assert retries.attempts_of(made) == Attempts(4, 2 * MINUTE, 2.0, 9 * MINUTE)
