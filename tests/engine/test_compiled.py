import threading

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.compiled import Compiled, built, columns
from core.models import Asset, Dag, DagRun
from scheduling import newruns, runs
from tests.engine.world import NOW, asset, dag

pytestmark = pytest.mark.django_db


def named():
    return Compiled(lambda name: Asset.objects.filter(name=name).values_list(*columns(Asset)), "any name")


class TestCompiled:
    def test_answers_what_the_query_would_for_other_values(self):
        query = named()
        one, other = asset("a"), asset("b", partitions={"type": "x", "n": [1, None]}, extra={"é": True})
        assert [built(Asset, row) for row in query("a")] == [one]
        [found] = [built(Asset, row) for row in query("b")]
        for name in columns(Asset):
            assert getattr(found, name) == getattr(other, name)
        assert query("c") == []

    def test_converts_values_as_the_query_does(self):
        made = dag("d", {"type": "PartitionedAtRuntime"})
        query = Compiled(lambda pk: Dag.objects.filter(pk=pk).values_list(*columns(Dag)), -1)
        [found] = query(made.pk)
        assert found == Dag.objects.filter(pk=made.pk).values_list(*columns(Dag)).get()

    def test_puts_each_value_where_its_example_stood(self):
        made = dag("d")
        newruns.create([newruns.NewRun(made, runs.Type.MANUAL, run_id=name) for name in "xyz"], at=NOW)
        query = Compiled(
            lambda pk, run_id: DagRun.objects.filter(dag=pk).exclude(run_id=run_id).values_list("run_id"),
            -1,
            "any run",
        )
        assert sorted(query(made.pk, "y")) == [("x",), ("z",)]
        assert query(made.pk + 1, "y") == []

    def test_one_value_may_stand_in_two_places(self):
        asset("a")
        rows = Asset.objects.order_by().values_list("name")
        query = Compiled(lambda name: rows.filter(name=name).union(rows.filter(uri=name)), "any name")
        assert query("a") == [("a",)]

    def test_a_value_is_never_read_as_sql(self):
        asset("a")
        assert named()("a' OR '1'='1") == []
        assert named()("%s") == []

    def test_the_sql_is_made_once(self):
        made = []

        def query(name):
            made.append(name)
            return Asset.objects.filter(name=name).values_list("name")

        compiled = Compiled(query, "any name")
        with CaptureQueriesContext(connection) as queries:
            for name in ("a", "b", "c"):
                compiled(name)
        assert made == ["any name"]
        assert len(queries) == 3

    def test_as_many_values_are_given_as_there_are_examples(self):
        with pytest.raises(ValueError, match="argument"):
            named()("a", "b")


@pytest.mark.django_db(transaction=True)
def test_it_serves_threads_that_have_connections_of_their_own():
    asset("a", extra={"n": 1})
    query, found = named(), []
    query("a")

    def ask():
        found.append(built(Asset, query("a")[0]).extra)
        connection.close()

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert found == [{"n": 1}]
