import getpass
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.models import Asset
from scheduling import wiping
from scheduling.algebra.errors import PartitionError
from scheduling.journal import Deed


class Command(BaseCommand):
    help = "Say that partitions of an asset have no data any more. Their events and runs stay on record."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("asset", help="its name")
        parser.add_argument("keys", nargs="+", metavar="KEY")
        parser.add_argument("--by", default=getpass.getuser(), help="who does it (default: you)")
        parser.add_argument("--reason", default="", help="for the journal")

    def handle(self, *args: Any, **options: Any) -> None:
        asset = Asset.objects.filter(name=options["asset"]).first()
        if asset is None:
            raise CommandError(f"no asset is called {options['asset']!r}")
        deed = Deed(by=options["by"], via="cli", reason=options["reason"])
        try:
            wiped = wiping.wipe(asset, options["keys"], deed=deed, at=datetime.now(UTC))
        except PartitionError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{len(wiped)} of {len(set(options['keys']))} partitions had data, and have none now"
        )
