"""What held runs count by its partition they do not lock: it may be taken back at the same moment."""

import pytest
from django.db import transaction

from core.models import AssetEvent, Dag, HeldRun
from scheduling import holds, wiping
from scheduling.refiling import refile
from tests.engine.meeting import meet
from tests.engine.world import ALICE, HOURS_TO_DAY, IDENTITY, NOW, asset, consumer, emit, held

pytestmark = [pytest.mark.pg, pytest.mark.django_db(transaction=True)]


def route():
    holds.route_pending(now=NOW)


def wipe(*keys):
    return wiping.wipe(asset("a"), keys, deed=ALICE, at=NOW)


@pytest.fixture
def first():
    """The event by which `a` has the key k, for which `joined` waits as soon as `b` has it."""
    [first] = emit("a", "k")
    route()
    consumer("joined", {"a": IDENTITY, "b": IDENTITY, "c": IDENTITY})
    return first.event


def delete(event):
    wiping.delete_event(event, deed=ALICE, at=NOW)


def received():
    return list(held("joined", "k").received.values_list("asset__name", flat=True))


def test_an_event_that_is_counted_costs_those_that_are_mapped_with_it_nothing(first):
    emit("b", "k", "l")
    meet(lambda: delete(first), route)
    assert not AssetEvent.objects.unrouted().exists()
    assert received() == ["b"]
    assert HeldRun.objects.count() == 2


def test_an_event_that_another_counts_while_its_deletion_waits(first):
    consumer("older", {"a": IDENTITY, "d": IDENTITY, "e": IDENTITY})
    emit("d", "k")
    route()
    older = held("older", "k")

    def count():
        HeldRun.objects.select_for_update(no_key=True).get(pk=older.pk)
        emit("b", "k")
        route()

    meet(count, lambda: delete(first))
    assert received() == ["b"]
    assert not AssetEvent.objects.filter(pk=first.pk).exists()


def test_a_key_that_is_counted_for_a_held_run_just_opened(first):
    """The wipe does not see the held run, and the held run not the wipe."""
    emit("b", "k")
    meet(lambda: wipe("k"), route)
    holds.judge_due(now=NOW)
    assert received() == ["b"]
    assert held("joined", "k").received_count == 1


def test_a_key_that_is_counted_anew_after_a_change(first):
    Dag.objects.filter(dag_id="joined").delete()
    dag = consumer("other", {"a": HOURS_TO_DAY, "b": IDENTITY, "c": IDENTITY})
    emit("b", "k")
    route()
    holds.judge_due(now=NOW)

    def change():
        with transaction.atomic():
            dag.dependencies.update(mapper=IDENTITY)
            dag.schedule["mapper_config"][0]["mapper"] = IDENTITY
            dag.revision += 1
            dag.save()
            refile(dag, deed=ALICE, at=NOW)

    meet(lambda: wipe("k"), change)
    holds.judge_due(now=NOW)
    assert list(held("other", "k").received.values_list("asset__name", flat=True)) == ["b"]
