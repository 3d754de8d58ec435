"""Several `./partita` of one checkout at once; the installation waits for a page that a test holds back."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest

HOME = Path(__file__).parents[2]
MANAGE = """
import sys, time
print("manage.py", *sys.argv[1:], flush=True)
time.sleep(60 if sys.argv[1] == "up" else 0)
"""
WAITING = "Another ./partita is installing into .venv; waiting until it has ...\n"


class SlowPage:
    """More requirements, under an address that answers when it is told to."""

    def __init__(self):
        self.is_asked, self.may_answer = Event(), Event()
        page = self

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self):
                page.is_asked.set()
                page.may_answer.wait(60)
                self.send_response(200)
                self.send_header("Content-Type", "text/plain")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def line(self):
        return f"-r http://127.0.0.1:{self.server.server_port}/more.txt\n"


@pytest.fixture
def slow():
    page = SlowPage()
    yield page
    page.may_answer.set()
    page.server.shutdown()


@pytest.fixture
def checkout(tmp_path):
    shutil.copy(HOME / "partita", tmp_path / "partita")
    (tmp_path / "manage.py").write_text(MANAGE)
    for name in ("requirements.txt", "requirements-demo.txt", "requirements-dev.txt"):
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.fixture
def start(checkout):
    started = []

    def one(*arguments: str) -> subprocess.Popen[str]:
        started.append(
            subprocess.Popen(
                [sys.executable, str(checkout / "partita"), *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=os.environ | {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"},
            )
        )
        return started[-1]

    yield one
    for each in started:
        each.kill()
        each.communicate()


class TestTwoFirstCommands:
    def test_install_once_and_both_run(self, checkout, start, slow):
        (checkout / "requirements.txt").write_text(slow.line)
        first = start("migrate")
        assert slow.is_asked.wait(60)
        second = start("sensors")
        assert second.stderr.readline() == WAITING
        slow.may_answer.set()
        assert first.communicate(timeout=60)[0] == "manage.py migrate\n"
        assert second.communicate(timeout=60) == ("manage.py sensors\n", "")

    def test_of_which_the_installing_one_is_killed(self, checkout, start, slow):
        """The other takes over where it was left, and clears nothing."""
        (checkout / "requirements.txt").write_text(slow.line)
        first = start("migrate")
        assert slow.is_asked.wait(60)
        second = start("sensors")
        assert second.stderr.readline() == WAITING
        first.send_signal(signal.SIGKILL)
        slow.may_answer.set()
        told, complaints = second.communicate(timeout=60)
        assert told == "manage.py sensors\n"
        assert "Installing requirements.txt" in complaints
        assert "Making" not in complaints


class TestWhileMoreIsInstalled:
    def test_what_is_there_already_can_be_used(self, checkout, start, slow):
        assert start("migrate").communicate(timeout=60)[0] == "manage.py migrate\n"
        (checkout / "requirements-dev.txt").write_text(slow.line)
        tests = start("test", "--version")
        assert slow.is_asked.wait(60)
        assert start("sensors").communicate(timeout=20) == ("manage.py sensors\n", "")
        slow.may_answer.set()
        assert "No module named pytest" in tests.communicate(timeout=60)[1]
        assert (checkout / ".venv" / "installed.json").read_text().count("requirements") == 3


class TestAnEnvironmentOfAnotherPython:
    def test_is_not_cleared_while_a_command_runs_from_it(self, checkout, start):
        up = start("up")
        assert up.stdout.readline() == "manage.py up\n"
        python = checkout / ".venv" / "bin" / "python"
        python.unlink()
        python.write_text("#!/bin/sh\necho another\n")
        python.chmod(0o755)
        (checkout / ".venv" / "installed.json").unlink()
        refused = start("migrate")
        told, complaints = refused.communicate(timeout=20)
        assert (refused.returncode, told) == (1, "")
        assert "A ./partita runs from .venv, made with another Python. Stop it first" in complaints
        up.kill()
        up.communicate()
        assert start("migrate").communicate(timeout=60)[0] == "manage.py migrate\n"

    def test_is_installed_anew_by_who_waited_for_it_to_be_cleared(self, checkout, start):
        """As a `./partita` of another Python does, which was a moment faster."""
        assert start("migrate").communicate(timeout=60)[0] == "manage.py migrate\n"
        inside = os.open(checkout / ".venv", os.O_RDONLY)
        fcntl.flock(inside, fcntl.LOCK_EX)
        waiting = start("sensors")
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.communicate(timeout=2)
        (checkout / ".venv" / "installed.json").unlink()
        os.close(inside)
        told, complaints = waiting.communicate(timeout=60)
        assert told == "manage.py sensors\n"
        assert "Installing requirements.txt" in complaints
