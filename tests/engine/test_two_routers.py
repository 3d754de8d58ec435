"""Two workers map the events of one partition at once: the newer one may be counted before the older one."""

import pytest

from core.models import AssetEvent, DagRun, HeldRun
from scheduling import holds
from tests.engine.meeting import meet
from tests.engine.world import IDENTITY, MINUTE, NOW, consumer, emit, finish, fired, part, start, turn

pytestmark = [pytest.mark.pg, pytest.mark.django_db(transaction=True)]


def consumed(run):
    return sorted(run.held_runs.get().consumed.values_list("event_id", flat=True))


def older_last(at=NOW):
    """Another worker has the older of two events while the newer one is mapped. Their primary keys."""
    older, newer = (emit("a", "k", at=at)[0].event.pk for _ in range(2))
    has_it = AssetEvent.objects.select_for_update(no_key=True).filter(pk=older)
    meet(lambda: list(has_it), lambda: holds.route_pending(now=at))
    assert list(AssetEvent.objects.unrouted().values_list("pk", flat=True)) == [older]
    return older, newer


def test_it_fires_once_with_both():
    consumer("copy", {"a": IDENTITY})
    both = older_last()
    turn(NOW)
    assert fired("copy") == ["k"]
    assert consumed(DagRun.objects.get()) == sorted(both)


def test_and_once_more_when_both_come_again():
    consumer("copy", {"a": IDENTITY})
    emit("a", "k")
    turn()
    both = older_last(NOW + MINUTE)
    turn(NOW + MINUTE)
    assert fired("copy") == ["k", "k"]
    assert consumed(DagRun.objects.latest("pk")) == sorted(both)


def test_what_was_made_is_not_stale_by_it():
    consumer("copy", {"a": IDENTITY}, writes=["out"], late="mark_stale")
    older_last()
    finish(start(DagRun.objects.get()), "out")
    turn(NOW)
    assert not part("out", "k").is_stale


def test_nor_does_a_round_of_several_keys_open_for_it():
    consumer("joined", {"a": IDENTITY, "b": IDENTITY})
    emit("b", "k")
    emit("a", "k")
    turn()
    emit("b", "k", at=NOW + MINUTE)
    turn(NOW + MINUTE)
    older_last(NOW + MINUTE)
    turn(NOW + MINUTE)
    assert fired("joined") == ["k", "k"]
    assert not HeldRun.objects.held().exists()


def test_a_newer_event_is_another():
    """The older one is mapped first, as always where one worker does it: the newer one is to come."""
    consumer("copy", {"a": IDENTITY})
    emit("a", "k")
    emit("a", "k")
    while holds.route_pending(now=NOW, limit=1):
        pass
    assert fired("copy") == ["k", "k"]
