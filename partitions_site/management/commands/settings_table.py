from typing import Any

from django.core.management.base import BaseCommand

from partitions_site.environment import markdown_table
from partitions_site.settings import env


class Command(BaseCommand):
    help = "Print the table of settings that docs/operations.md holds."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(markdown_table(env.knobs))
