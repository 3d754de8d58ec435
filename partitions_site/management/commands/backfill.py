from argparse import ArgumentParser, Namespace
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from partitions_site.cli import backfill
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.selections import InvalidSelection


class Command(BaseCommand):
    help = "Plan, start, look at and steer backfills: many partitions on request."

    def add_arguments(self, parser: ArgumentParser) -> None:
        backfill.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            reply = options["do"](Namespace(**options))
        except InvalidSelection as wrong:
            raise CommandError(f"{wrong}\n{wrong.pointed()}") from wrong
        except PartitionError as error:
            raise CommandError(str(error)) from error
        for line in reply.lines:
            self.stdout.write(line)
