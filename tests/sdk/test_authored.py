"""The functions of a Dag, found again in the file that defines it."""

import pytest

from core.models import Asset, Dag
from scheduling import definitions
from scheduling.definitions import NotDefined
from tests.sdk.writing import NOW, dag


class TestAuthored:
    def test_finds_the_functions_of_a_dag(self, directory):
        directory.write("a", """with DAG("d"):\n    @task\n    def first(): return 1\n""")
        directory.sync()
        assert definitions.authored(dag("d")).steps["first"].task.function() == 1

    def test_runs_a_file_again_only_when_it_changed(self, directory):
        directory.write("a", """DAG("d")""")
        directory.sync()
        before = definitions.authored(dag("d"))
        assert definitions.authored(dag("d")) is before
        directory.write("a", """DAG("d", tags=["new"])""")
        assert definitions.authored(dag("d")).tags == ["new"]

    def test_names_the_error_of_a_file_that_broke(self, directory):
        name = directory.write("a", """DAG("d")""")
        directory.sync()
        directory.write("a", "1 / 0")
        with pytest.raises(NotDefined, match=f"{name}, line 2 cannot be loaded: ZeroDivisionError"):
            definitions.authored(dag("d"))

    def test_says_when_the_file_does_not_define_it_any_more(self, directory):
        directory.write("a", """DAG("d")""")
        directory.sync()
        directory.write("a", """DAG("other")""")
        with pytest.raises(NotDefined, match="does not define Dag d any more"):
            definitions.authored(dag("d"))

    def test_says_when_no_file_holds_it(self, db):
        row = Dag.objects.create(dag_id="lonely", created_at=NOW, updated_at=NOW)
        with pytest.raises(NotDefined, match="no definition file holds it"):
            definitions.authored(row)

    def test_leaves_no_asset_behind(self, directory):
        """Reading a file to run it writes nothing."""
        directory.write("a", """DAG("d")""")
        directory.sync()
        directory.write("a", """DAG("d")\nx = Asset("x")""")
        definitions.authored(dag("d"))
        assert not Asset.objects.exists()
