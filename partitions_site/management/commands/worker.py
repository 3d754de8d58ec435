import os
import threading
from argparse import ArgumentParser
from itertools import chain
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from partitions_site import broker, lifeline, vigil, warming
from partitions_site.celery import app


class Command(BaseCommand):
    help = (
        "Do what is queued: `engine` decides what fires, `work` executes Dag runs. Start as many as you like."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--queues", default="engine,work", help="queues to take from (default: %(default)s)"
        )
        parser.add_argument("--workers", type=int, default=settings.WORKERS, help="tasks at a time")
        parser.add_argument("--pool", default="prefork", choices=("prefork", "threads"))

    def handle(self, *args: Any, **options: Any) -> None:
        lifeline.hold()
        broker.outlive()
        queues = options["queues"]
        app.loader.import_default_modules()
        warming.leave_alone()
        vigil.keep_in_background(app, queues, threading.Event())
        chosen = {
            "--loglevel": "WARNING",
            "--queues": queues,
            "--pool": options["pool"],
            "--concurrency": str(options["workers"]),
            "--hostname": f"{queues.replace(',', '-')}.{os.getpid()}@%h",
        }
        app.worker_main(
            ["--quiet", "worker", *chain(*chosen.items()), "--without-mingle", "--without-gossip"]
        )
