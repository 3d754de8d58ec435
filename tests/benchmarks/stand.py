"""Where the benchmarks run: servers, a database of their own, and processes of an installation."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import psycopg

from partitions_site import lifeline
from tests import servers
from tests.benchmarks.figures import Figure, report, scale_asked

HOME = Path(__file__).parents[2]
TICK = os.sysconf("SC_CLK_TCK")
MIGRATED = "PARTITA_TEST_MIGRATED"
"""Names a database with nothing but the tables, to begin with a copy of it."""


class Site:
    """Processes on one database and one Redis. This process is one of them: it may use the ORM."""

    def __init__(self, directory: str, database_url: str, redis_url: str) -> None:
        self.database_url = database_url
        self.environment = {
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "CELERY_BROKER_URL": "",
            "PARTITA_DATA_DIR": directory,
            "PARTITA_DEFINITIONS": "none",
            "PARTITA_LOG_LEVEL": "ERROR",
            "PARTITA_REQUESTS_PER_MINUTE": "1000000",  # counted, but never refused
            "DJANGO_SETTINGS_MODULE": "partitions_site.settings",
        }
        self.ports: list[int] = []
        self._directory = Path(directory)
        self._running: list[subprocess.Popen[bytes]] = []
        # However this process ends, what it has started ends as well.
        self._lifeline, self._held = os.pipe()

    def define(self, text: str) -> None:
        """Load definitions, as the processes do that are started afterwards."""
        from django.utils import timezone

        from scheduling import definitions

        path = self._directory / "definitions.py"
        path.write_text(text)
        self.environment["PARTITA_DEFINITIONS"] = str(path)
        troubles = definitions.sync([str(path)], at=timezone.now()).troubles
        if troubles:
            raise RuntimeError(f"the definitions cannot be loaded: {troubles}")

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a command of manage.py."""
        log = (self._directory / f"process{len(self._running)}.txt").open("wb")
        running = subprocess.Popen(
            [sys.executable, str(HOME / "manage.py"), *command],
            env=os.environ | self.environment | {lifeline.VARIABLE: str(self._lifeline)},
            pass_fds=[self._lifeline],
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        self._running.append(running)
        return running

    def start_web(self, processes: int) -> None:
        self.ports = [servers.free_port() for _ in range(processes)]
        for port in self.ports:
            self.start("web", "--port", str(port))
        for port in self.ports:
            self.wait_for(lambda port=port: _answers(port))

    def start_engine(self) -> subprocess.Popen[bytes]:
        """One engine worker, as docker-compose.yml has it, and beat. Returns the worker."""
        worker = self.start("worker", "--queues", "engine", "--pool", "threads", "--workers", "2")
        self.start("beat")
        self.wait_for(lambda: self.row("SELECT count(DISTINCT kind) FROM core_pulse") == (3,))
        return worker

    def row(self, sql: str, *parameters: object) -> Any:
        with psycopg.connect(self.database_url) as connection:
            return connection.execute(sql, parameters).fetchone()

    def cpu(self) -> float:
        """Seconds of processor time of the processes started here, with their children that have ended."""
        return sum(_cpu(each.pid) for each in self._running)

    def database_cpu(self) -> float:
        """The same of the connections that the database serves here, if it is on this machine."""
        with psycopg.connect(self.database_url) as connection:
            rows = connection.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
            return sum(_cpu(pid) for (pid,) in rows)

    def resident(self, process: subprocess.Popen[bytes]) -> int:
        """KiB of memory that one of the processes holds."""
        return resident(process.pid)

    def stop(self) -> None:
        for each in self._running:
            each.terminate()
        for each in self._running:
            try:
                each.wait(30)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()

    def wait_for(self, question: Any, seconds: float = 60) -> None:
        deadline = perf_counter() + seconds
        while not question():
            for each in self._running:
                if each.poll() is not None:
                    raise RuntimeError(f"{each.args} ended: {self._last_words()}")
            if perf_counter() > deadline:
                raise RuntimeError(f"not within {seconds} s: {self._last_words()}")
            time.sleep(0.02)

    def _last_words(self) -> str:
        return "\n".join(path.read_text()[-1000:] for path in self._directory.glob("process*.txt"))


def run(description: str | None, measured: Callable[[Site, float], Iterable[Figure]]) -> int:
    """What a benchmark is as a command: 1 if a bar is missed, or a server is not on this machine."""
    return run_at(scale_asked(description), measured)


def run_at(scale: float, measured: Callable[[Site, float], Iterable[Figure]]) -> int:
    """The same, for a command that has read its options itself."""
    try:
        with site() as made:
            return report(measured(made, scale))
    except servers.Missing as missing:
        print(f"NOT RUN HERE: {missing}")
        return 1


@contextmanager
def site() -> Iterator[Site]:
    """PostgreSQL and Redis, a database that holds no rows, and Django set up on it.

    :raises servers.Missing: if a server is not on this machine.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with ExitStack() as stack:
        server = stack.enter_context(servers.postgres())
        redis_url = stack.enter_context(servers.private_redis())
        name, migrated = f"partita_benchmark_{os.getpid()}", os.environ.get(MIGRATED)
        template = migrated or servers.EMPTY
        url = stack.enter_context(servers.empty_postgres_database(server, name, template))
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        made = Site(directory, url, redis_url)
        os.environ.update(made.environment)
        _prepare(makes_tables=not migrated)
        stack.callback(made.stop)
        yield made


def resident(pid: int | str = "self") -> int:
    """KiB of memory that a process holds."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def _prepare(*, makes_tables: bool) -> None:
    import django
    from django.core.management import call_command

    django.setup()
    if makes_tables:
        call_command("migrate", verbosity=0)


def _cpu(pid: int) -> float:
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(int(field) for field in fields[11:15]) / TICK
    return 0.0


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
