"""Whoever reports an event is answered while others are in the middle of their work on the same key."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from django.db import transaction

from core.models import AssetEvent
from scheduling import configuration, holds
from tests.engine.meeting import apart
from tests.engine.world import ALICE, IDENTITY, NOW, consumer, emit, part

pytestmark = [pytest.mark.pg, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def joined():
    """It holds the key k, which one more event makes complete."""
    made = consumer("joined", {"a": IDENTITY, "b": IDENTITY})
    emit("a", "k")
    holds.route_pending(now=NOW, at_once=0)
    emit("b", "k")
    return made


def map_it(joined):
    assert holds.route_pending(now=NOW, at_once=0) == 1


def map_and_fire_it(joined):
    assert holds.route_pending(now=NOW) == 1


def judge_it(joined):
    assert holds.judge_due(now=NOW) == 1


def change_it(joined):
    joined.refresh_from_db()
    spec, deed = joined.schedule | {"settle": 60}, replace(ALICE, reason="it settles too slowly")
    assert configuration.change_schedule(joined, spec, deed=deed, at=NOW, revision=joined.revision)


def pause_it(joined):
    assert configuration.set_paused(joined, True, deed=ALICE, at=NOW)


@pytest.mark.parametrize("deed", [map_it, map_and_fire_it, judge_it, change_it, pause_it])
def test_an_event_of_a_key_that_others_have_in_hand_is_recorded_at_once(joined, deed):
    with ThreadPoolExecutor(1) as threads, transaction.atomic():
        deed(joined)
        reporting = threads.submit(apart, lambda: emit("a", "k"))
        [registered] = reporting.result(20)
        assert registered.is_new
    assert part("a", "k").last_event == registered.event
    assert AssetEvent.objects.unrouted().filter(pk=registered.event.pk).exists()
