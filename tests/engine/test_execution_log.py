"""What tasks print and log is kept with their run."""

import logging
import sys
import threading

import pytest

from core.models import DagRun, LogLine
from scheduling import claims, execution, runlog
from tests.engine.executing import SECOND, claimed, defined, log, run
from tests.engine.world import NOW


def texts(lines: runlog.RunLog) -> list[str]:
    return [line.text for line in lines._lines]


@pytest.mark.django_db
class TestLog:
    def test_keeps_prints_and_log_records_with_their_task(self, directory):
        defined(
            directory,
            """
            import logging, sys

            with DAG("d"):
                @task
                def tell():
                    print("one"); print("two", end=""); print(" and a half\\nthree")
                    logging.getLogger("acme").warning("careful: %s", "steps")
                    logging.getLogger("acme").debug("not shown")
                    print("to stderr", file=sys.stderr)
                    sys.stdout.writelines(["a\\n", "b\\n"])
                    print()
                    print("no newline", end="")
            """,
        )
        ended = run()
        assert log(ended) == [
            "one",
            "two and a half",
            "three",
            "WARNING acme: careful: steps",
            "to stderr",
            "a",
            "b",
            "",
            "no newline",
        ]
        lines = LogLine.objects.filter(run=ended)
        assert {(line.task_id, line.attempt, line.at) for line in lines} == {("tell", 1, NOW + SECOND)}

    def test_leaves_the_console_to_everybody_else(self, directory, capsys):
        defined(directory, """with DAG("d"):\n    @task\n    def tell(): print("into the log")""")
        run()
        print("onto the console")
        assert capsys.readouterr().out == "onto the console\n"

    def test_keeps_the_attempts_apart(self, directory):
        defined(directory, """with DAG("d"):\n    @task\n    def tell(dag_run): print(dag_run.attempt)""")
        first = claimed()
        assert claims.take_over_lost(now=NOW + claims.LEASE + SECOND) == 1
        second = claims.claim(first.pk, worker="w2", now=NOW + claims.LEASE + SECOND)
        execution.execute(second, clock=lambda: NOW + claims.LEASE + 2 * SECOND)
        assert [(line.attempt, line.text) for line in LogLine.objects.filter(run=first)] == [(2, "2")]

    def test_ends_after_so_many_lines(self, directory, monkeypatch):
        monkeypatch.setattr(runlog, "MOST_LINES", 3)
        defined(
            directory, """with DAG("d"):\n    @task\n    def tell():\n        for n in range(10): print(n)"""
        )
        assert log(run()) == ["0", "1", "2", "the log ends here, after 3 lines"]

    def test_cuts_endless_lines_and_keeps_odd_characters_out(self, directory):
        defined(
            directory,
            """
            with DAG("d"):
                @task
                def tell():
                    print("x" * 100_000)
                    print("\\0\\ud800é東")
            """,
        )
        assert log(run()) == ["x" * runlog.LONGEST_LINE, "\ufffd?é東"]

    def test_shows_a_bar_that_is_drawn_over_itself_while_it_is_drawn(self):
        lines = runlog.RunLog(DagRun(pk=1, attempt=1), lambda: NOW)
        with runlog.capturing(lines, "t"):
            for text in ("1 %\r", "2 %\r", "", "\r3 %", "\r4 %\r5 %", "\r", "\n", "done\r\n", "so "):
                print(text, end="")
            assert texts(lines) == ["1 %", "2 %", "", "3 %", "4 %", "5 %", "done"]
        assert texts(lines)[-1] == "so "

    def test_keeps_no_more_of_a_line_than_is_stored_while_it_grows(self):
        lines = runlog.RunLog(DagRun(pk=1, attempt=1), lambda: NOW)
        with runlog.capturing(lines, "t"):
            for _ in range(3):
                print("." * 7000, end="")
            assert len(runlog._capture.get()._started) == runlog.LONGEST_LINE
            print("\nnext")
        assert texts(lines) == ["." * runlog.LONGEST_LINE, "next"]

    def test_of_threads_that_run_at_once_does_not_mix(self):
        ran = [DagRun(pk=number, attempt=1) for number in (1, 2)]
        logs = [runlog.RunLog(each, lambda: NOW) for each in ran]
        barrier = threading.Barrier(2)

        def write(number: int) -> None:
            with runlog.capturing(logs[number], "t"):
                for _ in range(50):
                    barrier.wait()
                    print("run", end=" ")
                    logging.getLogger("acme").warning(number)
                    print(number)

        threads = [threading.Thread(target=write, args=(number,)) for number in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number in (0, 1):
            assert texts(logs[number]) == [f"WARNING acme: {number}", f"run {number}"] * 50

    def test_stands_before_whatever_stream_there_is(self, directory, capsys):
        """A console that is set up again between runs is captured all the same, and keeps its properties."""
        defined(directory, """with DAG("d"):\n    @task\n    def tell(): print("into the log")""")
        run()
        assert sys.stdout.encoding.lower() == "utf-8"
        with capsys.disabled():
            assert log(run()) == ["into the log"]
        assert log(run()) == ["into the log"]
