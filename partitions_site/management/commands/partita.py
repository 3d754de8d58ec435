import sys
from argparse import REMAINDER, ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from partitions_site.cli import program


class Command(BaseCommand):
    help = "Assets, their partitions, and what runs for them: `partita --help` lists the commands."
    requires_system_checks = []

    def run_from_argv(self, argv: list[str]) -> None:
        """Its words are read by its own parser, `--help` too."""
        sys.exit(program.main(argv[2:]))

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("words", nargs=REMAINDER)

    def handle(self, *args: Any, **options: Any) -> None:
        if status := program.main(options["words"], self.stdout):  # type: ignore[arg-type]
            raise CommandError("the command failed", returncode=status)
