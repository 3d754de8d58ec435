"""Several who map, judge or ask timetables at once: each takes what nobody has in hand, and none waits."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import transaction

from core.models import DagRun, HeldRun
from scheduling import holds, ticks
from tests.engine.meeting import apart, meet
from tests.engine.world import IDENTITY, MINUTE, NOW, consumer, dag, emit, fired

pytestmark = [pytest.mark.pg, pytest.mark.django_db(transaction=True)]

KEYS = ["k1", "k2", "k3"]


def beside(first, second):
    """What `second` answers, begun and ended while the transaction of `first` is open."""
    with ThreadPoolExecutor(1) as threads, transaction.atomic():
        assert first() == 1
        return threads.submit(apart, second).result(20)


@pytest.fixture
def complete():
    """Held runs that are complete and were not judged yet."""
    consumer("joined", {"a": IDENTITY, "b": IDENTITY})
    for name in ("a", "b"):
        emit(name, *KEYS)
    while holds.route_pending(now=NOW, at_once=0):
        pass


def test_those_who_map():
    consumer("copy", {"a": IDENTITY})
    emit("a", *KEYS)
    others = beside(lambda: holds.route_pending(now=NOW, limit=1), lambda: holds.route_pending(now=NOW))
    assert others == 2
    assert sorted(fired("copy")) == KEYS


def test_those_who_judge(complete):
    assert beside(lambda: holds.judge_due(now=NOW, limit=1), lambda: holds.judge_due(now=NOW)) == 2
    assert sorted(fired("joined")) == KEYS


def test_those_who_look_at_timetables():
    minutely = {"type": "CronPartitionTimetable", "cron": "* * * * *"}
    for name in ("d1", "d2", "d3"):
        dag(name, minutely, ticked_until=NOW - timedelta(seconds=61), next_tick_at=NOW - MINUTE)
    assert beside(lambda: ticks.advance(now=NOW, limit=1), lambda: ticks.advance(now=NOW)) == 2
    assert set(DagRun.objects.values_list("dag__dag_id", flat=True)) == {"d1", "d2", "d3"}


def test_an_event_mapped_while_its_held_run_fires_is_in_the_next_round(complete):
    [again] = emit("a", "k1")
    meet(lambda: holds.judge_due(now=NOW), lambda: holds.route_pending(now=NOW))
    rounds = HeldRun.objects.filter(partition_key="k1").order_by("round")
    assert list(rounds.values_list("round", "state")) == [(1, "fired"), (2, "held")]
    assert again.event.pk in rounds[1].consumed.values_list("event", flat=True)
    assert again.event.pk not in rounds[0].consumed.values_list("event", flat=True)


def test_an_event_that_was_mapped_before_is_in_the_round_that_fires(complete):
    """The other way round: whoever judges passes over what is being counted, and fires it afterwards."""
    [again] = emit("a", "k1")
    meet(lambda: holds.route_pending(now=NOW, at_once=0), lambda: holds.judge_due(now=NOW))
    assert sorted(fired("joined")) == ["k2", "k3"]
    assert holds.judge_due(now=NOW) == 1
    [row] = HeldRun.objects.filter(partition_key="k1")
    assert (row.state, row.consumed.count()) == ("fired", 3)
    assert again.event.pk in row.consumed.values_list("event", flat=True)
