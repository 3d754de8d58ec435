"""A partition is stale when what it was made of has newer data (semantics, section 9)."""

from datetime import timedelta

import pytest

from core.models import DagRun, Partition
from scheduling import corrections
from tests.engine.world import ALICE, IDENTITY, MINUTE, NOW, consumer, emit, finish, part, start, turn

pytestmark = pytest.mark.django_db


class TestStale:
    def fire(self):
        """A copy of `a` for `k`, fired, its run under way."""
        consumer("copy", {"a": IDENTITY}, writes=["b"])
        emit("a", "k")
        turn()
        return start(DagRun.objects.get(), at=NOW + MINUTE)

    def test_no_newer_event_no_stale_partition(self):
        finish(self.fire(), "b", at=NOW + 2 * MINUTE)
        assert not part("b", "k").is_stale

    def test_what_a_run_wrote_that_began_before_stays_stale(self):
        run = self.fire()
        Partition.objects.filter(asset__name="b").update(stale_since=NOW + MINUTE)
        finish(run, "b", at=NOW + 2 * MINUTE)
        assert part("b", "k").is_stale

    def test_what_a_run_wrote_that_was_queued_since_is_fresh(self):
        run = self.fire()
        Partition.objects.filter(asset__name="b").update(stale_since=NOW - timedelta(seconds=1))
        finish(run, "b", at=NOW + 2 * MINUTE)
        assert not part("b", "k").is_stale

    def test_what_a_run_wrote_that_was_retried_since_is_fresh(self):
        """It is executed anew, and reads what is there then."""
        run = self.fire()
        finish(run, "b", at=NOW + 2 * MINUTE)
        emit("a", "k", at=NOW + 3 * MINUTE)
        turn(NOW + 3 * MINUTE)
        assert part("b", "k").is_stale
        corrections.retry(run, deed=ALICE, at=NOW + 4 * MINUTE)
        finish(start(run, at=NOW + 5 * MINUTE), "b", at=NOW + 6 * MINUTE)
        assert not part("b", "k").is_stale

    def test_an_event_by_hand_is_fresh(self):
        self.fire()
        Partition.objects.filter(asset__name="b").update(stale_since=NOW)
        emit("b", "k", at=NOW + MINUTE)
        assert not part("b", "k").is_stale
