import sys
from pathlib import Path

import pytest

from scheduling.authoring import files, loading
from scheduling.authoring.files import DefinitionFile
from scheduling.sdk import DAG
from tests.sdk.loaded import dag_ids, load, write


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two definition modules and one that is private; its name."""
    for name in ("__init__", "first", "second", "_private"):
        write(tmp_path / "acme_defs" / f"{name}.py", f'from scheduling.sdk import DAG\n\nDAG("{name}")\n')
    write(tmp_path / "acme_defs" / "below" / "__init__.py", "")
    write(tmp_path / "acme_defs" / "below" / "third.py", "")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "acme_defs"
    for name in [name for name in sys.modules if name.startswith("acme_defs")]:
        del sys.modules[name]


class TestFind:
    def test_gives_a_file_its_path_as_its_name(self, tmp_path):
        path = write(tmp_path / "sales.py", "")
        assert list(files.find(str(path))) == [DefinitionFile(str(path), path)]

    def test_gives_every_file_of_a_directory_but_private_ones(self, tmp_path):
        for name in (
            "b.py",
            "a.py",
            "sub/c.py",
            "_shared.py",
            ".hidden/d.py",
            "__pycache__/e.py",
            "notes.txt",
        ):
            write(tmp_path / name, "")
        assert [Path(file.name).relative_to(tmp_path).as_posix() for file in files.find(str(tmp_path))] == [
            "a.py",
            "b.py",
            "sub/c.py",
        ]

    def test_gives_every_module_of_a_package_but_private_ones(self, package):
        assert [file.name for file in files.find(package)] == ["acme_defs.first", "acme_defs.second"]

    def test_takes_a_package_inside_a_package_for_a_source_of_its_own(self, package):
        assert [file.name for file in files.find("acme_defs.below")] == ["acme_defs.below.third"]

    def test_gives_a_module_its_file(self, package, tmp_path):
        path = tmp_path / "acme_defs" / "first.py"
        assert list(files.find("acme_defs.first")) == [DefinitionFile("acme_defs.first", path)]

    @pytest.mark.parametrize("source", ["/nowhere/at/all.py", "/nowhere/"])
    def test_answers_for_a_path_that_is_not_there(self, source):
        [answer] = files.find(source)
        assert answer.failure.sentence == "there is no such file or directory"

    def test_answers_for_a_module_that_is_not_there(self):
        [answer] = files.find("acme_nothing")
        assert (answer.name, answer.failure.sentence) == ("acme_nothing", "there is no module acme_nothing")
        [answer] = files.find("acme_nothing.below")
        assert "No module named 'acme_nothing'" in answer.failure.sentence

    def test_answers_for_a_package_that_fails(self, package, tmp_path):
        write(tmp_path / "acme_defs" / "__init__.py", "1 / 0")
        [answer] = files.find("acme_defs.first")
        assert answer.failure.sentence == "ZeroDivisionError: division by zero"
        assert "__init__.py" in answer.failure.trace


class TestNamed:
    def test_gives_the_file_again(self, package, tmp_path):
        path = write(tmp_path / "sales.py", "")
        for source in (str(path), "acme_defs.second"):
            [file] = files.find(source)
            assert files.named(file.name) == file

    def test_answers_for_a_module_that_is_gone(self):
        assert files.named("acme_gone").failure.sentence == "there is no module acme_gone"


class TestLoad:
    def test_collects_dags_and_assets(self, tmp_path):
        loaded = load(
            write(
                tmp_path / "sales.py",
                """
                from scheduling.sdk import Asset, DAG, asset

                sales = Asset("sales")
                plain = DAG("plain", schedule=None)

                with DAG("block"):
                    ...

                @asset(schedule=None)
                def made(self): ...
                """,
            )
        )
        assert dag_ids(loaded) == ["plain", "block", "made"]
        assert [asset.name for asset in loaded.assets] == ["sales", "made"]
        assert len(loaded.fingerprint) == 64

    def test_collects_dags_that_functions_make(self, tmp_path):
        write(
            tmp_path / "factory_of_dags.py",
            "from scheduling.sdk import DAG\ndef make(name): return DAG(name)\n",
        )
        path = write(
            tmp_path / "sales.py",
            "from factory_of_dags import make\ndags = [make(f'for_{c}') for c in 'ab']\n",
        )
        assert dag_ids(load(path)) == ["for_a", "for_b"]

    def test_leaves_the_dags_of_an_imported_file_to_that_file(self, tmp_path):
        write(
            tmp_path / "base_of_sales.py",
            "from scheduling.sdk import Asset, DAG\nDAG('base')\nS = Asset('s')\n",
        )
        path = write(
            tmp_path / "sales.py",
            "from base_of_sales import S\nfrom scheduling.sdk import DAG\nDAG('sales')\n",
        )
        loaded = load(path)
        assert dag_ids(loaded) == ["sales"]
        assert [asset.name for asset in loaded.assets] == ["s"]
        assert dag_ids(load(tmp_path / "base_of_sales.py")) == ["base"]

    def test_runs_a_module_under_its_own_name(self, package):
        [file] = files.find("acme_defs.first")
        assert dag_ids(files.load(file)) == ["first"]
        assert sys.modules["acme_defs.first"].__package__ == "acme_defs"

    def test_runs_a_file_anew_each_time(self, tmp_path):
        """Two changes within one second are two changes, whatever is kept as bytecode."""
        path = tmp_path / "sales.py"
        for name in ("one", "two"):
            write(path, f"from scheduling.sdk import DAG\nDAG('{name}')\n")
            assert dag_ids(load(path)) == [name]

    def test_keeps_two_files_of_one_name_apart(self, tmp_path):
        first = write(tmp_path / "a" / "sales.py", "from scheduling.sdk import DAG\nDAG('a')\n")
        second = write(tmp_path / "b" / "sales.py", "from scheduling.sdk import DAG\nDAG('b')\n")
        assert (dag_ids(load(first)), dag_ids(load(second))) == (["a"], ["b"])

    def test_lets_a_file_say_which_file_it_is(self, tmp_path):
        path = write(
            tmp_path / "sales.py",
            "from pathlib import Path\nfrom scheduling.sdk import DAG\nDAG(Path(__file__).stem)\n",
        )
        assert dag_ids(load(path)) == ["sales"]

    def test_collects_nothing_outside(self):
        with loading.collecting("elsewhere") as collection:
            DAG("not of that module")
        assert collection.made == []
        DAG("collected by nobody")
