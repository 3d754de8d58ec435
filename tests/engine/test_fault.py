"""The points at which chaos tests kill: armed in a process of their own, and nothing otherwise."""

import signal
import subprocess
import sys
import tempfile

import pytest

from scheduling import fault
from scheduling.fault import Fault

SETTINGS = {"DJANGO_SETTINGS_MODULE": "partitions_site.settings", "PARTITA_SECRET_KEY": "any"}
PASS = "from scheduling import fault\nfor point in {points}: fault.passing(point); print(point, flush=True)"


def run(setting, *points):
    """The exit code of a process that passes `points`, and those it got through."""
    ended = subprocess.run(
        [sys.executable, "-c", PASS.format(points=list(points))],
        env={"PARTITA_FAULT": setting, "PARTITA_DATA_DIR": tempfile.gettempdir()} | SETTINGS,
        capture_output=True,
        text=True,
    )
    return ended.returncode, ended.stdout.split()


class TestFault:
    def test_it_kills_at_its_point_when_that_is_passed_so_often(self):
        code, passed = run("judging:2", "judging", "mapping", "mapping", "judging", "judging")
        assert (code, passed) == (-signal.SIGKILL, ["judging", "mapping", "mapping"])

    def test_with_a_file_it_kills_one_process_only(self, tmp_path):
        setting = f"emitting:1:{tmp_path}/once"
        assert run(setting, "emitting")[0] == -signal.SIGKILL
        assert run(setting, "emitting") == (0, ["emitting"])

    @pytest.mark.parametrize("text", ["judgment:1", "judging", "judging:often"])
    def test_a_fault_that_cannot_strike_is_refused(self, text):
        with pytest.raises(ValueError):
            Fault(text)

    def test_unset_a_point_does_nothing(self):
        assert fault.passing is fault._nothing
        assert run("", "mapping", "judging", "executing", "emitting")[0] == 0
