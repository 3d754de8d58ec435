import signal
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.utils import timezone

from partitions_site import alone, engine, lifeline, reloading, warming
from partitions_site.celery import app
from scheduling import restart


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
        try:
            with alone.sole_use(settings.DATA_DIR):
                self._run(stop)
        except alone.AlreadyRunning as error:
            raise CommandError(str(error)) from error

    def _run(self, stop: threading.Event) -> None:
        if connection.vendor == "sqlite":  # elsewhere another machine may work on the same database
            restart.take_back(now=timezone.now())
        reloading.follow_in_background(settings.DEFINITIONS, stop)
        app.send_task("scheduling.sweep")  # beat's first one comes after its interval only
        app.loader.import_default_modules()
        warming.leave_alone()
        engine.run(app, workers=settings.WORKERS, stop=stop)
