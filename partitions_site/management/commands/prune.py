from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand

from scheduling import retention


class Command(BaseCommand):
    help = (
        "Delete logs, runs, events and journal entries that are older than the settings let them get, and "
        "that nothing needs. Beat has it done once a day."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only say how much would go, at least")

    def handle(self, *args: Any, **options: Any) -> None:
        now, ages = datetime.now(UTC), retention.ages()
        counts = retention.count(ages, now=now) if options["dry_run"] else retention.prune(ages, now=now)
        for noun, count in (counts or {}).items():
            self.stdout.write(f"{count} {noun}")
