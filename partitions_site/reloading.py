"""Loads definitions when a process of the engine starts, and again whenever their files change."""

import logging
import threading
from collections.abc import Sequence

from django.db import connection
from django.utils import timezone

from scheduling import definitions
from scheduling.watch import Watch

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_LOOKS = 2.0


def follow_in_background(sources: Sequence[str], stop: threading.Event) -> threading.Thread:
    """Follow `sources` in a thread until `stop` is set."""
    thread = threading.Thread(target=_follow, args=(sources, stop), name="definitions", daemon=True)
    thread.start()
    return thread


def _follow(sources: Sequence[str], stop: threading.Event) -> None:
    watch, is_due = Watch(sources), False
    while not stop.is_set():
        if watch.has_changed() or is_due:
            is_due = not _load(sources)
        stop.wait(SECONDS_BETWEEN_LOOKS)


def _load(sources: Sequence[str]) -> bool:
    """Whether the database took them."""
    try:
        report = definitions.sync(sources, at=timezone.now())
    except Exception:  # whatever it is, the files are looked at again
        logger.exception("The definitions could not be written, trying again")
        return False
    else:
        for trouble in report.troubles:
            logger.error("%s", trouble)
        return True
    finally:
        connection.close()
