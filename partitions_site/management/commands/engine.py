import signal
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from partitions_site import engine, lifeline, reloading
from partitions_site.celery import app


class Command(BaseCommand):
    help = "Do all background work in this one process, without a broker: the second half of embedded mode."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.EMBEDDED:
            raise CommandError("A broker is configured: start `worker` and `beat` instead of `engine`.")
        lifeline.hold()
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        reloading.follow_in_background(settings.DEFINITIONS, stop)
        engine.run(app, workers=settings.WORKERS, stop=stop)
