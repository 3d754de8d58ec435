"""Who files looks for an open held run, and then for the last round; another may commit in between."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from core.models import DagRun, HeldRun
from scheduling import holds, opening
from scheduling.configuration import set_paused
from tests.engine.meeting import apart
from tests.engine.world import ALICE, IDENTITY, NOW, REGIONS, consumer, emit, turn

pytestmark = [pytest.mark.pg, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def in_between(monkeypatch):
    """Have something done in another transaction when the first who files has found nothing open."""

    def have(act):
        usual, left = opening.next_rounds, [act]

        def next_rounds(names, dags, now):
            while left:
                with ThreadPoolExecutor(1) as threads:
                    threads.submit(apart, left.pop()).result(30)
            return usual(names, dags, now)

        monkeypatch.setattr(opening, "next_rounds", next_rounds)

    return have


def rounds_of(key):
    return list(HeldRun.objects.filter(partition_key=key).order_by("round").values_list("round", "state"))


def test_what_another_opens_in_between_and_cannot_fire_yet_fires_once(in_between):
    consumer("sum", {"a": REGIONS})
    emit("a", "tw")

    def other():
        emit("a", "jp")
        holds.route_pending(now=NOW)
        emit("a", "us")

    in_between(other)
    turn()
    assert DagRun.objects.count() == 1
    assert rounds_of("all") == [(1, "fired")]


def test_what_another_opens_in_between_while_it_is_paused_fires_once(in_between):
    dag = consumer("pair", {"a": IDENTITY, "b": IDENTITY})
    emit("a", "k")
    emit("b", "k")

    def other():
        set_paused(dag, True, deed=ALICE, at=NOW)
        holds.route_pending(now=NOW)

    in_between(other)
    holds.route_pending(now=NOW, limit=1)
    set_paused(dag, False, deed=ALICE, at=NOW)
    turn()
    assert DagRun.objects.count() == 1
    assert rounds_of("k") == [(1, "fired")]
