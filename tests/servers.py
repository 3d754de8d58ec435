"""Finds or starts the servers that tests talk to, and says how to get those that are missing.

`python -m tests.servers COMMAND ...` runs a command with `DATABASE_URL` and `REDIS_URL` set to such servers.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import redis

INSTALL = {
    "PostgreSQL": "apt-get install postgresql",
    "Redis": "apt-get install redis-server",
    "Chromium": "apt-get install chromium",
}
RUNNING_POSTGRES = "postgres://postgres@127.0.0.1:5432/postgres"
EMPTY = "template1"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Missing(Exception):
    """A server that is not on this machine; the message says how to get it."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"needs {name}: {INSTALL[name]}")


def chromium_path() -> str:
    """Where the browser is.

    :raises Missing: if there is none.
    """
    for name in BROWSERS:
        if path := shutil.which(name):
            return path
    raise Missing("Chromium")


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of a maintenance database of a server that runs already, or of a private one.

    :raises Missing: if there is neither.
    """
    running = os.environ.get("PARTITA_TEST_POSTGRES", RUNNING_POSTGRES)
    try:
        psycopg.connect(running, connect_timeout=2).close()
    except psycopg.OperationalError:
        with _private_postgres() as url:
            yield url
    else:
        yield running


@contextmanager
def empty_postgres_database(server: str, name: str, template: str = EMPTY) -> Iterator[str]:
    """A new database `name` on `server`, dropped afterwards whoever is connected to it.

    :param template: the name of a database that it begins as a copy of.
    """
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    try:
        yield server.rsplit("/", 1)[0] + f"/{name}"
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@contextmanager
def private_redis(port: int = 0) -> Iterator[str]:
    """The URL of an empty Redis of our own, on `port` or a free one; nobody else's keys are near.

    :raises Missing: if its program is not installed.
    """
    program = shutil.which("redis-server")
    if not program:
        raise Missing("Redis")
    port = port or free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    server = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    url = f"redis://127.0.0.1:{port}/0"
    try:
        _wait_for(lambda: redis.Redis.from_url(url).ping(), redis.ConnectionError)
        yield url
    finally:
        server.terminate()
        server.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _private_postgres() -> Iterator[str]:
    programs = _postgres_programs()
    # The server refuses to run as root, so root lends it the account that its package made.
    account = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="partita-pg-") as directory:
        if account:
            shutil.chown(directory, "postgres")
        cluster, port = f"{directory}/cluster", free_port()
        initdb = [f"{programs}/initdb", "-D", cluster, "-U", "postgres", "-A", "trust", "-N"]
        options = (
            f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={directory} -c fsync=off"
        )
        pg_ctl = [*account, f"{programs}/pg_ctl", "-D", cluster, "-w", "-s", "-l", f"{directory}/log"]
        subprocess.run([*account, *initdb], check=True, stdout=subprocess.DEVNULL, cwd=directory)
        subprocess.run(
            [*pg_ctl, "-o", options, "start"], check=True, stdout=subprocess.DEVNULL, cwd=directory
        )
        try:
            yield f"postgres://postgres@127.0.0.1:{port}/postgres"
        finally:
            subprocess.run([*pg_ctl, "-m", "immediate", "stop"], check=True, cwd=directory)


def _postgres_programs() -> Path:
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    on_path = shutil.which("initdb")
    if not debian and not on_path:
        raise Missing("PostgreSQL")
    return debian[-1] if debian else Path(str(on_path)).parent


def _wait_for(question, error: type[Exception], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            question()
            return
        except error:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _run_with_servers(command: list[str]) -> int:
    with ExitStack() as stack:
        environment = dict(os.environ)
        try:
            server = stack.enter_context(postgres())
            # A name of our own, which the test databases are named after: somebody else may test as well.
            own = empty_postgres_database(server, f"partita_suite_{os.getpid()}")
            environment["DATABASE_URL"] = stack.enter_context(own)
        except Missing as missing:
            sys.stderr.write(f"NOT RUN HERE: the suite on PostgreSQL {missing}\n")
            return 1 if os.environ.get("CI") == "true" else 0
        with contextlib.suppress(Missing):
            environment["REDIS_URL"] = stack.enter_context(private_redis())
        return subprocess.run(command, env=environment).returncode


if __name__ == "__main__":
    # Told to end, the servers end as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(_run_with_servers(sys.argv[1:]))
