"""Keys and events are taken back while others map and count them, which only PostgreSQL lets happen."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import transaction

from core.models import AssetEvent, HeldRun, Partition, ReceivedKey
from scheduling import holds, wiping
from tests.engine.meeting import apart, meet, until_waiting
from tests.engine.world import ALICE, IDENTITY, NOW, asset, consumer, emit, held

pytestmark = [pytest.mark.pg, pytest.mark.django_db(transaction=True)]


def route():
    holds.route_pending(now=NOW)


def wipe(*keys):
    return wiping.wipe(asset("a"), keys, deed=ALICE, at=NOW)


class TestTakingBack:
    """Whoever maps an event has it locked and wants the held run: nobody may lock them the other way."""

    @pytest.fixture
    def received(self):
        """`joined` has received the key k, of which another event waits to be mapped."""
        consumer("joined", {"a": IDENTITY, "b": IDENTITY})
        emit("a", "k", "l")
        route()
        [again] = emit("a", "k")
        return again.event

    def lock(self, *keys):
        list(Partition.objects.filter(key__in=keys).select_for_update(no_key=True))

    def test_a_key_that_is_mapped_at_the_moment(self, received):
        """The wipe waits in the middle of its work, for the partition, when the event is to be mapped."""
        meet(lambda: self.lock("k"), lambda: wipe("k"), route)
        assert HeldRun.objects.get(partition_key="k").received.count() == 0
        assert not AssetEvent.objects.unrouted().exists()

    def test_a_key_of_which_an_event_comes_in_the_middle(self):
        """It is recorded when the wipe has locked all but the partitions, and then mapped at once."""
        consumer("joined", {"a": IDENTITY, "b": IDENTITY})
        emit("a", "k", "l")
        route()
        recorded, may_commit = threading.Event(), threading.Event()

        def record():
            with transaction.atomic():
                emit("a", "k")
                recorded.set()
                assert may_commit.wait(20)

        with ThreadPoolExecutor(3) as threads:
            with transaction.atomic():
                self.lock("l")
                recording = threads.submit(apart, record)
                assert recorded.wait(20)
                wiping = threads.submit(apart, lambda: wipe("k", "l"))
                until_waiting(1)
                may_commit.set()
                recording.result(30)
                mapping = threads.submit(apart, route)
                until_waiting(2)
            assert [wiping.result(30), mapping.result(30)] == [["k", "l"], None]
        assert not ReceivedKey.objects.exists()
        assert not AssetEvent.objects.unrouted().exists()

    def test_an_event_that_is_mapped_at_the_moment(self, received):
        meet(lambda: self.lock("k"), lambda: wiping.delete_event(received, deed=ALICE, at=NOW), route)
        assert held("joined", "k").consumed.count() == 1
        assert AssetEvent.objects.count() == 2

    def test_an_event_that_fires_at_the_moment_stays(self, received):
        def fire():
            emit("b", "k")
            route()

        def delete():
            with pytest.raises(wiping.EventConsumed):
                wiping.delete_event(received, deed=ALICE, at=NOW)

        meet(fire, delete)
        assert AssetEvent.objects.filter(pk=received.pk).exists()
