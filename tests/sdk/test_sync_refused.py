"""Files that do not load, and definitions that are refused."""

import importlib
import sys

import pytest

from core.models import Dag, DefinitionSource, Sensor
from scheduling import definitions
from tests.sdk.writing import LATER, NOW, dag, listens, sentences, source

CONSUMER = """
    with DAG("consumer", schedule=PartitionedAssetTimetable(assets=Asset("a") & Asset("b"))):
        pass
"""


@pytest.fixture
def package(db, tmp_path, monkeypatch):
    """Writes a package whose `defs` define the Dag `packed`, and forgets what was imported of it."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(name: str, init: str) -> None:
        definitions_of = tmp_path / name / "defs"
        definitions_of.mkdir(parents=True, exist_ok=True)
        (tmp_path / name / "__init__.py").write_text(init)
        (definitions_of / "__init__.py").write_text("")
        (definitions_of / "shop.py").write_text('from scheduling.sdk import DAG\nDAG("packed")\n')
        for module in [each for each in sys.modules if each.partition(".")[0] == name]:
            monkeypatch.delitem(sys.modules, module)
        importlib.invalidate_caches()

    return write


class TestBrokenFiles:
    def test_are_recorded_with_their_error_and_line_and_stop_no_other(self, directory):
        bad = directory.write("a_bad", "\n1 / 0\n")
        good = directory.write("b_good", """DAG("good")""")
        report = directory.sync()
        row = source(bad)
        assert (row.error, row.error_line, row.loaded_at) == ("ZeroDivisionError: division by zero", 3, NOW)
        assert row.traceback.endswith("ZeroDivisionError: division by zero\n")
        assert (source(good).error, source(good).error_line, source(good).traceback) == ("", None, "")
        assert dag("good").is_active
        assert report.troubles == (f"{bad}, line 3: ZeroDivisionError: division by zero",)

    def test_keep_the_dags_that_they_defined_before(self, directory):
        directory.write("a", CONSUMER)
        directory.sync()
        directory.write("a", "1 / 0")
        directory.sync(LATER)
        assert dag("consumer").is_active
        assert listens("consumer") == [("a", "IdentityMapper"), ("b", "IdentityMapper")]

    def test_keep_what_they_defined_while_their_directory_is_away(self, directory, tmp_path_factory):
        """A volume that is not mounted for a moment, or a deploy that replaces the directory."""
        directory.write("a", CONSUMER)
        directory.write("b", """@sensor\ndef look(at): pass""")
        directory.sync()
        away = directory.path.rename(tmp_path_factory.mktemp("elsewhere") / "away")
        assert directory.sync(LATER).troubles == (f"{directory.path}: there is no such file or directory",)
        assert dag("consumer").is_active
        assert Sensor.objects.get().is_active
        away.rename(directory.path)
        assert directory.sync(LATER).ok

    def test_keep_what_they_defined_while_the_package_above_cannot_be_loaded(self, package):
        package("acme_works", "")
        definitions.sync(["acme_works.defs"], at=NOW)
        assert dag("packed").is_active
        package("acme_works", "1 / 0")
        assert not definitions.sync(["acme_works.defs"], at=LATER).ok
        assert dag("packed").is_active

    def test_are_forgiven_when_they_are_mended(self, directory):
        name = directory.write("a", "1 / 0")
        directory.sync()
        directory.write("a", """DAG("d")""")
        assert directory.sync(LATER).ok
        assert (source(name).error, source(name).error_line, source(name).traceback) == ("", None, "")

    def test_that_are_not_there_are_recorded_too(self, db):
        definitions.sync(["acme_nothing", "/nowhere/at/all.py"], at=NOW)
        assert dict(DefinitionSource.objects.values_list("name", "error")) == {
            "acme_nothing": "there is no module acme_nothing",
            "/nowhere/at/all.py": "there is no such file or directory",
        }

    def test_are_looked_at_once_though_named_twice(self, directory):
        name = directory.write("a", """DAG("d")""")
        assert definitions.sync([name, name, str(directory.path)], at=NOW).files == 1


class TestRefusedDags:
    def test_show_why_and_stop_no_neighbour(self, directory):
        directory.write("a", """DAG("bad", catchup="sometimes")\nDAG("good")""")
        report = directory.sync()
        assert sentences("bad") == [
            'catchup is True or "all", False or "last", or "none", not \'sometimes\'',
        ]
        assert dag("bad").problems[0]["code"] == "refused"
        assert sentences("good") == []
        assert report.troubles == (f"Dag bad: {sentences('bad')[0]}",)

    def test_stay_what_they_were(self, directory):
        directory.write("a", CONSUMER)
        directory.sync()
        before = dag("consumer").schedule
        directory.write(
            "a", CONSUMER.replace("with DAG(", "with DAG(max_active_runs=0, dag_id=").replace(", )", ")")
        )
        directory.sync(LATER)
        assert dag("consumer").schedule == before
        assert sentences("consumer") == ["max_active_runs is a whole number from 1 on, not 0"]
        assert listens("consumer") == [("a", "IdentityMapper"), ("b", "IdentityMapper")]

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("""DAG("bad", schedule=CronPartitionTimetable("99 * * * *"))""", "99"),
            ("""DAG("bad", schedule=42)""", "a schedule is a timetable"),
            (
                """
                with DAG("bad"):
                    @task
                    def one(): ...
                    @task
                    def two(): ...
                    first, second = one(), two()
                    first >> second >> first
                """,
                "in a circle",
            ),
            (
                """
                class Homemade(Mapper):
                    def to_downstream(self, key): return (key,)

                DAG("bad", schedule=PartitionedAssetTimetable(assets=Asset("a"), partition_mapper=Homemade()))
                """,
                "Homemade",
            ),
        ],
    )
    def test_are_refused_for_what_only_their_definition_shows(self, directory, text, sentence):
        directory.write("a", text)
        directory.sync()
        assert len(sentences("bad")) == 1
        assert sentence in sentences("bad")[0]

    def test_without_a_possible_name_are_a_trouble_of_their_file(self, directory):
        name = directory.write("a", """DAG("")\nDAG("good")""")
        directory.sync()
        assert source(name).error == "a dag_id is text without white space around it, not ''"
        assert list(Dag.objects.values_list("dag_id", flat=True)) == ["good"]

    def test_of_a_name_that_is_taken_are_a_trouble_of_the_second_file(self, directory):
        first = directory.write("a", """DAG("d", tags=["first"])""")
        second = directory.write("b", """DAG("d", tags=["second"])""")
        directory.sync()
        assert dag("d").tags == ["first"]
        assert source(first).error == ""
        assert source(second).error == f"Dag d is defined in {first} already, and that one counts"

    def test_are_forgiven_when_they_are_mended(self, directory):
        directory.write("a", """DAG("d", max_active_runs=0)""")
        directory.sync()
        directory.write("a", """DAG("d", max_active_runs=1)""")
        directory.sync(LATER)
        assert dag("d").problems == []
