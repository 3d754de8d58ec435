"""How `partita` reads words, answers, and exits."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command, get_commands

from partitions_site import launch
from partitions_site.cli import names, program, replies
from partitions_site.cli.completion import tree

HOME = Path(__file__).parents[2]


def partita(*words):
    out = io.StringIO()
    return program.main(words, out), out.getvalue()


class TestWords:
    @pytest.mark.parametrize("name", names.COMMANDS)
    def test_every_command_says_what_it_takes(self, name, capsys):
        with pytest.raises(SystemExit) as end:
            program.main([name, "--help"])
        assert end.value.code == 0
        assert f"usage: partita {name}" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            ([], "the following arguments are required: COMMAND"),
            (["nope"], "invalid choice: 'nope'"),
            (["runs", "--limit", "0"], "write a number from 1 to 10000, not '0'"),
            (["runs", "show", "x"], "write the number of a row, such as 12, not 'x'"),
            (["runs", "--state", "green"], "invalid choice: 'green'"),
            (["emit", "a", "k", "--extra", "[1]"], "write a JSON object"),
            (["emit", "a", "k", "--extra", "{"], "is no JSON"),
            (["trigger", "d", "--run-after", "soon"], "write a date like 2026-03-01"),
            (["backfill"], "the following arguments are required: DEED"),
            (["completion", "fish"], "invalid choice: 'fish'"),
        ],
    )
    def test_that_are_wrong_are_answered_in_a_sentence_and_with_two(self, words, sentence, capsys):
        with pytest.raises(SystemExit) as end:
            program.main(words)
        assert end.value.code == 2
        told = capsys.readouterr().err
        assert sentence in told
        assert told.count("\n") == 1
        assert "--help says what it takes" in told

    def test_hide_no_command_of_ours_in_manage_py(self):
        """`names.rewritten` reads those words first: such a command could not be reached."""
        ours = {name for name, application in get_commands().items() if application == "partitions_site"}
        assert "sync_definitions" in ours
        assert not ours & set(names.COMMANDS)

    def test_version(self, capsys):
        with pytest.raises(SystemExit):
            program.main(["--version"])
        assert capsys.readouterr().out.startswith("Partita 0.")

    def test_are_those_of_manage_py_as_well(self):
        assert names.rewritten(["manage.py", "held", "--json"]) == ["manage.py", "partita", "held", "--json"]
        assert names.rewritten(["manage.py", "check", "--deploy"]) == ["manage.py", "check", "--deploy"]
        assert names.rewritten(["manage.py", "migrate"]) == ["manage.py", "migrate"]
        assert names.rewritten(["manage.py"]) == ["manage.py"]


@pytest.mark.django_db
class TestAnswers:
    def test_a_refusal_is_one_sentence_and_one(self, capsys):
        assert partita("dags", "show", "nope") == (1, "")
        assert capsys.readouterr().err == "partita: no Dag is called nope: `partita dags` lists them\n"

    def test_json_may_be_asked_for_before_or_after_the_deed(self):
        for words in (["held", "--json"], ["dags", "--json"], ["runs", "--json"], ["pools", "--json"]):
            assert json.loads(partita(*words)[1]) == []
        assert json.loads(partita("keys", "list", "--json")[1]) == []

    @pytest.mark.parametrize("words", [["tokens"], ["sensors"], ["grants"], ["assets"], ["dags"], ["runs"]])
    def test_where_there_is_nothing_at_all_such_is_not_said(self, words):
        [thing] = words
        assert partita(*words) == (0, f"There are no {thing.replace('dags', 'Dags')}.\n")

    @pytest.mark.parametrize(
        "name", ["assets", "held", "dags", "runs", "sensors", "tokens", "grants", "pools"]
    )
    def test_what_a_command_alone_lists_it_lists_when_told_to(self, name):
        assert partita(name, "list") == partita(name)
        assert json.loads(partita(name, "list", "--json")[1]) == []

    @pytest.mark.parametrize("words", [["--match", "x", "list"], ["list", "--match", "x"]])
    def test_a_list_is_narrowed_before_or_after_the_word(self, words):
        assert partita("dags", *words)[1] == "There are no such Dags.\n"

    def test_a_database_that_is_not_there_is_said(self, settings, monkeypatch, capsys):
        from django.db import OperationalError

        from partitions_site.cli import held

        def broken(*_, **__):
            raise OperationalError("no such table: core_heldrun")

        monkeypatch.setattr(held.board, "held_runs", broken)
        assert partita("held")[0] == 1
        assert "no such table" in capsys.readouterr().err

    def test_through_call_command(self):
        out = io.StringIO()
        call_command("partita", "held", stdout=out)
        assert out.getvalue() == "Nothing waits.\n"
        with pytest.raises(CommandError):
            call_command("partita", "runs", "show", "1", stdout=out)


class TestReplies:
    def test_a_table_is_as_wide_as_its_cells(self):
        rows = [{"a": "long key", "b": 1}, {"a": "k", "b": None}]
        assert replies.table(rows, {"a": "KEY", "b": "N"}, "none").lines == [
            "KEY       N",
            "long key  1",
            "k         -",
        ]

    def test_of_nothing_says_so(self):
        assert replies.table([], {"a": "KEY"}, "There is none.").lines == ["There is none."]

    def test_what_somebody_wrote_moves_no_cursor(self):
        [_, line] = replies.table([{"a": "\x1b[2Jgone\n"}], {"a": "KEY"}, "").lines
        assert line == "\\x1b[2Jgone\\n"

    def test_a_sheet_has_a_line_for_each_value(self):
        row = {"name": "x", "tags": ["a", "b"], "paused": True, "counts": {"failed": 2, "missing": 0}}
        assert replies.sheet(row).lines == [
            "name    x",
            "tags    a, b",
            "paused  yes",
            "counts  2 failed",
        ]


class TestCompletion:
    def completed(self, shell_words):
        script = partita("completion", "bash")[1]
        words = " ".join(f"'{word}'" for word in shell_words)
        typed = f"COMP_WORDS=({words}); COMP_CWORD={len(shell_words) - 1}"
        asked = f"{script}\n{typed}; _partita; echo ${{COMPREPLY[*]}}"
        ran = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
        assert ran.stderr == ""
        return ran.stdout.split()

    @pytest.mark.parametrize(
        ("words", "found"),
        [
            (["partita", "he"], ["held"]),
            (["partita", "held", "f"], ["fire"]),
            (["partita", "held", "fire", "3", "--re"], ["--reason"]),
            (["partita", "held", "--dag", "x", "can"], ["cancel"]),
            (["./partita", "backfill", "start", "--chai"], ["--chained"]),
            (["partita", "trigger", "--no"], ["--note"]),
            (["partita", "nonsense"], []),
        ],
    )
    def test_in_bash(self, words, found):
        assert self.completed(words) == found

    def test_knows_every_command(self):
        found = tree(program.build())
        assert {f"/{name}" for name in names.COMMANDS} < found.keys()
        assert "--json" in found["/runs/show"]

    def test_in_zsh_has_the_same_words(self):
        script = partita("completion", "zsh")[1]
        assert script.startswith("#compdef partita")
        assert '"/held/fire") options="--help' in script


def manage(*words, **environment):
    return subprocess.run(
        [sys.executable, str(HOME / "manage.py"), *words],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        cwd=HOME,
    )


class TestProcess:
    def test_exit_status_and_streams(self, tmp_path):
        variables = {"PARTITA_DATA_DIR": str(tmp_path), "DATABASE_URL": "", "REDIS_URL": ""}
        wrong = manage("held", "--limit", "x", **variables)
        assert (wrong.returncode, wrong.stdout) == (2, "")
        empty = manage("held", **variables)
        assert (empty.returncode, empty.stdout) == (1, "")
        assert "`partita migrate`" in empty.stderr
        assert "Traceback" not in empty.stderr

    def test_a_word_that_is_no_command_is_answered_with_all_of_them(self):
        wrong = manage("nonsense", PARTITA_CALLED="./partita")
        assert (wrong.returncode, wrong.stdout) == (2, "")
        first, *rest = wrong.stderr.splitlines()
        assert first == "./partita: there is no command 'nonsense'"
        assert {line.split()[0] for line in rest if line.startswith("  ")} == {*names.COMMANDS}
        assert "is it 'partitions'?" in manage("partition").stderr

    def test_the_help_of_the_one_entry_names_every_command(self):
        words = [sys.executable, str(HOME / "partita"), "--help"]
        told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        assert names.COMMANDS.keys() <= set(re.findall(r"\w+", told))

    def test_answers_in_the_name_that_was_typed(self, monkeypatch, capsys, db):
        monkeypatch.setattr(names, "CALLED", ["./partita"])
        assert partita("dags", "show", "nope")[0] == 1
        assert capsys.readouterr().err == "./partita: no Dag is called nope: `./partita dags` lists them\n"
        with pytest.raises(SystemExit):
            partita("runs", "--limit", "x")
        assert "./partita runs --help" in capsys.readouterr().err

    def test_alone_needs_a_path(self):
        assert launch.alone(["--strict"]) == {}
        assert launch.alone(["x.py"])["PARTITA_DEFINITIONS"] == "none"
