from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.models import Asset
from scheduling import drawings


class Command(BaseCommand):
    help = (
        "Make the drawings of assets anew, from which pages show their bars and grids. Workers keep drawings "
        "exact by themselves; this is for a database that somebody has changed by hand."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("assets", nargs="*", help="names of assets; all of them by default")

    def handle(self, *args: Any, **options: Any) -> None:
        assets = (
            Asset.objects.filter(name__in=options["assets"]) if options["assets"] else Asset.objects.all()
        )
        unknown = set(options["assets"]) - set(assets.values_list("name", flat=True))
        if unknown:
            raise CommandError(f"no asset is called {', '.join(sorted(unknown))}")
        try:
            drawings.forget(assets)
        except drawings.Busy as busy:
            raise CommandError(str(busy)) from None
        drawn = 0
        while count := drawings.draw(now=datetime.now(UTC)):
            drawn += count
        self.stdout.write(
            f"drew {assets.count()} assets; {drawn} partitions and held runs were not drawn yet"
        )
