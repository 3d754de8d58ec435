"""An installation in parts: pages, beat and workers that a test starts, freezes and kills one by one."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import psycopg

from tests.installed import HOME, LOGIN, Installation

PREPARE = """
import sys
import django; django.setup()
from django.conf import settings
from django.core.management import call_command
from django.utils import timezone
from partitions_site.login import ensure_login
from scheduling import definitions
call_command("migrate", verbosity=0)
ensure_login(tuple(sys.argv[1:]))
for trouble in definitions.sync(settings.DEFINITIONS, at=timezone.now()).troubles:
    sys.exit(trouble)
"""
DEADLOCKS = "select deadlocks from pg_stat_database where datname = current_database()"
ENGINE = ("worker", "--queues", "engine", "--pool", "threads", "--workers", "2")
WORK = ("worker", "--queues", "work", "--workers", "2")


class Parts(Installation):
    """`running`: the processes by name, each the leader of a group that holds all it has started.

    :param environment: of all of them; intervals are short unless it says otherwise.
    """

    def __init__(
        self, directory: Path, database: str, redis: str, definitions: str | Path, **environment: str
    ) -> None:
        settings = {
            "DATABASE_URL": database,
            "REDIS_URL": redis,
            "PARTITA_DEFINITIONS": str(definitions),
            "DJANGO_SETTINGS_MODULE": "partitions_site.settings",
            "PARTITA_SWEEP_SECONDS": "1",
            "PARTITA_TICK_SECONDS": "0.5",
            "PARTITA_LEASE_SECONDS": "4",
        }
        super().__init__(directory, environment=settings | environment)
        self.url = database
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.directory.mkdir(exist_ok=True)
        self._stack = ExitStack()
        self._said = self._stack.enter_context((directory / "output1.txt").open("ab"))
        self._starts = 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def prepare(self) -> None:
        """Make the tables, a login and what the definitions define."""
        command = [sys.executable, "-c", PREPARE, *LOGIN]
        done = subprocess.run(command, env=self.environment(), cwd=HOME, stdout=self._said, stderr=self._said)
        assert done.returncode == 0, self.output()

    def begin(self, name: str, command: Sequence[str], **environment: str) -> None:
        self.running[name] = subprocess.Popen(
            [sys.executable, str(HOME / "manage.py"), *command],
            env=self.environment() | {"PYTHONUNBUFFERED": "1"} | environment,
            start_new_session=True,
            stdout=self._said,
            stderr=self._said,
        )

    def serve(self) -> None:
        """Start the pages, and return when they answer and somebody has signed in."""
        self.begin("web", ["web", "--port", str(self.port)])
        self.wait_for(self.answers, seconds=90)
        self.sign_in()

    def kill(self, name: str) -> None:
        """SIGKILL for a process and all that it has started."""
        child = self.running.pop(name)
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()

    def end(self) -> None:
        for name in list(self.running):
            self.kill(name)
        self.kill_everything()
        self._stack.close()

    def rows(self, sql: str, *values: object) -> list[tuple]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(sql, values).fetchall()

    def emit(self, asset: str, *keys: str) -> None:
        """Report `keys` in one request; the answer says that they are recorded."""
        [(pk,)] = self.rows("select id from core_asset where name = %s", asset)
        many = [{"asset_id": pk, "partition_key": key} for key in keys]
        status, answer = self.request("POST", "/api/v2/assets/events/bulk", many)
        assert status == 200, answer
