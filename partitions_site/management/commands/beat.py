import threading
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from partitions_site import alive, lifeline, reloading
from partitions_site.celery import app


class Command(BaseCommand):
    help = (
        "Send the reminders by which timetables tick and lost messages are made up for, and load definitions "
        "that change. Two of them do no harm."
    )
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        lifeline.hold()
        alive.touch_with_every_message()
        reloading.follow_in_background(settings.DEFINITIONS, threading.Event())
        app.send_task("scheduling.sweep")  # the first one of the schedule comes after its interval only
        app.Beat(max_interval=1, quiet=True).run()
