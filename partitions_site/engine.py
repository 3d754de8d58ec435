"""The engine of embedded mode: workers, beat and relay in one process, around a broker in its memory.

Nothing that matters is lost when it dies, because nothing that matters is in the broker: bells and runs are
rows.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from celery import Celery, beat
from celery.worker import WorkController
from django.db import DatabaseError, connection

from scheduling import relay

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.02
PAUSE_AFTER_FAILURE_SECONDS = 1.0
ENGINE_THREADS = 2


class PartEnded(Exception):
    """A worker or beat has ended by itself; without it the engine would only look alive."""


def run(app: Celery, *, workers: int, stop: threading.Event) -> None:
    """Work until `stop` is set; then let what runs come to its end.

    Dag runs have threads of their own: however long they take, events are still routed and timetables tick.

    :raises PartEnded: so that whoever looks after this process starts it again.
    """
    app.finalize()
    app.loader.import_default_modules()
    with (
        _worker(app, "engine", ENGINE_THREADS) as deciding,
        _worker(app, "work", workers) as working,
        _beat(app) as beating,
    ):
        _relay_until(stop, app, (deciding, working, beating))


def _relay_until(stop: threading.Event, app: Celery, parts: Sequence[threading.Thread]) -> None:
    changed = relay.change_detector()
    pause = POLL_SECONDS
    while not stop.wait(pause):
        for part in parts:
            if not part.is_alive():
                raise PartEnded(f"{part.name} has ended by itself")
        pause = POLL_SECONDS if _relay_once(changed, app) else PAUSE_AFTER_FAILURE_SECONDS


def _relay_once(changed: Callable[[], bool], app: Celery) -> bool:
    """Whether the database answered."""
    try:
        if changed():
            for name in relay.take_bells():
                app.send_task(f"scheduling.{name}")
    except DatabaseError:
        logger.exception("The relay cannot read the database")
        connection.close()
        return False
    return True


@contextmanager
def _worker(app: Celery, queue: str, threads: int) -> Iterator[threading.Thread]:
    worker = WorkController(
        app=_twin(app),
        pool="threads",
        concurrency=threads,
        queues=[queue],
        hostname=f"{queue}@embedded",
        without_mingle=True,
        without_gossip=True,
        without_heartbeat=True,
    )
    thread = threading.Thread(target=worker.start, name=f"The {queue} worker", daemon=True)
    thread.start()
    try:
        yield thread
    finally:
        # Runs that wait for a thread are rows still: whoever starts next takes them.
        worker.pool.executor.shutdown(wait=False, cancel_futures=True)
        worker.stop()


def _twin(app: Celery) -> Celery:
    """The same shared tasks and options again: an app has one choice of queues, and there are two workers."""
    twin = Celery(app.main, set_as_current=False)
    twin.conf.update(app.conf)
    return twin


@contextmanager
def _beat(app: Celery) -> Iterator[threading.Thread]:
    # Without a word it would keep a file of when it last sent what, wherever it was started.
    beating = beat.EmbeddedService(app, thread=True, max_interval=1, scheduler_cls=beat.Scheduler)
    beating.start()
    try:
        yield beating
    finally:
        beating.stop()
