"""Writers and those who draw, at the same time."""

import threading
from datetime import timedelta

import pytest
from django.db import connections

from core.models import Drawing
from scheduling import claims, drawings, runs
from scheduling.runs import Ask
from tests.board.counting import counted, draw_all, shown
from tests.board.histories import DAYS
from tests.engine import world
from tests.engine.world import ALICE, NOW, emit


@pytest.mark.pg
@pytest.mark.django_db(transaction=True)
class TestTogether:
    """Writers and those who draw, at the same time, on a database that lets them."""

    def test_nothing_is_lost_and_nobody_waits_for_ever(self):
        crowd = Crowd()
        writers = [crowd.start(lambda n=number: crowd.write(n)) for number in range(3)]
        others = [crowd.start(crowd.draw), crowd.start(crowd.draw), crowd.start(crowd.look)]
        for thread in writers:
            thread.join()
        crowd.over.set()
        for thread in others:
            thread.join()
        assert not crowd.troubles
        assert any(crowd.drawn)
        assert shown() == counted()
        draw_all()
        assert shown() == counted()
        assert Drawing.objects.filter(asset__name="daily").exists()


class Crowd:
    """Writers of the same few partitions, those who draw them, and those who look."""

    KEYS = tuple(f"{day}T{hour:02}" for day in DAYS for hour in range(24))

    def __init__(self):
        self.dag = world.dag("load", {"type": "PartitionedAtRuntime"}, writes=["daily"])
        self.over, self.troubles, self.drawn = threading.Event(), [], []

    def start(self, work):
        thread = threading.Thread(target=self._guarded, args=(work,))
        thread.start()
        return thread

    def _guarded(self, work):
        try:
            work()
        except Exception as error:
            self.troubles.append(error)
        finally:
            connections.close_all()

    def write(self, number):
        for again in range(12):
            emit("daily", *self.KEYS[number * 30 : number * 30 + 120])
            run = runs.trigger(self.dag, Ask(self.KEYS[number * 7 + again]), deed=ALICE, at=NOW)
            started = claims.claim(run.pk, worker=f"w{number}", now=NOW)
            if started and again % 2:
                claims.fail(started, "boom", at=NOW + timedelta(seconds=again))

    def draw(self):
        while not self.over.is_set():
            self.drawn.append(drawings.draw(now=NOW, portion=50))

    def look(self):
        while not self.over.is_set():
            assert len(shown()) <= len(self.KEYS)
