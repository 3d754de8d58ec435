import argparse
from pathlib import Path

import pytest

from partitions_site import launch


@pytest.fixture
def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(exit_on_error=False)
    launch.add_options(parser)
    return parser


class TestVariables:
    def test_without_options_the_examples_are_loaded(self):
        assert launch.variables([], {}) == {"PARTITA_DEFINITIONS": "scheduling.examples"}

    def test_definitions_come_beside_the_examples(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("sales.py").touch()
        chosen = launch.variables(["--definitions", "sales.py", "--definitions", "shop.assets"], {})
        assert chosen["PARTITA_DEFINITIONS"] == f"scheduling.examples,{tmp_path}/sales.py,shop.assets"

    def test_no_demo_leaves_the_examples_out(self):
        assert launch.variables(["--no-demo"], {})["PARTITA_DEFINITIONS"] == "none"
        chosen = launch.variables(["--no-demo", "--definitions", "shop"], {})
        assert chosen["PARTITA_DEFINITIONS"] == "shop"

    def test_options_add_to_what_the_environment_names(self):
        chosen = launch.variables(["--definitions", "b"], {"PARTITA_DEFINITIONS": "a"})
        assert chosen["PARTITA_DEFINITIONS"] == "a,b"
        assert launch.variables(["--definitions", "b"], {"PARTITA_DEFINITIONS": "none"}) == {
            "PARTITA_DEFINITIONS": "b"
        }

    def test_a_source_named_twice_is_loaded_once(self):
        chosen = launch.variables(["--definitions", "a", "--definitions", "a", "--no-demo"], {})
        assert chosen["PARTITA_DEFINITIONS"] == "a"

    def test_the_directory_is_made_absolute(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert launch.variables(["--data", "here"], {})["PARTITA_DATA_DIR"] == str(tmp_path / "here")

    def test_workers_are_passed_on(self):
        assert launch.variables(["--workers", "9"], {})["PARTITA_WORKERS"] == "9"

    def test_options_of_django_do_not_disturb(self):
        assert "PARTITA_WORKERS" in launch.variables(["--verbosity", "2", "--workers", "9"], {})

    @pytest.mark.parametrize("wrong", [["--port", "web"], ["--workers"], ["--user", "ann"]])
    def test_wrong_options_are_left_for_the_command_to_report(self, wrong):
        assert launch.variables(wrong, {}) == {}


class TestAlone:
    @pytest.mark.parametrize(
        "words",
        [
            [],
            ["--strict"],
            ["--ignore", "circle"],
            ["--ignore=circle", "--json"],
            ["--strict", "--ignore", "circle", "--ignore", "unused"],
            ["--ignore"],
        ],
    )
    def test_without_a_path_the_installation_is_looked_at(self, words):
        assert launch.alone(words) == {}

    @pytest.mark.parametrize(
        "words", [["sales.py"], ["--strict", "sales.py"], ["sales.py", "--ignore", "circle"], ["--", "-x.py"]]
    )
    def test_a_path_gets_a_database_of_its_own(self, words):
        chosen = launch.alone(words)
        assert Path(chosen["PARTITA_DATA_DIR"]).is_dir()
        assert (chosen["PARTITA_DEFINITIONS"], chosen["DATABASE_URL"]) == ("none", "")


class TestOptions:
    def test_a_login_is_a_name_and_a_password(self, parser):
        assert parser.parse_args(["--user", "ann:a:b"]).user == ("ann", "a:b")

    @pytest.mark.parametrize("written", ["ann", "ann:", ":secret"])
    def test_half_a_login_is_refused(self, parser, written):
        with pytest.raises(argparse.ArgumentError, match="write NAME:PASSWORD"):
            parser.parse_args(["--user", written])

    @pytest.mark.parametrize("written", ["0", "65536", "-1", "web"])
    def test_a_port_that_is_none_is_refused(self, parser, written):
        with pytest.raises(argparse.ArgumentError, match="--port"):
            parser.parse_args([f"--port={written}"])

    def test_at_least_one_worker(self, parser):
        with pytest.raises(argparse.ArgumentError, match="at least 1 Dag run"):
            parser.parse_args(["--workers", "0"])

    def test_a_comma_would_split_a_path(self, parser):
        with pytest.raises(argparse.ArgumentError, match="may not hold a comma"):
            parser.parse_args(["--definitions", "a,b.py"])
