import errno
import socket
import sys
import threading
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, connection
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerAway

from partitions_site import launch
from partitions_site.alone import AlreadyRunning, sole_use
from partitions_site.celery import app
from partitions_site.login import Login, ensure_login
from partitions_site.supervisor import Child, ChildKeepsEnding, supervise
from scheduling import definitions, demo
from scheduling.algebra.phrases import some
from scheduling.configuration import SyncReport


class Command(BaseCommand):
    help = (
        "Start everything in the foreground: database, definitions, login, pages and engine. Ctrl-C stops it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        launch.add_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        _refuse_taken_port(host, port)
        _refuse_second_engine()
        _refuse_silent_broker()
        self._prepare_database()
        self._load_definitions()
        login = ensure_login(options["user"])
        connection.close()
        threading.Thread(target=self._announce, args=(host, port, login), daemon=True).start()
        try:
            supervise(_children(host, port))
        except ChildKeepsEnding as error:
            raise CommandError(f"{error}. Its last words are above.") from error
        self.stdout.write("Stopped.")

    def _prepare_database(self) -> None:
        settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
        try:
            call_command("migrate", verbosity=0, interactive=False)
        except OperationalError as error:
            raise CommandError(f"The database of DATABASE_URL cannot be used: {error}") from error
        self.stdout.write(f"Database: {connection.settings_dict['NAME']} ({connection.display_name})")

    def _load_definitions(self) -> None:
        report = definitions.sync(settings.DEFINITIONS, at=timezone.now())
        assets, dags = some(report.assets, "asset"), some(report.dags, "Dag")
        self.stdout.write(f"Definitions: {some(report.files - report.failed, 'file')}, {assets}, {dags}")
        if report.troubles:  # the engine says what they are when it starts
            self.stderr.write(self.style.ERROR(f"{_counted(report)}: see below"))
        if queued := demo.begin(at=timezone.now()):
            self.stdout.write(f"Demo: {queued} runs are queued that replay a week of temperatures")

    def _announce(self, host: str, port: int, login: Login) -> None:
        while not _answers(host, port):
            time.sleep(0.1)
        address = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}/"  # noqa: S104
        self.stdout.write(
            f"\nPartita is running: {address}\n  name      {login.name}\n  password  {login.password}\n"
        )
        if settings.DATA_DIR != settings.BASE_DIR / "var":
            self.stdout.write(f"Other commands find it with PARTITA_DATA_DIR={settings.DATA_DIR}\n")
        self.stdout.write("Ctrl-C stops it.\n")
        self.stdout.flush()


def _counted(report: SyncReport) -> str:
    failed = [f"{some(report.failed, 'file')} cannot be loaded"] if report.failed else []
    others = len(report.troubles) - report.failed
    return ", ".join(failed + ([f"{some(others, 'problem')} in what is loaded"] if others else []))


def _children(host: str, port: int) -> list[Child]:
    web = _child("web", "--host", host, "--port", str(port))
    if settings.EMBEDDED:
        return [web, _child("engine")]
    deciding = _child("worker", "--queues", "engine", "--pool", "threads", "--workers", "2")
    return [web, _child("beat"), deciding, _child("worker", "--queues", "work")]


def _child(command: str, *arguments: str) -> Child:
    manage = Path(settings.BASE_DIR) / "manage.py"
    return Child(command, [sys.executable, str(manage), command, *arguments])


def _refuse_taken_port(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(f"{_way_out(error, host, port)} ({error.strerror})") from error


def _way_out(error: OSError, host: str, port: int) -> str:
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return f"This machine has no address {host}: choose another with --host"
    return (
        f"Port {port} on {host} cannot be used. "
        "Stop what uses it, or choose another: ./partita up --port NUMBER"
    )


def _refuse_second_engine() -> None:
    try:
        with sole_use(settings.DATA_DIR):
            return
    except AlreadyRunning as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        raise CommandError(
            f"The data directory {settings.DATA_DIR} cannot be used: {error.strerror}"
        ) from error


def _refuse_silent_broker() -> None:
    with app.connection_for_write() as broker:
        try:
            broker.ensure_connection(max_retries=1)
        except BrokerAway as error:
            raise CommandError(f"The broker at {broker.as_uri()} does not answer: {error}") from error


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True
