from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from scheduling import definitions
from scheduling.algebra.phrases import some


class Command(BaseCommand):
    help = (
        "Load every definition file and write what it defines. What none of them defines any more becomes "
        "inactive. Ends with 1 if a file cannot be loaded or a Dag can never work."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "sources",
            nargs="*",
            metavar="PATH_OR_MODULE",
            help="all the sources there are (default: those of PARTITA_DEFINITIONS)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        report = definitions.sync(options["sources"] or settings.DEFINITIONS, at=datetime.now(UTC))
        assets, dags = some(report.assets, "asset"), some(report.dags, "Dag")
        self.stdout.write(f"{some(report.files - report.failed, 'file')}, {assets}, {dags}")
        if not report.ok:
            raise CommandError("\n".join(report.troubles))
