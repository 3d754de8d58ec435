import os
import socket
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from scheduling import definitions, demo
from scheduling.journal import Deed

COLUMNS = (
    TextColumn("{task.description}"),
    BarColumn(),
    MofNCompleteColumn(),
    TextColumn("days of a city"),
    TimeElapsedColumn(),
)


class Command(BaseCommand):
    help = (
        "Replay the year of temperatures of scheduling.examples through the engine: with the processes of an "
        "installation beside it, or doing all of their work itself."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--from", dest="first", type=_day, default=date(demo.YEAR, 1, 1), metavar="DATE")
        parser.add_argument("--days", type=_count, default=365, metavar="N", help="days to replay (all: 365)")
        parser.add_argument(
            "--city",
            action="append",
            choices=demo.CITIES,
            help="one city; may be given more than once (default: all)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        days = [each for each in demo.days_from(options["first"], options["days"]) if each.year == demo.YEAR]
        definitions.sync(settings.DEFINITIONS, at=_now())
        try:
            pks = demo.replay(
                demo.parts(days, options["city"] or demo.CITIES),
                deed=Deed(by="load_demo", via="cli"),
                at=_now(),
            )
        except demo.NoDemo as error:
            raise CommandError(str(error)) from error
        _drive(pks, Console(file=self.stdout))  # type: ignore[arg-type]
        for sentence in demo.outcome():
            self.stdout.write(sentence)


def _drive(pks: Sequence[int], console: Console) -> None:
    worker = f"load_demo:{socket.gethostname()}:{os.getpid()}"
    with Progress(*COLUMNS, console=console, redirect_stdout=False, redirect_stderr=False) as progress:
        bar = progress.add_task("Replaying", total=len(pks))
        while demo.turn(worker=worker, clock=_now) or not demo.is_settled():
            progress.update(bar, completed=len(pks) - demo.unfinished(pks))
        progress.update(bar, completed=len(pks))


def _now() -> datetime:
    return datetime.now(UTC)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"write a date of {demo.YEAR} like {demo.YEAR}-03-08, not {text!r}") from None


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"a number of days from 1 on, not {text!r}")
    return int(text)
