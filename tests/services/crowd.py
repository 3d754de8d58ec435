"""Processes that crowd around one database.

`python -m tests.services.crowd post ASSET KEY...` or `… engine`. They start together: each waits for
the instant that PARTITA_TEST_START names.
"""

import os
import sys
import time
from datetime import UTC, datetime

import django

django.setup()

from core.models import Asset, AssetEvent  # noqa: E402
from scheduling import events, holds  # noqa: E402
from scheduling.events import EventReport  # noqa: E402
from scheduling.journal import Deed  # noqa: E402

QUIET_SECONDS = 5


def post(name: str, *keys: str) -> None:
    """Report each key in a transaction of its own."""
    asset, deed = Asset.objects.get(name=name), Deed(by=f"process {os.getpid()}", via="api")
    for key in keys:
        events.register_events(
            [EventReport(asset, key)], source=AssetEvent.Source.API, deed=deed, at=datetime.now(UTC)
        )


def engine() -> None:
    """Map and judge in small portions, so that many meet, until nothing has come for a while."""
    worked = time.monotonic()
    while time.monotonic() - worked < QUIET_SECONDS:
        now = datetime.now(UTC)
        if holds.route_pending(now=now, limit=7) + holds.judge_due(now=now, limit=3):
            worked = time.monotonic()
        else:
            time.sleep(0.01)


if __name__ == "__main__":
    time.sleep(max(0.0, float(os.environ["PARTITA_TEST_START"]) - time.time()))
    {"post": post, "engine": engine}[sys.argv[1]](*sys.argv[2:])
