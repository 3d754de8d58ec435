"""An attempt that takes too long has failed: interrupted, told where it asks, or given up."""

import signal
import subprocess
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from core.models import AssetEvent, Dag, DagRun, LogLine
from scheduling import claims, execution, lease, runs, tasks, timeouts
from scheduling.authoring.context import RunTimedOut
from scheduling.runs import Ask
from tests.engine.executing import again
from tests.engine.world import ALICE, MINUTE, NOW, RUNTIME, dag, finish, part, start
from tests.sdk.writing import Directory

SECOND = timedelta(seconds=1)
SOON = timedelta(milliseconds=50)


def spin():
    while True:
        pass


def swallow():
    """What `except Exception` does to a time-out."""
    while True:
        try:
            time.sleep(20)
        except Exception:
            continue


class TestInterrupting:
    @pytest.mark.parametrize(
        "task", [lambda: time.sleep(20), spin, swallow, lambda: subprocess.run(["sleep", "20"])]
    )
    def test_ends_whatever_it_waits_for(self, task):
        began = time.monotonic()
        with pytest.raises(RunTimedOut), timeouts.interrupting(SOON):
            task()
        assert time.monotonic() - began < 10

    @pytest.mark.parametrize("left", [timedelta(0), timedelta(days=-1)])
    def test_is_at_once_if_no_time_is_left(self, left):
        with pytest.raises(RunTimedOut), timeouts.interrupting(left):
            time.sleep(20)

    def test_ends_nothing_afterwards(self):
        with timeouts.interrupting(SOON):
            pass
        time.sleep(0.1)

    def test_of_nothing_never_happens(self):
        with timeouts.interrupting(None):
            time.sleep(0.1)

    def test_gives_the_alarm_back_to_whoever_had_it(self):
        """As this test's own time limit does, which must go on."""
        seconds, _ = signal.getitimer(signal.ITIMER_REAL)
        answer = signal.getsignal(signal.SIGALRM)
        with pytest.raises(RunTimedOut), timeouts.interrupting(SOON):
            time.sleep(20)
        assert signal.getsignal(signal.SIGALRM) is answer
        assert signal.getitimer(signal.ITIMER_REAL)[0] == pytest.approx(seconds, abs=5)

    def test_happens_in_the_main_thread_only(self):
        seen = []

        def work():
            with timeouts.interrupting(SOON):
                time.sleep(0.2)
                seen.append("whole")

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert seen == ["whole"]


@pytest.mark.django_db
class TestOverdue:
    def make(self, timeout=5 * MINUTE, **fields):
        made = dag("d", RUNTIME, writes=["out"], run_timeout=timeout, **fields)
        return start(runs.trigger(made, Ask("k"), deed=ALICE, at=NOW))

    def test_runs_have_failed_after_a_moment_of_grace(self):
        run, ends = self.make(), NOW + 5 * MINUTE
        assert timeouts.end_overdue(now=ends + timeouts.GRACE - SECOND) == 0
        assert timeouts.end_overdue(now=ends + timeouts.GRACE) == 1
        row = again(run)
        assert (row.state, row.error) == ("failed", "timed out after 5 minutes")
        assert part("out", "k").state == "failed"

    def test_runs_are_tried_again_if_their_dag_says_so(self):
        run = self.make(retries=1, retry_delay=MINUTE)
        timeouts.end_overdue(now=NOW + 10 * MINUTE)
        assert (again(run).state, again(run).run_after) == ("queued", NOW + 11 * MINUTE)

    def test_is_none_that_may_take_as_long_as_it_likes(self):
        run = self.make(timeout=None)
        assert timeouts.end_overdue(now=NOW + timedelta(days=365)) == 0
        assert again(run).state == "running"

    def test_is_none_that_has_ended(self):
        finish(self.make(), "out")
        assert timeouts.end_overdue(now=NOW + timedelta(days=1)) == 0
        assert AssetEvent.objects.count() == 1

    def test_of_ages_in_a_row_keeps_no_other_run_from_its_own(self):
        times = {"ages": timedelta(days=10_000_000), "short": MINUTE}
        made = [dag(name, RUNTIME, writes=[name], run_timeout=time) for name, time in times.items()]
        ages, short = (start(runs.trigger(each, Ask("k"), deed=ALICE, at=NOW)) for each in made)
        timeouts.end_overdue(now=NOW + 60 * MINUTE)
        assert (again(ages).state, again(short).state) == ("running", "failed")

    def test_is_the_attempt_and_not_the_run(self):
        run = self.make()
        claims.take_over_lost(now=NOW + 4 * MINUTE)
        start(again(run), at=NOW + 4 * MINUTE)
        assert timeouts.end_overdue(now=NOW + 7 * MINUTE) == 0

    def test_is_not_what_was_executed_anew_between_the_look_and_the_deed(self):
        stale = self.make()
        claims.take_over_lost(now=NOW + 4 * MINUTE)
        start(again(stale), at=NOW + 4 * MINUTE)
        assert not timeouts.end_if_overdue(stale, now=NOW + 6 * MINUTE)
        assert again(stale).state == "running"

    def test_records_nothing_of_what_is_done_then(self):
        run = self.make()
        timeouts.end_overdue(now=NOW + 10 * MINUTE)
        with pytest.raises(claims.LeaseLost):
            finish(run, "out", at=NOW + 10 * MINUTE)
        assert not AssetEvent.objects.exists()

    def test_runs_are_ended_by_the_sweep(self):
        """Also those that nobody executes any more: they have failed before they are taken to be lost."""
        run = self.make()
        tasks.sweep()
        assert again(run).error == "timed out after 5 minutes"


@pytest.mark.django_db(transaction=True)
class TestTasks:
    """With threads beside the task, so the tests write for real."""

    ASKING = """
        import time
        with DAG("d", run_timeout="5m"):
            @task(outlets=[Asset("out")])
            def wait(dag_run):
                print("waiting")
                for _ in range(1000):
                    dag_run.stop_if_cancelled()
                    time.sleep(0.01)
            @task
            def after(): print("after")
            wait() >> after()
    """
    DEAF = ASKING.replace("dag_run.stop_if_cancelled()", "").replace("1000", "100")

    @pytest.fixture(autouse=True)
    def quick(self, monkeypatch):
        monkeypatch.setattr(lease, "PACE", timedelta(milliseconds=5))

    def claimed(self, tmp_path, text):
        directory = Directory(tmp_path)
        directory.write("a", text)
        assert directory.sync().ok
        return start(runs.trigger(Dag.objects.get(dag_id="d"), Ask(), deed=ALICE, at=NOW))

    def execute(self, run, later, during=lambda: None):
        """Execute `run` in a thread; once its log has begun it is `later`, and `during` is called."""
        now = [NOW]

        def work():
            try:
                execution.execute(run, clock=lambda: now[0])
            finally:
                connection.close()

        thread = threading.Thread(target=work)
        thread.start()
        while not LogLine.objects.filter(run=run).exists():
            assert thread.is_alive()
        now[0] = NOW + later
        during()
        thread.join(timeout=20)
        assert not thread.is_alive()
        return again(run)

    def log(self, run):
        return list(LogLine.objects.filter(run=run).values_list("text", flat=True))

    def test_hear_of_it_where_they_ask(self, tmp_path):
        ended = self.execute(self.claimed(tmp_path, self.ASKING), 5 * MINUTE)
        assert (ended.state, ended.error) == ("failed", "timed out after 5 minutes")
        assert self.log(ended) == ["waiting", "The run timed out after 5 minutes."]
        assert not AssetEvent.objects.exists()

    def test_that_never_ask_are_the_last_of_their_run(self, tmp_path):
        ended = self.execute(self.claimed(tmp_path, self.DEAF), 5 * MINUTE)
        assert ended.error == "timed out after 5 minutes"
        assert "after" not in self.log(ended)

    def test_that_do_not_end_are_given_up(self, tmp_path):
        run = self.claimed(tmp_path, self.DEAF)

        def wait_until_it_has_failed():
            while again(run).state == "running":
                time.sleep(0.01)
            assert self.log(run) == ["waiting"], "its task is still at it"

        ended = self.execute(run, 5 * MINUTE + timeouts.GRACE, wait_until_it_has_failed)
        assert (ended.state, ended.error) == ("failed", "timed out after 5 minutes")

    def test_that_go_on_in_their_thread_leave_nothing_behind_and_take_no_slot(self, tmp_path):
        """No thread can be interrupted: the task comes to its end, and nobody hears of it."""
        run = self.claimed(
            tmp_path, self.DEAF.replace('run_timeout="5m"', 'run_timeout="5m", max_active_runs=1')
        )
        other = runs.trigger(run.dag, Ask(), deed=ALICE, at=NOW)

        def start_another():
            assert claims.claim(other.pk, worker="w2", now=NOW + MINUTE) is None
            while again(run).state == "running":
                time.sleep(0.01)
            assert claims.claim(other.pk, worker="w2", now=NOW + 6 * MINUTE)

        ended = self.execute(run, 5 * MINUTE + timeouts.GRACE, start_another)
        assert (ended.state, ended.error) == ("failed", "timed out after 5 minutes")
        assert not AssetEvent.objects.exists()
        assert "after" not in self.log(run)
        assert again(other).state == "running"

    def test_have_all_the_time_they_need_otherwise(self, tmp_path):
        ended = self.execute(self.claimed(tmp_path, self.DEAF), 4 * MINUTE)
        assert (ended.state, self.log(ended)) == ("success", ["waiting", "after"])

    def test_are_interrupted_in_a_worker_of_their_own(self, tmp_path):
        """Run workers execute in the main thread of a process, as this test does."""
        text = """
            import time
            with DAG("d", run_timeout=1, retries=1, retry_delay=60):
                @task
                def sleep(): print("asleep"); time.sleep(60)
        """
        run = self.claimed(tmp_path, text)
        began = datetime.now(UTC)
        DagRun.objects.filter(pk=run.pk).update(started_at=began)
        run.started_at = began
        execution.execute(run, clock=lambda: datetime.now(UTC))
        assert datetime.now(UTC) - began < 20 * SECOND
        assert (again(run).state, again(run).failures) == ("queued", 1)
        assert self.log(run)[:2] == ["asleep", "The run timed out after 1 second."]
