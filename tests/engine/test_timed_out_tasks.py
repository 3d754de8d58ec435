"""The task of an attempt that takes too long is told where it asks, is interrupted, or is given up."""

import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from core.models import AssetEvent, Dag, DagRun, LogLine
from scheduling import claims, execution, lease, runs, timeouts
from scheduling.runs import Ask
from tests.engine.executing import SECOND, again
from tests.engine.world import ALICE, MINUTE, NOW, start
from tests.sdk.writing import Directory

ASKING = """
    import time
    with DAG("d", run_timeout="5m"):
        @task(outlets=[Asset("out")])
        def wait(dag_run):
            print("waiting")
            while True:
                dag_run.stop_if_cancelled()
                time.sleep(0.01)
        @task
        def after(): print("after")
        wait() >> after()
"""


GOES_ON = "The run timed out after 5 minutes. Its task goes on all the same."


class Clock:
    """The one of those who execute; a test says when it is later."""

    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now


@pytest.mark.django_db(transaction=True)
class TestTasks:
    """With threads beside the task, so the tests write for real."""

    @pytest.fixture(autouse=True)
    def quick(self, monkeypatch):
        monkeypatch.setattr(lease, "PACE", timedelta(milliseconds=5))

    @pytest.fixture
    def end(self, tmp_path):
        """A file at which a deaf task ends, and nothing else ends it."""
        return tmp_path / "end"

    @pytest.fixture
    def deaf(self, end):
        ends = f"if __import__('os').path.exists({str(end)!r}): break"
        return ASKING.replace("dag_run.stop_if_cancelled()", ends)

    def claimed(self, tmp_path, text):
        directory = Directory(tmp_path)
        directory.write("a", text)
        assert directory.sync().ok
        return start(runs.trigger(Dag.objects.get(dag_id="d"), Ask(), deed=ALICE, at=NOW))

    def execute(self, run, during):
        """Execute `run` in a thread; once its log has begun, `during` is called with its clock."""
        clock = Clock()

        def work():
            try:
                execution.execute(run, clock=clock)
            finally:
                connection.close()

        thread = threading.Thread(target=work)
        thread.start()
        while not LogLine.objects.filter(run=run).exists():
            assert thread.is_alive()
        during(clock)
        thread.join(timeout=20)
        assert not thread.is_alive()
        return again(run)

    def log(self, run):
        return list(LogLine.objects.filter(run=run).values_list("text", flat=True))

    def wait_until_it_has_failed(self, run):
        while again(run).state == "running":
            time.sleep(0.01)

    def test_hear_of_it_where_they_ask(self, tmp_path):
        def time_is_up(clock):
            clock.now += 5 * MINUTE

        ended = self.execute(self.claimed(tmp_path, ASKING), time_is_up)
        assert (ended.state, ended.error) == ("failed", "timed out after 5 minutes")
        assert self.log(ended) == ["waiting", "The run timed out after 5 minutes."]
        assert not AssetEvent.objects.exists()

    def test_that_never_ask_are_the_last_of_their_run(self, tmp_path, deaf, end):
        def it_ends_too_late(clock):
            clock.now += 5 * MINUTE
            end.touch()

        ended = self.execute(self.claimed(tmp_path, deaf), it_ends_too_late)
        assert ended.error == "timed out after 5 minutes"
        assert "after" not in self.log(ended)

    def test_that_do_not_end_are_given_up(self, tmp_path, deaf, end):
        run = self.claimed(tmp_path, deaf)

        def it_goes_on(clock):
            clock.now += 5 * MINUTE + timeouts.GRACE
            self.wait_until_it_has_failed(run)
            assert self.log(run)[0] == "waiting", "its task is still at it"
            end.touch()

        ended = self.execute(run, it_goes_on)
        assert (ended.state, ended.error) == ("failed", "timed out after 5 minutes")
        assert GOES_ON in self.log(run)

    def test_that_a_sweep_has_given_up_say_so_as_well(self, tmp_path, deaf, end):
        run = self.claimed(tmp_path, deaf)

        def another_is_first(clock):
            timeouts.end_overdue(now=NOW + 6 * MINUTE)
            clock.now += 6 * MINUTE
            while GOES_ON not in self.log(run):
                time.sleep(0.01)
            end.touch()

        ended = self.execute(run, another_is_first)
        assert ended.state == "failed"

    def test_that_go_on_in_their_thread_leave_nothing_behind_and_take_no_slot(self, tmp_path, deaf, end):
        """No thread can be interrupted: the task comes to its end, and nobody hears of it."""
        run = self.claimed(tmp_path, deaf.replace('run_timeout="5m"', 'run_timeout="5m", max_active_runs=1'))
        other = runs.trigger(run.dag, Ask(), deed=ALICE, at=NOW)

        def another_starts(clock):
            assert claims.claim(other.pk, worker="w2", now=NOW + MINUTE) is None
            clock.now += 5 * MINUTE + timeouts.GRACE
            self.wait_until_it_has_failed(run)
            assert claims.claim(other.pk, worker="w2", now=NOW + 6 * MINUTE)
            end.touch()

        ended = self.execute(run, another_starts)
        assert (ended.state, ended.error) == ("failed", "timed out after 5 minutes")
        assert not AssetEvent.objects.exists()
        assert "after" not in self.log(run)
        assert again(other).state == "running"

    def test_have_all_the_time_they_need_otherwise(self, tmp_path, deaf, end):
        def it_ends_in_time(clock):
            clock.now += 4 * MINUTE
            end.touch()

        ended = self.execute(self.claimed(tmp_path, deaf), it_ends_in_time)
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
