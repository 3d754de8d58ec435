import getpass
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scheduling import dynamic
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.phrases import some
from scheduling.journal import Deed


class Command(BaseCommand):
    help = "List, add and remove the keys of dynamic partitions. What is removed keeps its history."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", choices=["list", "add", "remove"])
        parser.add_argument("name", help="what the partitions are called")
        parser.add_argument("keys", nargs="*", metavar="KEY")
        parser.add_argument("--by", default=getpass.getuser(), help="who does it (default: you)")
        parser.add_argument("--reason", default="", help="for the journal")

    def handle(self, *args: Any, **options: Any) -> None:
        name, keys = options["name"], options["keys"]
        if options["what"] == "list":
            for key in dynamic.keys_of(name):
                self.stdout.write(key)
            return
        if not keys:
            raise CommandError(f"name the keys to {options['what']}")
        change = dynamic.add if options["what"] == "add" else dynamic.remove
        deed = Deed(by=options["by"], via="cli", reason=options["reason"])
        try:
            changed = change(name, keys, deed=deed, at=datetime.now(UTC))
        except PartitionError as error:
            raise CommandError(str(error)) from error
        done = "added" if options["what"] == "add" else "removed"
        self.stdout.write(f"{some(len(changed), 'key')} {done}, {len(dynamic.keys_of(name))} there now")
