"""The entry script in a checkout of its own: real virtual environments, but nothing to install."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
MANAGE = """
import signal, sys, time
print("manage.py", *sys.argv[1:], flush=True)
if sys.argv[1] == "up":
    signal.signal(signal.SIGINT, lambda *_: sys.exit(7))
    time.sleep(30)
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("checkout")
    shutil.copy(HOME / "partita", directory / "partita")
    (directory / "manage.py").write_text(MANAGE)
    for name in ("requirements.txt", "requirements-demo.txt", "requirements-dev.txt"):
        (directory / name).write_text("")
    return directory


def partita(
    checkout: Path, *arguments: str, python: str = sys.executable
) -> subprocess.CompletedProcess[str]:
    command = [python, str(checkout / "partita"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd="/")


class TestPartita:
    def test_alone_it_says_what_it_can_do_and_installs_nothing(self, checkout):
        told = partita(checkout)
        assert "./partita up" in told.stdout
        assert "./partita test" in told.stdout
        assert not (checkout / ".venv").exists()

    def test_the_first_command_makes_the_environment_and_the_second_finds_it(self, checkout):
        first = partita(checkout, "migrate", "--plan")
        assert first.stdout == "manage.py migrate --plan\n"
        assert "Making a virtual environment" in first.stderr
        began = time.monotonic()
        second = partita(checkout, "migrate")
        assert second.stderr == ""
        assert time.monotonic() - began < 2

    def test_it_is_a_command_of_its_own_environment(self, checkout):
        partita(checkout, "migrate")
        (checkout / "manage.py").write_text("import sys; print(sys.prefix)")
        try:
            assert partita(checkout, "where").stdout.strip() == str(checkout / ".venv")
        finally:
            (checkout / "manage.py").write_text(MANAGE)

    def test_other_requirements_are_installed(self, checkout):
        partita(checkout, "migrate")
        (checkout / "requirements.txt").write_text("# another pin\n")
        told = partita(checkout, "migrate")
        assert told.stderr == "Installing requirements.txt ...\n"
        assert partita(checkout, "migrate").stderr == ""

    def test_what_cannot_be_installed_is_said_and_tried_again(self, checkout):
        partita(checkout, "migrate")
        (checkout / "requirements.txt").write_text("partita-without-a-hash==1\n")
        try:
            for _ in range(2):
                told = partita(checkout, "migrate")
                assert told.returncode == 1
                assert "hash" in told.stderr
                assert "The installation failed" in told.stderr
                assert told.stdout == ""
        finally:
            (checkout / "requirements.txt").write_text("")

    def test_an_environment_that_was_taken_away_is_made_again(self, checkout):
        partita(checkout, "migrate")
        shutil.rmtree(checkout / ".venv" / "bin")
        assert partita(checkout, "migrate").stdout == "manage.py migrate\n"

    def test_an_interrupt_reaches_the_command_and_its_code_comes_back(self, checkout):
        partita(checkout, "migrate")
        started = subprocess.Popen(
            [sys.executable, str(checkout / "partita"), "up"], stdout=subprocess.PIPE, text=True
        )
        assert started.stdout.readline() == "manage.py up\n"
        time.sleep(0.2)
        os.kill(started.pid, signal.SIGINT)
        assert started.wait(10) == 7


class TestPythonThatIsTooOld:
    @pytest.fixture
    def run(self, tmp_path, monkeypatch):
        """Run the script as if Python 99 were the oldest that will do."""
        monkeypatch.setenv("PATH", str(tmp_path))
        code = f"""
import importlib.machinery, importlib.util, sys
loader = importlib.machinery.SourceFileLoader("partita", {str(HOME / "partita")!r})
partita = importlib.util.module_from_spec(importlib.util.spec_from_loader("partita", loader))
loader.exec_module(partita)
partita.OLDEST, partita.ACCEPTABLE = (99, 0), ("broken", "newer")
sys.argv = ["./partita", "up", "--port", "8001"]
partita.use_a_python_that_will_do()
"""
        return lambda: subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    def write(self, path: Path, script: str) -> None:
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def test_hands_over_to_a_newer_one_that_works(self, run, tmp_path):
        self.write(tmp_path / "broken", "exit 127")
        self.write(tmp_path / "newer", 'echo "$@"')
        assert run().stdout == "./partita up --port 8001\n"

    def test_says_so_when_there_is_none(self, run, tmp_path):
        self.write(tmp_path / "broken", "exit 127")
        told = run()
        assert told.returncode == 1
        assert "Partita needs Python 99.0 or newer; this is 3." in told.stderr
