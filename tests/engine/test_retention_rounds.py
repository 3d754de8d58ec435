"""Held runs that fired go with their runs and events, round by round."""

import pytest

from core.models import AssetEvent, ConsumedEvent, DagRun, HeldRun, ReceivedKey
from scheduling import holds
from tests.engine.pruning import LATER, prune
from tests.engine.world import (
    ALICE,
    IDENTITY,
    MINUTE,
    NOW,
    REGIONS,
    consumer,
    emit,
    finish,
    fired,
    held,
    part,
    start,
    turn,
)

pytestmark = pytest.mark.django_db


class TestHeldRuns:
    def rounds(self, count):
        consumer("copy", {"a": IDENTITY}, writes=["out"])
        for number in range(count):
            emit("a", "k", at=NOW + number * MINUTE)
            turn(NOW + number * MINUTE)
            finish(
                start(DagRun.objects.latest("pk"), at=NOW + number * MINUTE),
                "out",
                at=NOW + number * MINUTE,
            )

    def test_of_earlier_rounds_go_with_their_runs_and_events(self):
        self.rounds(5)
        turn(NOW + 10 * MINUTE)
        gone = prune()
        assert (gone["held runs"], gone["runs"]) == (3, 3)
        assert list(HeldRun.objects.values_list("round", flat=True)) == [4, 5]
        assert AssetEvent.objects.filter(asset__name="a").count() == 2
        assert ReceivedKey.objects.count() == ConsumedEvent.objects.count() == 2

    def test_that_follow_are_numbered_on(self):
        self.rounds(4)
        prune()
        emit("a", "k", at=LATER)
        turn(LATER)
        assert HeldRun.objects.latest("pk").round == 5

    def test_that_are_open_stay_with_the_round_before(self):
        consumer("joined", {"a": IDENTITY, "b": IDENTITY})
        for minute in range(3):
            emit("a", "k", at=NOW + minute * MINUTE)
            emit("b", "k", at=NOW + minute * MINUTE)
            turn(NOW + minute * MINUTE)
        emit("a", "k", at=NOW + 5 * MINUTE)
        turn(NOW + 5 * MINUTE)
        before = held("joined", "k")
        prune()
        assert list(HeldRun.objects.values_list("round", "state")) == [
            (3, "fired"),
            (4, "held"),
        ]
        assert held("joined", "k").received_count == before.received_count

    def test_that_fired_stay_though_others_were_cancelled_since(self):
        """Whether a key is late is whether it has fired before."""
        consumer("copy", {"a": IDENTITY}, late="hold")
        emit("a", "k")
        turn()
        for minute in range(1, 5):
            emit("a", "k", at=NOW + minute * MINUTE)
            turn(NOW + minute * MINUTE)
            holds.cancel(held("copy", "k"), deed=ALICE, at=NOW + minute * MINUTE)
        prune()
        assert list(HeldRun.objects.values_list("round", "state")) == [
            (1, "fired"),
            (4, "cancelled"),
            (5, "cancelled"),
        ]
        emit("a", "k", at=LATER)
        turn(LATER)
        assert held("copy", "k").round == 6
        assert fired("copy") == ["k"], "it waits for somebody to approve it, as it would have"

    def test_that_consumed_the_newest_of_a_key_stay_unless_a_later_one_did_too(self):
        """Else a key that has not come anew would count as if it had."""
        consumer("regions", {"a": REGIONS})
        emit("a", "tw", "jp", "us")
        turn()
        at = NOW
        for _ in range(4):
            at += 20 * MINUTE
            emit("a", "tw", at=at)
            turn(at)
            at += 20 * MINUTE
            turn(at)
        assert len(fired("regions")) == 5
        jp = part("a", "jp").last_event
        ConsumedEvent.objects.filter(event=jp, held_run__round__gt=2).delete()
        prune()
        assert list(HeldRun.objects.values_list("round", flat=True)) == [2, 4, 5]
        emit("a", "tw", at=LATER)
        turn(LATER)
        fresh = ReceivedKey.objects.filter(held_run=held("regions", "all"), is_fresh=True)
        assert list(fresh.values_list("key", flat=True)) == ["tw"]
