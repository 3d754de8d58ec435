import pytest

from scheduling.algebra.errors import InvalidDefinition
from scheduling.authoring.tasks import Step, filled, steps_in
from scheduling.authoring.terms import ordered
from scheduling.sdk import DAG, task


@task
def read():
    return [1, 2]


@task
def double(values, dag_run=None):
    return [2 * value for value in values]


@task
def write(*parts, context):
    return parts


def upstream(dag: DAG) -> dict[str, list[str]]:
    return {step.task_id: step.upstream for step in dag.steps.values()}


class TestOrder:
    def test_comes_from_arguments(self):
        with DAG("d") as dag:
            double(read())
        assert upstream(dag) == {"read": [], "double": ["read"]}

    def test_comes_from_arguments_inside_lists_and_dictionaries(self):
        with DAG("d") as dag:
            first, second = read(), read()
            write([first, {"also": (second,)}], double(first))
        assert upstream(dag)["write"] == ["read", "read__1", "double"]

    def test_comes_from_arrows(self):
        with DAG("d") as dag:
            first, second, third = read(), read(), read()
            assert first >> second >> third is third
        assert upstream(dag) == {"read": [], "read__1": ["read"], "read__2": ["read__1"]}

    def test_comes_from_arrows_between_lists(self):
        with DAG("d") as dag:
            a, b, c, d = read(), read(), read(), read()
            a >> [b, c] >> d
        assert upstream(dag) == {
            "read": [],
            "read__1": ["read"],
            "read__2": ["read"],
            "read__3": ["read__1", "read__2"],
        }

    def test_comes_from_arrows_backwards(self):
        with DAG("d") as dag:
            a, b, c = read(), read(), read()
            c << [a, b]
            [a] << b
        assert upstream(dag) == {"read": ["read__1"], "read__1": [], "read__2": ["read", "read__1"]}

    def test_counts_once(self):
        with DAG("d") as dag:
            first = read()
            second = double(first)
            first >> second
        assert upstream(dag)["double"] == ["read"]

    def test_is_found_for_any_way_of_writing_it_down(self):
        with DAG("d") as dag:
            last, middle, first = read(), read(), read()
            first >> middle >> last
        assert [step.task_id for step in ordered(dag.steps.values())] == ["read__2", "read__1", "read"]

    def test_cannot_be_a_circle(self):
        with DAG("d") as dag:
            a, b = read(), read()
            a >> b >> a
        with pytest.raises(InvalidDefinition, match=r"in a circle: read(__1)? >> read(__1)? >> read"):
            ordered(dag.steps.values())

    def test_does_not_cross_dags(self):
        with DAG("one"):
            foreign = read()
        with (
            DAG("two"),
            pytest.raises(InvalidDefinition, match="double of Dag two cannot follow a task of Dag one"),
        ):
            double(foreign)

    def test_needs_called_tasks(self):
        with DAG("d"), pytest.raises(InvalidDefinition, match=r"order tasks as in first\(\) >> second\(\)"):
            read() >> double


class TestCalls:
    def test_belong_into_the_body_of_a_dag(self):
        with pytest.raises(InvalidDefinition, match=r"read\(\) is a task: call it in the body of a Dag"):
            read()

    def test_leave_the_function_itself_callable(self):
        assert double.function([3]) == [6]

    def test_number_a_task_called_again(self):
        with DAG("d") as dag:
            assert [read().task_id, read().task_id, read().task_id] == ["read", "read__1", "read__2"]
        assert list(dag.steps) == ["read", "read__1", "read__2"]

    def test_must_give_what_no_run_fills_in(self):
        with (
            DAG("d"),
            pytest.raises(InvalidDefinition, match=r"double\(\) lacks values, which no run fills in"),
        ):
            double()

    def test_must_fit_the_function(self):
        with DAG("d"), pytest.raises(InvalidDefinition, match="unexpected keyword argument 'day'"):
            read(day=1)

    def test_need_not_give_what_a_run_fills_in(self):
        @task
        def everything(
            context, dag_run, outlet_events, inlet_events, triggering_asset_events, partition_key, conf
        ):
            pass

        with DAG("d") as dag:
            everything()
        assert list(dag.steps) == ["everything"]

    def test_do_not_get_a_self_outside_an_asset(self):
        @task
        def lost(self):
            pass

        with DAG("d"), pytest.raises(InvalidDefinition, match=r"lost\(\) lacks self"):
            lost()


class TestUncalledTasks:
    def test_written_in_a_body_join_it(self):
        with DAG("d") as dag:

            @task
            def alone(partition_key):
                pass

        assert list(dag.steps) == ["alone"]

    def test_join_once_if_they_are_called(self):
        with DAG("d") as dag:

            @task
            def alone():
                pass

            alone()
        assert list(dag.steps) == ["alone"]

    def test_stay_out_if_they_need_an_argument(self):
        with DAG("d") as dag:

            @task
            def needy(day):
                pass

        assert dag.steps == {}

    def test_stay_out_if_they_were_written_elsewhere(self):
        with DAG("d") as dag:
            read.task_id  # noqa: B018
        assert dag.steps == {}

    def test_stay_out_of_a_body_that_failed(self):
        dag = DAG("d")

        def write_body():
            with dag:
                task(read.function)
                raise RuntimeError

        with pytest.raises(RuntimeError):
            write_body()
        assert dag.steps == {}


class TestPassedValues:
    def test_are_found_wherever_they_are(self):
        with DAG("d"):
            step = read()
        assert list(steps_in([1, {"a": (step, "x")}, {step}])) == [step, step]
        assert list(steps_in("text")) == []

    def test_take_the_place_of_the_calls(self):
        with DAG("d"):
            step = read()
        assert isinstance(step, Step)
        given = ([step, 1], {"a": (step,)})
        assert filled(given, {"read": "R"}) == (["R", 1], {"a": ("R",)})
