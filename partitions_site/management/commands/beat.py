from typing import Any

from django.core.management.base import BaseCommand

from partitions_site import lifeline
from partitions_site.celery import app


class Command(BaseCommand):
    help = "Ask timetables what is due and sweep for work that no message announced. Two of them do no harm."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        lifeline.hold()
        app.Beat(max_interval=1, quiet=True).run()
