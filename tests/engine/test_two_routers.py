"""Two workers map the events of one partition at once: the newer one may be counted before the older one."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import AssetEvent, DagRun, HeldRun
from scheduling import filling, holds
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


def test_no_other_events_are_read_for_it():
    """However many of other partitions wait to be mapped."""
    consumer("copy", {"a": IDENTITY})
    others = [emit("a", f"other {number}")[0].event.pk for number in range(3)]
    older, newer = (emit("a", "k")[0].event for _ in range(2))
    row = HeldRun(dag_id=0, partition_key="k")
    with CaptureQueriesContext(connection) as asked:
        assert list(filling.overtaken([(row, newer)], {newer.pk})) == [(None, older.pk)]
    with connection.cursor() as cursor:
        cursor.execute(asked[0]["sql"])
        read = cursor.fetchall()
    assert len(asked) == 1
    assert not {pk for _, pk in read} & set(others)


def test_an_older_event_without_a_key_counts_too():
    consumer("copy", {"a": IDENTITY})
    older, newer = (emit("a", None)[0].event for _ in range(2))
    emit("a", "k")
    row = HeldRun(dag_id=0, partition_key="")
    assert list(filling.overtaken([(row, newer)], {newer.pk})) == [(None, older.pk)]
