import getpass
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.models import Pool
from scheduling import slots
from scheduling.algebra.errors import PartitionError
from scheduling.configuration import pools
from scheduling.journal import Deed


class Command(BaseCommand):
    help = "List pools, make one or change its slots, or delete one that no Dag names."

    def add_arguments(self, parser: ArgumentParser) -> None:
        deeds = parser.add_subparsers(dest="deed", metavar="DEED")
        deeds.add_parser("list", help="what each has, and how much of it is taken (this is the default)")
        setting = deeds.add_parser("set", help="make a pool, or change the slots of one")
        setting.add_argument("name")
        setting.add_argument("slots", type=int, help="0 closes it")
        setting.add_argument("--description")
        deeds.add_parser("delete", help="take a pool away").add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        do = {"set": self._set, "delete": self._delete}.get(options["deed"], self._list)
        try:
            do(options)
        except PartitionError as refusal:
            raise CommandError(str(refusal)) from refusal

    def _list(self, options: dict[str, Any]) -> None:
        rows = list(Pool.objects.order_by("name"))
        use = slots.use_of(rows)
        for pool in rows:
            taken, waiting = use[pool.pk].taken, use[pool.pk].waiting
            self.stdout.write(f"{pool.name}: {taken} of {pool.slots} slots taken, {waiting} runs wait")

    def _set(self, options: dict[str, Any]) -> None:
        name, count, description = options["name"], options["slots"], options["description"]
        pool = Pool.objects.filter(name=name).first()
        if pool:
            pools.change(pool, slots=count, description=description, deed=_deed(), at=_now())
        else:
            pools.make(name, count, description=description or "", deed=_deed(), at=_now())
        self.stdout.write(f"{name}: {count} slots")

    def _delete(self, options: dict[str, Any]) -> None:
        pool = Pool.objects.filter(name=options["name"]).first()
        if pool is None:
            raise CommandError(f"there is no pool {options['name']!r}")
        pools.delete(pool, deed=_deed(), at=_now())


def _deed() -> Deed:
    return Deed(by=getpass.getuser(), via="cli")


def _now() -> datetime:
    return datetime.now(UTC)
