import sys
from pathlib import Path
from textwrap import dedent

import pytest

from scheduling.authoring import files, loading
from scheduling.authoring.files import DefinitionFile, Loaded
from scheduling.sdk import DAG


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text))
    return path


def load(path: Path) -> Loaded:
    [file] = files.find(str(path))
    assert isinstance(file, DefinitionFile)
    return files.load(file)


def dag_ids(loaded: Loaded) -> list[str]:
    assert loaded.failure is None, loaded.failure
    return [dag.dag_id for dag in loaded.dags]


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


class TestFailures:
    def test_name_the_error_and_its_line(self, tmp_path):
        failure = load(write(tmp_path / "sales.py", "x = 1\n\n1 / 0\n")).failure
        assert (failure.sentence, failure.line) == ("ZeroDivisionError: division by zero", 3)

    def test_name_the_line_that_called_what_failed(self, tmp_path):
        path = write(
            tmp_path / "sales.py",
            """
            from scheduling.sdk import DayWindow, IdentityMapper, RollupMapper

            RollupMapper(
                upstream_mapper=IdentityMapper(),
                window=DayWindow(),
            )
            """,
        )
        failure = load(path).failure
        assert failure.line == 4
        assert failure.sentence.startswith("MismatchedDefinition: ")

    def test_name_the_line_of_a_syntax_error(self, tmp_path):
        failure = load(write(tmp_path / "sales.py", "x = 1\ndef broken(:\n    pass\n")).failure
        assert failure.sentence.startswith("SyntaxError: ")
        assert failure.line == 2

    def test_begin_their_traceback_in_the_file(self, tmp_path):
        path = write(tmp_path / "sales.py", "def fail():\n    raise RuntimeError('no')\n\nfail()\n")
        trace = load(path).failure.trace
        assert trace.splitlines()[1] == f'  File "{path}", line 4, in <module>'
        assert trace.endswith("RuntimeError: no\n")
        assert "authoring" not in trace

    def test_name_the_import_that_failed(self, tmp_path):
        path = write(tmp_path / "sales.py", "import os\nimport acme_not_installed\n")
        failure = load(path).failure
        assert (failure.sentence, failure.line) == (
            "ModuleNotFoundError: No module named 'acme_not_installed'",
            2,
        )

    def test_name_the_import_that_was_meant(self, tmp_path):
        path = write(tmp_path / "sales.py", "from scheduling.sdk import DailyPartition\n")
        sentence = load(path).failure.sentence
        assert sentence.startswith("ImportError: cannot import name 'DailyPartition' from 'scheduling.sdk'")
        assert sentence.endswith("; did you mean DailyPartitions?")
        path = write(tmp_path / "sales.py", "from scheduling.sdk import Qwertyuiop\n")
        assert "did you mean" not in load(path).failure.sentence

    def test_name_the_argument_and_what_was_given_for_it(self, tmp_path):
        path = write(
            tmp_path / "sales.py",
            "from scheduling.sdk import DailyPartitions\nDailyPartitions('2026-13-01')\n",
        )
        assert load(path).failure.sentence.startswith(
            "InvalidDefinition: start: '2026-13-01' is neither a date nor a time, such as 2026-03-01"
        )

    def test_contain_a_file_that_exits(self, tmp_path):
        failure = load(write(tmp_path / "sales.py", "raise SystemExit('enough')\n")).failure
        assert failure.sentence == "SystemExit: enough"

    def test_contain_a_file_that_is_not_utf8(self, tmp_path):
        path = tmp_path / "sales.py"
        path.write_bytes(b"x = '\xff'\n")
        assert load(path).failure.sentence.startswith("SyntaxError: ")

    def test_contain_a_file_that_cannot_be_read(self, tmp_path):
        missing = files.load(DefinitionFile(str(tmp_path / "gone.py"), tmp_path / "gone.py"))
        assert missing.failure.sentence == "cannot be read: No such file or directory"

    def test_leave_what_ran_before_in_place(self, tmp_path):
        path = write(tmp_path / "sales.py", "VALUE = 1\n")
        load(path)
        [file] = files.find(str(path))
        write(path, "1 / 0\n")
        load(path)
        assert sys.modules[file.module_name].VALUE == 1
