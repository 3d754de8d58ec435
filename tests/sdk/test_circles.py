"""Dags that start each other in a circle are told before they do."""

from textwrap import dedent

import pytest

from scheduling.configuration.circles import shortest
from tests.sdk.writing import Directory, dag, sentences

pytestmark = pytest.mark.django_db

HEAD = """
    a, b, c = Asset("a"), Asset("b"), Asset("c")
    def dag(name, hears, writes, **options):
        with DAG(name, schedule=PartitionedAssetTimetable(assets=hears, **options)):
            @task(outlets=[writes])
            def write(): ...
    """
WORDS = "its runs may start it again for ever: "


@pytest.fixture
def define(directory: Directory):
    def load(text: str) -> None:
        directory.write("defs", dedent(HEAD) + dedent(text))
        directory.sync()

    return load


def warning(dag_id):
    return [each for each in sentences(dag_id, "warning") if "for ever" in each]


class TestTwoDagsThatListenToEachOther:
    def test_are_warned_with_the_whole_circle(self, define):
        define('dag("copy", a, b); dag("mirror", b, a)')
        assert warning("copy") == [WORDS + "copy → b → mirror → a → copy"]
        assert warning("mirror") == [WORDS + "mirror → a → copy → b → mirror"]

    def test_but_work(self, define):
        define('dag("copy", a, b); dag("mirror", b, a)')
        assert sentences("copy") == []
        assert [each["code"] for each in dag("copy").problems] == ["circle"]

    @pytest.mark.parametrize("late", ["hold", "mark_stale"])
    def test_are_not_where_one_of_them_does_not_fire_again(self, define, late):
        define(f'dag("copy", a, b, late="{late}"); dag("mirror", b, a)')
        assert warning("copy") == warning("mirror") == []

    def test_are_not_any_more_when_one_is_changed(self, define):
        define('dag("copy", a, b); dag("mirror", b, a)')
        define('dag("copy", a, b); dag("mirror", c, a)')
        assert warning("copy") == warning("mirror") == []


class TestOtherCircles:
    def test_a_dag_that_listens_to_itself(self, define):
        define('dag("copy", a | b, b)')
        assert warning("copy") == [WORDS + "copy → b → copy"]

    def test_of_three_dags_and_those_beside_them(self, define):
        define('dag("one", a, b); dag("two", b, c); dag("three", c | b, a); dag("after", c, Asset("d"))')
        assert warning("two") == [WORDS + "two → c → three → a → one → b → two"]
        assert warning("one") == [WORDS + "one → b → three → a → one"]
        assert warning("after") == []

    def test_a_chain_is_none(self, define):
        define('dag("one", a, b); dag("two", b, c)')
        assert warning("one") == warning("two") == []

    def test_of_dags_without_keys(self, define):
        plain = """
            with DAG("{0}", schedule={1}):
                @task(outlets=[{2}])
                def write(): ...
            """
        define(dedent(plain.format("ping", "a", "b")) + dedent(plain.format("pong", "b", "a")))
        assert warning("ping") == [WORDS + "ping → b → pong → a → ping"]

    def test_not_through_a_dag_that_events_with_keys_do_not_start(self, define):
        plain = """
            with DAG("plain", schedule={}):
                @task(outlets=[a])
                def write(): ...
            dag("copy", a, b)
            """
        define(plain.format("AssetTimetable(assets=b)"))
        assert warning("copy") == warning("plain") == []


class TestShortest:
    def test_of_many_dags_that_end_somewhere_nothing_is_left(self):
        assert shortest({n: [(n, n + 1), (n, n + 2)] for n in range(2000)}) == {}

    def test_leads_back_by_the_fewest_steps(self):
        steps = {1: [(10, 2), (11, 3)], 2: [(20, 3)], 3: [(30, 1)], 4: [(40, 1)]}
        assert shortest(steps) == {1: [1, 11, 3, 30, 1], 2: [2, 20, 3, 30, 1, 10, 2], 3: [3, 30, 1, 11, 3]}
