import contextlib
import signal
import sys
from argparse import ArgumentParser
from typing import Any

import uvicorn
from django.core.management.base import BaseCommand

from partitions_site import launch, lifeline
from partitions_site.protocol import Protocol


class Command(BaseCommand):
    help = "Serve the pages and the API."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", type=int, default=launch.DEFAULT_PORT)

    def handle(self, *args: Any, **options: Any) -> None:
        lifeline.hold()
        server = uvicorn.Server(
            uvicorn.Config(
                "partitions_site.asgi:application",
                http=Protocol,
                access_log=False,
                host=options["host"],
                port=options["port"],
                lifespan="off",
                # Whoever is on this machine would say where from: `PARTITA_PROXIES` says who is believed.
                proxy_headers=False,
                log_config=None,
                log_level="warning",
                # A page that streams never ends by itself: without this the server waits for it for ever.
                timeout_graceful_shutdown=2,
            )
        )
        # After a clean end uvicorn raises the signal that stopped it once more: that is no failure.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        with contextlib.suppress(KeyboardInterrupt):
            server.run()
