"""A file that cannot be loaded: what is said of it, and where."""

import sys

from scheduling.authoring import files
from scheduling.authoring.files import DefinitionFile
from tests.sdk.loaded import load, write


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
