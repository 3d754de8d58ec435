"""A run by hand of a key that is not held counts as its firing, if all that the key needs was there."""

from datetime import timedelta

import pytest

from core.models import Dag, DagRun, HeldRun
from scheduling import holds, inlets, runs
from scheduling.runs import Ask
from tests.engine.world import (
    ALICE,
    HOURS_TO_DAY,
    IDENTITY,
    MINUTE,
    NOW,
    consumer,
    emit,
    finish,
    fired,
    hours,
    part,
    start,
    turn,
)

pytestmark = pytest.mark.django_db
DAY = "2026-03-10"
LATER = NOW + timedelta(hours=1)
LATES = ["settle", "hold", "mark_stale", "restart", "immediate"]


def by_hand(numbers, settle_held=True, **options):
    """A run by hand of a day, of which so many hours came before its Dag did: nothing is held of it."""
    emit("hourly", *hours(DAY, *numbers))
    turn()
    made = consumer("daily", {"hourly": HOURS_TO_DAY}, writes=["days"], **options)
    return runs.trigger(made, Ask(DAY, settle_held=settle_held), deed=ALICE, at=NOW)


def corrected():
    emit("hourly", *hours(DAY, 9), at=LATER)
    turn(LATER)


class TestOfACompleteKey:
    @pytest.mark.parametrize("late", ["settle", "hold", "mark_stale", "restart"])
    def test_what_comes_anew_does_not_start_another_at_once(self, late):
        finish(start(by_hand(range(24), late=late)), "days")
        corrected()
        assert fired("daily") == [DAY]
        assert part("days", DAY).is_stale

    def test_what_comes_anew_settles(self):
        by_hand(range(24))
        corrected()
        turn(LATER + 10 * MINUTE)
        assert fired("daily") == [DAY, DAY]

    def test_what_comes_anew_starts_one_at_once_if_its_dag_says_so(self):
        by_hand(range(24), late="immediate")
        corrected()
        assert fired("daily") == [DAY, DAY]

    def test_all_that_comes_anew_starts_one_at_once(self):
        by_hand(range(24))
        emit("hourly", *hours(DAY, *range(24)), at=LATER)
        turn(LATER)
        assert fired("daily") == [DAY, DAY]

    def test_it_consumes_what_it_is_made_from(self):
        run = by_hand(range(24))
        assert len(inlets.triggering_events(run)["hourly"]) == 24

    def test_an_event_that_nobody_has_mapped_yet_is_not_late(self):
        made = consumer("daily", {"hourly": HOURS_TO_DAY}, late="immediate")
        emit("hourly", *hours(DAY, *range(24)))
        runs.trigger(made, Ask(DAY), deed=ALICE, at=NOW)
        turn()
        assert fired("daily") == [DAY]

    def test_of_a_paused_dag_as_well(self):
        run = by_hand(range(24))
        Dag.objects.update(is_paused=True)
        run.dag.refresh_from_db()
        again = runs.trigger(run.dag, Ask(DAY), deed=ALICE, at=LATER)
        assert HeldRun.objects.get(round=2).run == again

    def test_another_run_by_hand_is_another_round(self):
        run = by_hand(range(24))
        again = runs.trigger(run.dag, Ask(DAY), deed=ALICE, at=LATER)
        assert list(HeldRun.objects.values_list("round", "run")) == [(1, run.pk), (2, again.pk)]

    def test_unless_the_person_says_no(self):
        by_hand(range(24), settle_held=False)
        assert not HeldRun.objects.exists()
        corrected()
        assert fired("daily") == [DAY, DAY]


@pytest.mark.parametrize("late", LATES)
class TestOfAnIncompleteKey:
    """Nothing is lost: what completes the key starts a run, whatever late keys do."""

    @pytest.mark.parametrize("there", [0, 10, 23])
    def test_what_completes_it_starts_a_run(self, late, there):
        by_hand(range(there), late=late)
        assert not HeldRun.objects.exists()
        emit("hourly", *hours(DAY, *range(there, 24)), at=LATER)
        turn(LATER)
        assert fired("daily") == [DAY, DAY]
        assert HeldRun.objects.get().consumed.count() == 24


def test_a_dag_for_which_one_key_is_enough_has_no_rounds_of_runs_by_hand():
    """Each of its keys starts a run at once, late or not."""
    emit("a", "k")
    turn()
    copy = consumer("copy", {"a": IDENTITY})
    runs.trigger(copy, Ask("k"), deed=ALICE, at=NOW)
    assert not HeldRun.objects.exists()
    emit("a", "k", at=LATER)
    turn(LATER)
    assert fired("copy") == ["k", "k"]


def test_a_round_after_one_by_hand_can_be_fired_by_hand():
    by_hand(range(24), late="hold")
    corrected()
    holds.fire_now(HeldRun.objects.held().get(), deed=ALICE, at=LATER)
    assert DagRun.objects.count() == 2
