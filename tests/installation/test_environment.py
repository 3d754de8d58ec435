import os
import subprocess
import sys
from pathlib import Path

import pytest

from partitions_site.environment import Environment, Knob, WrongSetting

HOME = Path(__file__).parents[2]


class TestEnvironment:
    def test_gives_the_default_when_a_variable_is_not_set(self):
        env = Environment({})
        assert env.text("A", "one", "") == "one"
        assert env.number("B", 7, "") == 7
        assert env.seconds("C", 0.5, "") == 0.5
        assert env.flag("D", True, "") is True
        assert env.items("E", "x, y", "") == ["x", "y"]

    def test_gives_what_a_variable_says(self):
        env = Environment({"A": "two", "B": "9", "C": "1.25", "D": "no", "E": "p,q ,,r"})
        assert env.text("A", "one", "") == "two"
        assert env.number("B", 7, "") == 9
        assert env.seconds("C", 0.5, "") == 1.25
        assert env.flag("D", True, "") is False
        assert env.items("E", "", "") == ["p", "q", "r"]

    def test_an_empty_variable_counts_as_not_set(self):
        """`VARIABLE=` is how compose files and shells write "nothing"."""
        env = Environment({"A": "", "B": ""})
        assert env.number("A", 7, "") == 7
        assert env.flag("B", True, "") is True

    @pytest.mark.parametrize("written", ["seven", "-1", "1.5"])
    def test_refuses_a_number_that_is_none_and_names_the_variable(self, written):
        with pytest.raises(WrongSetting, match=f"PARTITA_WORKERS must be a whole number.*{written}"):
            Environment({"PARTITA_WORKERS": written}).number("PARTITA_WORKERS", 4, "")

    @pytest.mark.parametrize("written", ["soon", "-0.1", "nan", "inf"])
    def test_refuses_seconds_that_nobody_can_wait(self, written):
        with pytest.raises(WrongSetting, match="A must be a number of seconds"):
            Environment({"A": written}).seconds("A", 1, "")

    def test_refuses_a_flag_that_is_neither_yes_nor_no(self):
        with pytest.raises(WrongSetting, match="A must be yes or no, not 'maybe'"):
            Environment({"A": "maybe"}).flag("A", True, "")

    @pytest.mark.parametrize("written", ["", "https://pager.example/in?team=1", "http://127.0.0.1:9000"])
    def test_takes_an_address(self, written):
        assert Environment({"A": written}).address("A", "") == written

    @pytest.mark.parametrize(
        "written",
        ["pager.example", "ftp://x", "https://", "http://u:secret@x/", "http://x:port", "http://x y"],
    )
    def test_refuses_what_is_no_address(self, written):
        with pytest.raises(WrongSetting, match="A must be an http"):
            Environment({"A": written}).address("A", "")

    def test_alerts_are_signed_or_the_site_does_not_start(self):
        variables = os.environ | {
            "PARTITA_ALERT_URL": "https://pager.example/",
            "PARTITA_ALERT_SECRET": "short",
        }
        refused = subprocess.run(
            [sys.executable, "manage.py", "settings_table"],
            env=variables,
            capture_output=True,
            text=True,
            cwd=HOME,
        )
        assert refused.returncode != 0
        assert "PARTITA_ALERT_SECRET must have 8 characters or more" in refused.stderr

    def test_makes_paths_absolute(self, monkeypatch, tmp_path):
        monkeypatch.chdir(tmp_path)
        env = Environment({"A": "here", "B": "~"})
        assert env.path("A", Path("/x"), "x", "") == tmp_path / "here"
        assert env.path("B", Path("/x"), "x", "") == Path.home()
        assert env.path("C", Path("/x"), "x", "") == Path("/x")

    def test_remembers_every_knob_with_its_default_and_purpose(self):
        env = Environment({"A": "9"})
        env.number("A", 7, "how many")
        env.path("B", Path("/long/way/var"), "var", "where")
        assert env.knobs == [Knob("A", "7", "how many"), Knob("B", "var", "where")]
