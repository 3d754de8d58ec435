"""A held run that ends otherwise: a person fires or cancels it, or its deadline passes."""

from datetime import timedelta

import pytest

from core.models import DagRun, HeldRun, JournalEntry
from scheduling import holds
from tests.engine.world import ALICE, MINUTE, NOW, REGIONS, consumer, emit, fired, held, turn

pytestmark = pytest.mark.django_db


class TestAPersonMay:
    def test_fire_a_held_run_now_and_the_run_records_what_was_missing(self):
        consumer("all", {"regional": REGIONS})
        emit("regional", "tw", "jp")
        turn()
        run = holds.fire_now(held("all", "all"), deed=ALICE, at=NOW)
        assert run.missing_keys == [{"asset": "regional", "keys": ["us"]}]
        assert run.held_runs.get().closed_by == "alice"
        assert JournalEntry.objects.get(event="held run fired by hand").by == "alice"

    def test_and_its_counts_are_those_it_fired_with(self):
        consumer("all", {"regional": REGIONS})
        emit("regional", "tw")
        turn()
        emit("regional", "jp")
        holds.route_pending(now=NOW)
        row = held("all", "all")
        assert row.received_count == 1
        holds.fire_now(row, deed=ALICE, at=NOW)
        row.refresh_from_db()
        assert (row.state, row.received_count, row.sentence) == ("fired", 2, "waiting on 1 of 3: key us")

    def test_fire_it_only_once(self):
        consumer("all", {"regional": REGIONS})
        emit("regional", "tw")
        turn()
        row = held("all", "all")
        holds.fire_now(row, deed=ALICE, at=NOW)
        with pytest.raises(holds.NotHeld, match="was fired"):
            holds.fire_now(row, deed=ALICE, at=NOW)
        assert DagRun.objects.count() == 1

    def test_cancel_it_and_the_next_event_opens_a_new_round(self):
        consumer("all", {"regional": REGIONS})
        emit("regional", "tw")
        turn()
        holds.cancel(held("all", "all"), deed=ALICE, at=NOW)
        emit("regional", "jp", at=NOW + MINUTE)
        turn(NOW + MINUTE)
        row = held("all", "all")
        assert (row.round, row.received_count) == (2, 2)

    def test_cancel_it_before_it_is_judged_and_the_journal_leaves_out_what_it_was(self):
        consumer("all", {"regional": REGIONS})
        emit("regional", "tw")
        turn()
        holds.cancel(held("all", "all"), deed=ALICE, at=NOW)
        emit("regional", "jp")
        holds.route_pending(now=NOW)
        holds.cancel(held("all", "all"), deed=ALICE, at=NOW)
        first, second = JournalEntry.objects.filter(event="held run cancelled").order_by("pk")
        assert first.extra == {"was": "waiting on 2 of 3: keys jp, us"}
        assert second.extra == {}


class TestDeadline:
    SIX_HOURS = {"type": "Deadline", "after": 6 * 3600}

    def opened(self, then):
        consumer("all", {"regional": REGIONS | {"wait_policy": self.SIX_HOURS | {"then": then}}})
        emit("regional", "tw", "us")
        turn()
        assert held("all", "all").judge_after == NOW + timedelta(hours=6)

    def test_it_fires_with_what_has_come_and_the_run_says_what_was_missing(self):
        self.opened("fire")
        turn(NOW + timedelta(hours=6))
        assert DagRun.objects.get().missing_keys == [{"asset": "regional", "keys": ["jp"]}]

    def test_it_cancels_and_the_journal_says_why(self):
        self.opened("cancel")
        turn(NOW + timedelta(hours=6))
        assert HeldRun.objects.get().state == "cancelled"
        assert fired("all") == []
        assert "deadline" in JournalEntry.objects.get(event="held run cancelled").extra["sentence"]


def test_what_a_policy_does_without_is_no_lack_where_a_person_fires_it(db):
    """Complete, and held only because its Dag is paused."""
    made = consumer("all", {"regional": REGIONS | {"wait_policy": {"type": "MinimumCount", "n": 2}}})
    made.is_paused = True
    made.save()
    emit("regional", "tw", "jp")
    turn()
    run = holds.fire_now(held("all", "all"), deed=ALICE, at=NOW)
    assert run.missing_keys == [{"asset": "regional", "keys": ["us"]}]
    assert not run.is_fired_short
