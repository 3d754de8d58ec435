"""The embedded engine for real: two workers, beat and the relay, in threads of this process."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from celery import Celery, shared_task
from django.db import connection

from core.models import Bell
from partitions_site import engine

pytestmark = pytest.mark.django_db(transaction=True)


class Seen:
    """Times at which the tasks ran, by name; `released` lets the runs end."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {}
        self.released = threading.Event()

    def note(self, name: str) -> None:
        self.times.setdefault(name, []).append(time.monotonic())

    def count(self, name: str) -> int:
        return len(self.times.get(name, []))


NOW: list[Seen] = []  # what the test under way looks at: a task is defined once for all of them


@shared_task(name="scheduling.swept_in_test")
def sweep() -> None:
    NOW[-1].note("sweep")


@shared_task(name="scheduling.rung_in_test")
def hear() -> None:
    NOW[-1].note("heard")


@shared_task(name="scheduling.run_in_test")
def execute() -> None:
    seen = NOW[-1]
    seen.note("begun")
    seen.released.wait(20)
    seen.note("finished")


@pytest.fixture
def seen() -> Seen:
    NOW[:] = [Seen()]
    return NOW[-1]


@pytest.fixture
def app() -> Celery:
    app = Celery("engine under test", set_as_current=False)
    app.config_from_object("django.conf:settings", namespace="CELERY")
    app.conf.update(
        broker_url="memory://localhost/",
        broker_transport_options={"polling_interval": 0.02},
        worker_prefetch_multiplier=4,
        beat_schedule={"sweep": {"task": "scheduling.swept_in_test", "schedule": 0.2}},
        task_routes={"scheduling.run_in_test": {"queue": "work"}},
    )
    return app


@contextmanager
def running(app: Celery, workers: int = 2) -> Iterator[None]:
    stop = threading.Event()

    def run() -> None:
        engine.run(app, workers=workers, stop=stop)
        connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(20)
        assert not thread.is_alive()


def ring_elsewhere() -> None:
    def ring() -> None:
        Bell.objects.create(name="rung_in_test")
        connection.close()

    ringer = threading.Thread(target=ring)
    ringer.start()
    ringer.join()


def wait_for(seen: Seen, name: str, count: int, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while seen.count(name) < count:
        assert time.monotonic() < deadline, f"{name} ran {seen.count(name)} of {count} times"
        time.sleep(0.01)


class TestEngine:
    def test_hears_bells_of_other_processes_at_once(self, app, seen):
        with running(app):
            wait_for(seen, "sweep", 1)
            delays = []
            for number in range(1, 11):
                ring_elsewhere()
                rung = time.monotonic()
                wait_for(seen, "heard", number)
                delays.append(seen.times["heard"][-1] - rung)
        assert min(delays) < 1, "at once, as far as the machine has time for it"

    def test_beat_sweeps(self, app, seen):
        with running(app):
            wait_for(seen, "sweep", 3)

    def test_long_runs_delay_neither_beat_nor_bells(self, app, seen):
        with running(app, workers=2):
            for _ in range(5):
                app.send_task("scheduling.run_in_test")
            wait_for(seen, "begun", 2)
            before = seen.count("sweep")
            ring_elsewhere()
            wait_for(seen, "heard", 1)
            wait_for(seen, "sweep", before + 2)
            assert seen.count("begun") == 2
            seen.released.set()
            wait_for(seen, "finished", 5)

    def test_a_stop_lets_what_runs_come_to_its_end(self, app, seen):
        with running(app):
            app.send_task("scheduling.run_in_test")
            wait_for(seen, "begun", 1)
            threading.Timer(0.5, seen.released.set).start()
        assert seen.count("finished") == 1

    def test_a_stop_begins_nothing_new(self, app, seen):
        with running(app, workers=2):
            for _ in range(6):
                app.send_task("scheduling.run_in_test")
            wait_for(seen, "begun", 2)
            threading.Timer(0.5, seen.released.set).start()
        assert (seen.count("begun"), seen.count("finished")) == (2, 2)

    def test_ends_when_a_part_of_it_has_ended(self, app, seen):
        """Or it would look alive, and nothing would be done any more."""
        threading.Timer(1, app.control.shutdown).start()
        with pytest.raises(engine.PartEnded, match="worker has ended by itself"):
            engine.run(app, workers=2, stop=threading.Event())

    def test_does_many_small_runs_in_a_second(self, app, seen):
        seen.released.set()
        with running(app, workers=4):
            wait_for(seen, "sweep", 1)
            for _ in range(200):
                app.send_task("scheduling.run_in_test")
            wait_for(seen, "finished", 200, seconds=10)
        assert seen.times["finished"][-1] - seen.times["begun"][0] < 5
