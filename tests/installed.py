"""An installation in processes of its own, for tests that start, use and kill it."""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from tests.servers import free_port

HOME = Path(__file__).parents[1]
LOGIN = ("tester", "correct horse battery")
DATABASE = "partita.sqlite3"
READY = re.compile(r"Partita is running: http://127\.0\.0\.1:(\d+)/")


class Installation:
    """`manage.py up` on a data directory; `environment` adds `DATABASE_URL` and the like.

    One that `makes_tables` begins without any, as people's do. Others on SQLite get a copy, which is quicker.
    """

    def __init__(self, directory: Path, *options: str, environment: Mapping[str, str] | None = None) -> None:
        self.directory = directory
        self.port = free_port()
        self._options = ["--port", str(self.port), "--data", str(directory), *options]
        self.makes_tables = False
        self._environment = dict(environment or {})
        self._starts = 0
        self.token = ""
        self.supervisor: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and return when it says that it is running."""
        self.directory.mkdir(exist_ok=True)
        if not (self.makes_tables or "DATABASE_URL" in self._environment or self._starts):
            self._take_tables()
        self._starts += 1
        with self._output_of(self._starts).open("wb") as output:
            self.supervisor = self.popen("up", *self._options, stdout=output, stderr=output)
        self.wait_for(lambda: READY.search(self.output()) or self.supervisor.poll() is not None, seconds=60)
        assert self.supervisor.poll() is None, self.output()

    def popen(
        self, *command: str, environment: Mapping[str, str] = MappingProxyType({}), **options: Any
    ) -> subprocess.Popen[bytes]:
        """Any command of manage.py on this installation."""
        return subprocess.Popen(
            [sys.executable, str(HOME / "manage.py"), *command],
            env=self.environment() | {"PYTHONUNBUFFERED": "1"} | dict(environment),
            start_new_session=True,
            **options,
        )

    def environment(self) -> dict[str, str]:
        ours = ("PARTITA_", "DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL", "DJANGO_")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        return inherited | self._environment | {"PARTITA_DATA_DIR": str(self.directory)}

    def output(self) -> str:
        """What it has said since its last start."""
        return self._output_of(self._starts).read_text() if self._starts else ""

    def all_output(self) -> str:
        return "".join(self._output_of(start).read_text() for start in range(1, self._starts + 1))

    def interrupt(self) -> int:
        """Ctrl-C, and the exit code."""
        self.supervisor.send_signal(signal.SIGINT)
        return self.supervisor.wait(30)

    def processes(self) -> list[int]:
        """All processes of this installation, whoever started them: they share its data directory."""
        mark = f"PARTITA_DATA_DIR={self.directory}".encode()
        found = []
        for directory in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (directory / "environ").read_bytes().split(b"\0"):
                    found.append(int(directory.name))
        return found

    def kill_everything(self) -> None:
        """SIGKILL for every process, the supervisor first so that it starts nothing again."""
        if self.supervisor:
            self.supervisor.kill()
            self.supervisor.wait()
        while alive := self.processes():
            for pid in alive:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    def request(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Status and JSON of an answer of the API."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if "json" in answer.headers.get(
                "Content-Type", ""
            ) else text
        finally:
            connection.close()

    def _take_tables(self) -> None:
        database = self.directory / DATABASE
        if not database.exists():
            shutil.copy(Path(_tables().name) / DATABASE, database)

    def _output_of(self, start: int) -> Path:
        return self.directory / f"output{start}.txt"

    def answers(self) -> bool:
        """Whether the web process takes connections yet."""
        try:
            return self.request("GET", "/api/v2/version")[0] == 200
        except OSError:
            return False

    def sign_in(self) -> None:
        name, password = LOGIN
        status, answer = self.request("POST", "/auth/token", {"username": name, "password": password})
        assert status == 201, answer
        self.token = answer["access_token"]

    def wait_for(self, question: Callable[[], Any], seconds: float = 30) -> Any:
        deadline = time.monotonic() + seconds
        while not (answer := question()):
            assert time.monotonic() < deadline, f"not within {seconds} s; it said:\n{self.output()[-4000:]}"
            time.sleep(0.05)
        return answer

    def address(self) -> str:
        return urlsplit(f"http://127.0.0.1:{self.port}/").geturl()


@cache
def _tables() -> tempfile.TemporaryDirectory[str]:
    """Holds a database in which nothing is but the tables, and goes when this process ends."""
    made = tempfile.TemporaryDirectory(prefix="partita-tables-")
    assert Installation(Path(made.name)).popen("migrate", "--verbosity", "0").wait(120) == 0
    return made
