"""A worker that lets others know it is alive, and does the work of beat while no beat is seen.

Three intervals without a sign of beat, and each worker looks for lost work and for ticks by itself, until
beat is back: not as often, but nothing stands still.
"""

import logging
import os
import socket
import threading
from collections.abc import Callable

from celery import Celery
from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from core.models import Pulse
from partitions_site import alive
from scheduling import health

logger = logging.getLogger(__name__)


class Vigil:
    """`name`: how this worker is called in the list of processes."""

    def __init__(self, app: Celery, name: str) -> None:
        self.name = name
        self.is_doing_beats_work = False
        self._tasks = [app.tasks["scheduling.advance_ticks"], app.tasks["scheduling.repair"]]

    def look(self) -> None:
        """Leave a pulse; if beat is silent, do once what it would have sent for."""
        now = timezone.now()
        health.pulse(self.name, Pulse.Kind.WORKER, now=now)
        alive.touch()
        is_silent = health.is_silent(Pulse.Kind.BEAT, now)
        if is_silent != self.is_doing_beats_work:
            logger.warning("%s", "No beat: looking for work myself" if is_silent else "Beat is back")
        self.is_doing_beats_work = is_silent
        for task in self._tasks if is_silent else ():
            task()


def keep_in_background(app: Celery, queues: str, stop: threading.Event) -> threading.Thread:
    """Keep a vigil in a thread until `stop` is set."""
    vigil = Vigil(app, f"{socket.gethostname()}:{os.getpid()} {queues}")
    thread = threading.Thread(target=_keep, args=(vigil.look, stop), name="vigil", daemon=True)
    thread.start()
    return thread


def _keep(look: Callable[[], None], stop: threading.Event) -> None:
    while not stop.wait(settings.SWEEP_SECONDS):
        try:
            look()
        except DatabaseError:
            logger.exception("The vigil cannot reach the database")
        except Exception:  # whatever is wrong with one look, the next one may find it mended
            logger.exception("The vigil failed")
        finally:
            connection.close()
