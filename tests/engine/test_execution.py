import pytest

from scheduling import traces
from tests.engine.executing import SECOND, defined, emitted, log, run
from tests.engine.world import NOW


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

    @pytest.mark.parametrize(
        "error", ["SystemExit: 3", "KeyboardInterrupt", "GeneratorExit", "asyncio.exceptions.CancelledError"]
    )
    def test_include_a_task_that_wants_to_end_more_than_itself(self, directory, error):
        defined(
            directory,
            f"""
            import asyncio
            with DAG("d", retries=1):
                @task
                def leave(): raise {error.replace(": 3", "(3)")}
            """,
        )
        ended = run()
        assert (ended.state, ended.failures) == ("queued", 1)
        assert ended.error.startswith("Traceback")
        assert ended.error.endswith(error)
        assert log(ended)[: len(ended.error.splitlines())] == ended.error.splitlines()

    def test_include_a_file_that_defines_the_dag_no_more(self, directory):
        defined(directory, """DAG("d")""")
        directory.write("a", """DAG("e")""")
        ended = run()
        assert ended.state == "failed"
        assert "does not define Dag d any more" in ended.error

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
            "NotKept: the extra of x is not JSON: Object of type set is not JSON serializable"
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
