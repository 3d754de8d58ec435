import logging
import sys
import threading
from datetime import datetime, timedelta

import pytest

from core.models import AssetEvent, Dag, DagRun, LogLine
from scheduling import claims, execution, lease, runlog, runs, traces
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import ALICE, NOW
from tests.sdk.writing import Directory

SECOND = timedelta(seconds=1)


@pytest.fixture
def directory(tmp_path) -> Directory:
    return Directory(tmp_path)


def claimed(dag_id: str = "d", key: str | None = None, **ask) -> DagRun:
    dag = Dag.objects.get(dag_id=dag_id)
    return world.start(runs.trigger(dag, Ask(partition_key=key, **ask), deed=ALICE, at=NOW))


def run(dag_id: str = "d", key: str | None = None, **ask) -> DagRun:
    """Trigger the Dag and execute its run."""
    claim = claimed(dag_id, key, **ask)
    execution.execute(claim, clock=lambda: NOW + SECOND)
    return DagRun.objects.get(pk=claim.pk)


def defined(directory: Directory, text: str) -> None:
    directory.write("a", text)
    report = directory.sync()
    assert report.ok, report.troubles


def log(run: DagRun) -> list[str]:
    return [line.text for line in LogLine.objects.filter(run=run)]


def emitted(run: DagRun) -> list[tuple[str, str | None, dict]]:
    return list(
        AssetEvent.objects.filter(source_run=run).values_list("asset__name", "partition_key", "extra")
    )


@pytest.mark.django_db
class TestTasks:
    def test_run_in_the_order_of_their_dependencies(self, directory):
        defined(
            directory,
            """
            with DAG("d"):
                @task
                def last(): print("last")
                @task
                def first(): print("first")
                @task
                def middle(): print("middle")
                end = last()
                first() >> middle() >> end
            """,
        )
        ended = run()
        assert (ended.state, ended.ended_at, ended.error) == ("success", NOW + SECOND, "")
        assert log(ended) == ["first", "middle", "last"]

    def test_pass_values_on(self, directory):
        defined(
            directory,
            """
            with DAG("d"):
                @task
                def rows(start): return [start, start + 1]
                @task
                def total(parts, *, label, dag_run=None): print(label, sum(map(sum, parts)), dag_run.run_type)
                total([rows(1), rows(10)], label="total")
            """,
        )
        assert log(run()) == ["total 24 manual"]

    def test_are_told_about_their_run(self, directory):
        defined(
            directory,
            """
            with DAG("d", schedule=PartitionedAtRuntime()):
                @task
                def tell(dag_run, partition_key, partition_date, conf, run_id, task_id, context):
                    print(dag_run.dag_id, dag_run.partition_key, dag_run.conf["rows"], dag_run.attempt)
                    print(partition_key, partition_date, conf, run_id == dag_run.run_id, task_id)
                    print(sorted(context))
            """,
        )
        assert log(run(key="tw|2026", conf={"rows": 3})) == [
            "d tw|2026 3 1",
            "tw|2026 None {'rows': 3} True tell",
            "['conf', 'dag_run', 'dynamic_partitions', 'inlet_events', 'outlet_events', 'partition_date', "
            "'partition_key', 'partition_keys', 'run_id', 'task_id', 'triggering_asset_events']",
        ]

    def test_get_the_whole_context_if_they_take_everything(self, directory):
        defined(
            directory,
            """
            with DAG("d"):
                @task
                def tell(day, task_id, **context):
                    print(day, task_id, context["dag_run"].dag_id, "day" in context, "task_id" in context)
                tell("2026-03-10")
            """,
        )
        assert log(run()) == ["2026-03-10 tell d False False"]

    def test_prefer_what_the_call_gives(self, directory):
        defined(
            directory,
            """
            with DAG("d", schedule=PartitionedAtRuntime()):
                @task
                def tell(partition_key, conf): print(partition_key, conf)
                tell("given", conf=7)
            """,
        )
        assert log(run(key="own")) == ["given 7"]

    def test_may_be_none_at_all(self, directory):
        defined(directory, """DAG("d")""")
        ended = run()
        assert (ended.state, log(ended)) == ("success", [])

    def test_are_those_of_the_file_as_it_is_now(self, directory):
        defined(directory, """with DAG("d"):\n    @task\n    def tell(): print("old")""")
        directory.write("a", """with DAG("d"):\n    @task\n    def tell(): print("new")""")
        assert log(run()) == ["new"]


@pytest.mark.django_db
class TestFailures:
    def test_end_the_run_with_the_traceback_in_its_error_and_its_log(self, directory):
        defined(
            directory,
            """
            with DAG("d"):
                @task(outlets=[Asset("x")])
                def fail():
                    print("about to divide")
                    return 1 / 0
                @task
                def after(nothing): print("never")
                after(fail())
            """,
        )
        ended = run()
        assert ended.state == "failed"
        assert ended.error.startswith(
            f'Traceback (most recent call last):\n  File "{directory.path}/a.py", line 7'
        )
        assert ended.error.endswith("return 1 / 0\n           ~~^~~\nZeroDivisionError: division by zero")
        assert log(ended) == ["about to divide", *ended.error.splitlines()]
        assert emitted(ended) == []

    def test_show_what_caused_them(self, directory):
        defined(
            directory,
            """
            with DAG("d"):
                @task
                def fail():
                    try:
                        {}["rows"]
                    except KeyError as error:
                        raise ValueError("no rows") from error
            """,
        )
        error = run().error
        assert "KeyError: 'rows'" in error
        assert "direct cause" in error
        assert error.endswith("ValueError: no rows")

    def test_include_a_task_that_exits(self, directory):
        defined(directory, """with DAG("d"):\n    @task\n    def leave(): raise SystemExit(3)""")
        assert run().error.endswith("SystemExit: 3")

    def test_include_a_file_that_broke_meanwhile(self, directory):
        defined(directory, """DAG("d")""")
        directory.write("a", "1 / 0")
        ended = run()
        assert ended.state == "failed"
        assert "line 2 cannot be loaded: ZeroDivisionError" in ended.error

    def test_include_an_extra_that_is_not_json(self, directory):
        defined(
            directory,
            """
            x = Asset("x")
            with DAG("d"):
                @task(outlets=[x])
                def write(outlet_events): outlet_events[x].extra = {"rows": {1}}
            """,
        )
        ended = run()
        assert ended.error.endswith(
            "NotJson: the extra of x is not JSON: Object of type set is not JSON serializable"
        )
        assert emitted(ended) == []

    def test_include_an_outlet_that_was_not_declared(self, directory):
        defined(
            directory,
            """
            with DAG("d"):
                @task(outlets=[Asset("x")])
                def write(outlet_events): outlet_events[Asset("y")].add_partitions("k")
            """,
        )
        assert "y is not an outlet of write, whose outlets are: x" in run().error

    def test_show_texts_that_no_database_keeps(self, directory):
        defined(directory, """with DAG("d"):\n    @task\n    def fail(): raise ValueError("a\\0b\\ud800c")""")
        assert run().error.endswith("ValueError: a\ufffdb?c")

    def test_are_cut_if_they_are_endless(self, directory):
        defined(directory, """with DAG("d"):\n    @task\n    def fail(): raise ValueError("x" * 1_000_000)""")
        error = run().error
        assert len(error) < traces.LONGEST + 10
        assert error.startswith("Traceback")

    def test_of_one_run_stop_no_other(self, directory):
        defined(
            directory,
            """
            with DAG("d", schedule=PartitionedAtRuntime()):
                @task
                def maybe(partition_key): assert partition_key != "bad"
            """,
        )
        assert [run(key=key).state for key in ("good", "bad", "good")] == ["success", "failed", "success"]


@pytest.mark.django_db
class TestOutlets:
    def test_get_an_event_with_the_key_of_the_run(self, directory):
        defined(
            directory,
            """
            with DAG("d", schedule=CronPartitionTimetable("0 * * * *")):
                @task(outlets=[Asset("x"), Asset("y")])
                def write(): ...
            """,
        )
        ended = run(key="2026-03-11T09:00:00")
        assert emitted(ended) == [("x", "2026-03-11T09:00:00", {}), ("y", "2026-03-11T09:00:00", {})]
        event = AssetEvent.objects.get(asset__name="x")
        assert (event.source, event.source_task_id, event.timestamp) == ("run", "write", NOW + SECOND)
        assert event.partition_date == datetime.fromisoformat("2026-03-11T09:00:00+00:00")
        assert world.part("x", "2026-03-11T09:00:00").state == "materialized"

    def test_get_the_keys_that_the_task_names(self, directory):
        defined(
            directory,
            """
            @asset(uri="file://incoming/multi-region.csv", schedule=PartitionedAtRuntime())
            def regions(self, outlet_events):
                outlet_events[self].extra = {"source": "ftp"}
                outlet_events[self].add_partitions(["tw", "jp", "tw"])
                outlet_events[self].add_partitions("us", extra={"rows": 5})
            """,
        )
        assert emitted(run("regions")) == [
            ("regions", "tw", {"source": "ftp"}),
            ("regions", "jp", {"source": "ftp"}),
            ("regions", "us", {"source": "ftp", "rows": 5}),
        ]

    def test_get_nothing_if_the_code_names_the_keys_and_names_none(self, directory):
        defined(directory, """@asset(schedule=PartitionedAtRuntime())\ndef regions(self): ...""")
        ended = run("regions")
        assert (ended.state, emitted(ended)) == ("success", [])

    def test_get_the_key_that_somebody_triggered_if_the_code_names_none(self, directory):
        defined(directory, """@asset(schedule=PartitionedAtRuntime())\ndef regions(self): ...""")
        assert emitted(run("regions", key="tw")) == [("regions", "tw", {})]

    def test_get_the_named_keys_rather_than_the_one_of_the_run(self, directory):
        defined(
            directory,
            """
            @asset(schedule=CronPartitionTimetable("0 0 * * *", key_format="%Y-%m-%d"))
            def sales(self, outlet_events): outlet_events[self].add_partitions("elsewhere")
            """,
        )
        assert emitted(run("sales", key="2026-03-11")) == [("sales", "elsewhere", {})]

    def test_get_an_event_without_key_from_a_dag_without_keys(self, directory):
        defined(
            directory,
            """@asset(schedule=None)\ndef sales(self, outlet_events): outlet_events[self].extra = {"n": 1}""",
        )
        assert emitted(run("sales")) == [("sales", None, {"n": 1})]

    def test_get_one_event_for_a_key_that_two_tasks_name(self, directory):
        defined(
            directory,
            """
            x = Asset("x")
            with DAG("d", schedule=PartitionedAtRuntime()):
                @task(outlets=[x])
                def one(outlet_events): outlet_events[x].add_partitions(["a", "b"])
                @task(outlets=[x])
                def two(outlet_events): outlet_events[x].add_partitions(["b", "c"])
                one() >> two()
            """,
        )
        assert [key for _, key, _ in emitted(run())] == ["a", "b", "c"]

    def test_reach_the_consumers(self, directory):
        """From the code of a producer to the run of a consumer, nothing by hand but the turning."""
        defined(
            directory,
            """
            @asset(schedule=PartitionedAtRuntime())
            def regions(self, outlet_events): outlet_events[self].add_partitions(["tw", "jp", "us"])

            @asset(schedule=PartitionedAssetTimetable(
                assets=regions,
                partition_mapper=RollupMapper(FixedKeyMapper("all"), SegmentWindow(["tw", "jp", "us"])),
            ))
            def world(self, triggering_asset_events, partition_key):
                events = triggering_asset_events[regions]
                print(partition_key, len(events), [event.partition_key for event in events])
            """,
        )
        run("regions")
        world.turn()
        [made] = DagRun.objects.filter(dag__dag_id="world")
        execution.execute(world.start(made), clock=lambda: NOW)
        assert log(made) == ["all 3 ['tw', 'jp', 'us']"]
        assert emitted(made) == [("world", "all", {})]


@pytest.mark.django_db
class TestInlets:
    @pytest.fixture(autouse=True)
    def sales(self, directory):
        """Five events of one asset, and a Dag that reads them in the way that each test says."""
        self.directory = directory
        defined(directory, """sales = Asset("sales", uri="s3://sales")""")
        world.emit("sales", *[f"2026-03-0{day}" for day in range(1, 6)])

    def read(self, expression: str) -> list[str]:
        defined(
            self.directory,
            f"""
            sales = Asset("sales", uri="s3://sales")
            with DAG("d"):
                @task(inlets=[sales])
                def report(*, inlet_events, triggering_asset_events):
                    print({expression})
            """,
        )
        ended = run()
        assert ended.state == "success", ended.error
        return log(ended)

    @pytest.mark.parametrize(
        ("expression", "printed"),
        [
            ("inlet_events[sales][-1].partition_key", "2026-03-05"),
            ("inlet_events[sales][0].partition_key", "2026-03-01"),
            ("inlet_events[sales][-5].partition_key", "2026-03-01"),
            ("len(inlet_events[sales])", "5"),
            ("[event.partition_key[-2:] for event in inlet_events[sales]]", "['01', '02', '03', '04', '05']"),
            ("[event.partition_key[-2:] for event in inlet_events[sales][-2:]]", "['04', '05']"),
            ("[event.partition_key[-2:] for event in inlet_events[sales][1:4:2]]", "['02', '04']"),
            ("[event.partition_key[-2:] for event in inlet_events[sales][::-2]]", "['05', '03', '01']"),
            ("[event.partition_key[-2:] for event in reversed(inlet_events[sales])][:2]", "['05', '04']"),
            ("inlet_events[Asset.ref(name='sales')][-1].source", "api"),
            ("inlet_events[Asset.ref(uri='s3://sales')][-1].source", "api"),
            ("inlet_events['sales'][-1].timestamp.isoformat()", NOW.isoformat()),
            ("list(inlet_events), len(inlet_events)", "['sales'] 1"),
            ("len(triggering_asset_events[sales])", "0"),
        ],
    )
    def test_are_read_like_a_list_per_asset(self, expression, printed):
        assert self.read(expression) == [printed]

    def test_give_the_extra_that_an_event_was_given(self):
        defined(
            self.directory,
            """
            sales = Asset("sales")
            with DAG("ingest"):
                @task(outlets=[sales])
                def ingest(*, outlet_events):
                    outlet_events[sales].extra = {"day": "2026-03-10", "rows": 41_233}
            """,
        )
        run("ingest")
        assert self.read("inlet_events[sales][-1].extra['day']") == ["2026-03-10"]

    @pytest.mark.parametrize("expression", ["inlet_events[sales][5]", "inlet_events[sales][-6]"])
    def test_end_where_the_events_end(self, expression):
        defined(
            self.directory,
            f"""
            sales = Asset("sales")
            with DAG("d"):
                @task
                def report(*, inlet_events): {expression}
            """,
        )
        assert run().error.endswith("IndexError: there are only 5 events")

    def test_refuse_what_is_no_asset(self):
        defined(
            self.directory,
            """with DAG("d"):\n    @task\n    def report(*, inlet_events): inlet_events["prices"]""",
        )
        assert run().error.endswith("NoSuchAsset: there is no asset with the name 'prices'")


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
            texts = [line.text for line in logs[number]._lines]
            assert texts == [f"WARNING acme: {number}", f"run {number}"] * 50

    def test_stands_before_whatever_stream_there_is(self, directory, capsys):
        """A console that is set up again between runs is captured all the same, and keeps its properties."""
        defined(directory, """with DAG("d"):\n    @task\n    def tell(): print("into the log")""")
        run()
        assert sys.stdout.encoding.lower() == "utf-8"
        with capsys.disabled():
            assert log(run()) == ["into the log"]
        assert log(run()) == ["into the log"]


@pytest.mark.django_db(transaction=True)
class TestLease:
    """With a thread beside the task, so the tests write for real."""

    WAITING = """
        import time

        with DAG("d"):
            @task(outlets=[Asset("x")])
            def wait(dag_run):
                print("waiting")
                for _ in range(500):
                    dag_run.stop_if_cancelled()
                    time.sleep(0.01)
                    if dag_run.conf.get("rounds") == _: break
            @task
            def after(): print("after")
            wait() >> after()
    """

    @pytest.fixture(autouse=True)
    def quick(self, monkeypatch) -> None:
        monkeypatch.setattr(lease, "PACE", timedelta(milliseconds=5))
        monkeypatch.setattr(lease, "RENEW_EVERY", timedelta(0))

    def execute(self, claim: DagRun, during) -> DagRun:
        """Execute `claim` in a thread; call `during` once its log has begun."""
        clock = Clock()
        thread = threading.Thread(target=execute_and_close, args=(claim, clock))
        thread.start()
        while not LogLine.objects.filter(run=claim).exists():
            assert thread.is_alive()
        during(clock)
        thread.join(timeout=20)
        return DagRun.objects.get(pk=claim.pk)

    def test_is_renewed_and_the_log_stored_while_a_task_runs(self, directory):
        defined(directory, self.WAITING)
        claim = claimed(conf={"rounds": 50})
        before = claim.lease_until

        def during(clock):
            clock.now += 30 * SECOND
            while DagRun.objects.get(pk=claim.pk).lease_until <= before:
                pass
            assert log(claim) == ["waiting"]

        ended = self.execute(claim, during)
        assert ended.state == "success"
        assert log(ended) == ["waiting", "after"]

    def test_ends_when_somebody_cancels_the_run(self, directory):
        defined(directory, self.WAITING)
        claim = claimed()
        ended = self.execute(claim, lambda clock: runs.cancel(claim, deed=ALICE, at=NOW))
        assert (ended.state, ended.error) == ("cancelled", "")
        assert log(ended) == ["waiting", "The run was cancelled."]
        assert emitted(ended) == []

    def test_stops_a_cancelled_run_before_its_next_task(self, directory):
        defined(directory, self.WAITING.replace("dag_run.stop_if_cancelled()", ""))
        claim = claimed(conf={"rounds": 30})
        ended = self.execute(claim, lambda clock: runs.cancel(claim, deed=ALICE, at=NOW))
        assert ended.state == "cancelled"
        assert "after" not in log(ended)

    def test_that_was_lost_records_nothing(self, directory):
        """Another worker has taken the run over; what this one did is not its business any more."""
        defined(directory, self.WAITING)
        claim = claimed(conf={"rounds": 30})

        def during(clock):
            late = NOW + timedelta(days=1)
            claims.take_over_lost(now=late)
            assert claims.claim(claim.pk, worker="w2", now=late)

        ended = self.execute(claim, during)
        assert (ended.state, ended.claimed_by, ended.attempt) == ("running", "w2", 2)
        assert emitted(ended) == []


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


def execute_and_close(claim: DagRun, clock: Clock) -> None:
    from django.db import connection

    try:
        execution.execute(claim, clock=clock)
    finally:
        connection.close()
