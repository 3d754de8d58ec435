"""Which keys are late: those that came after a round that has fired, and that it had not counted."""

from datetime import timedelta

import pytest

from core.models import DagRun, HeldRun
from scheduling import corrections, holds
from tests.engine.world import (
    ALICE,
    IDENTITY,
    MINUTE,
    NOW,
    REGIONS,
    consumer,
    emit,
    fired,
    held,
    turn,
)

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(hours=1)


def fires_before_b_is_mapped(events=1):
    """A run for `k` fires with a, which is mapped, and with all that is on record of b, which is not."""
    consumer("joined", {"a": IDENTITY, "b": IDENTITY})
    emit("a", "k")
    for _ in range(events):
        emit("b", "k")
    holds.route_pending(now=NOW, limit=1)
    holds.judge_due(now=NOW)


class TestAnEventWhileItFires:
    def test_an_event_after_the_fire_is_in_the_next_round_and_not_lost(self):
        consumer("all", {"regional": REGIONS})
        emit("regional", "tw", "jp", "us")
        holds.route_pending(now=NOW, at_once=0)
        emit("regional", "us", at=NOW)
        holds.judge_due(now=NOW)
        assert fired("all") == ["all"]
        turn(NOW + MINUTE)
        assert held("all", "all").round == 2

    def test_an_event_that_a_run_has_counted_before_it_was_mapped_is_not_late(self):
        """b is on record when a is mapped: the run fires with both, and b opens no second round."""
        fires_before_b_is_mapped()
        assert fired("joined") == ["k"]
        turn(NOW + timedelta(days=1))
        assert HeldRun.objects.count() == 1
        assert HeldRun.objects.get().consumed.count() == 2

    def test_events_that_came_before_it_fired_are_not_late_either(self):
        """Two events of b are on record when a is mapped; the run fires with what both made of b."""
        fires_before_b_is_mapped(events=2)
        turn(NOW + timedelta(days=1))
        assert fired("joined") == ["k"]
        assert HeldRun.objects.get().consumed.count() == 3

    def test_what_one_round_has_counted_unmapped_the_next_does_not_count_again(self):
        fires_before_b_is_mapped()
        emit("b", "k", at=LATER)
        turn(LATER)
        assert held("joined", "k").consumed.count() == 2


class TestAfterACancellation:
    @pytest.mark.parametrize("late", ["settle", "immediate", "hold", "mark_stale", "restart"])
    def test_a_key_is_not_late_that_has_never_fired(self, late):
        consumer("all", {"regional": REGIONS}, late=late)
        emit("regional", "tw", "jp")
        turn()
        holds.cancel(held("all", "all"), deed=ALICE, at=NOW)
        emit("regional", "us", at=LATER)
        turn(LATER)
        assert fired("all") == ["all"]

    def test_what_came_anew_before_it_still_has(self):
        consumer("all", {"regional": REGIONS})
        emit("regional", "tw", "jp", "us")
        turn()
        emit("regional", "tw", "jp", at=LATER)
        turn(LATER)
        holds.cancel(held("all", "all"), deed=ALICE, at=LATER)
        emit("regional", "us", at=LATER)
        turn(LATER)
        assert fired("all") == ["all", "all"]

    def test_what_was_counted_by_a_run_that_is_off_the_record_is_not_late(self):
        consumer("all", {"regional": REGIONS}, late="hold")
        emit("regional", "tw", "jp", "us")
        turn()
        corrections.delete(DagRun.objects.get(), deed=ALICE, at=NOW)
        emit("regional", "us", at=LATER)
        turn(LATER)
        assert fired("all") == ["all"]
