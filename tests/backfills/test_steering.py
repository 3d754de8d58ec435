"""Pause, resume, cancel, retry: what runs finishes, what waits does what it is told."""

import pytest

from core.models import Backfill, DagRun, JournalEntry
from scheduling import backfills, claims, runs, turns
from scheduling.backfills import BackfillOver, CannotBackfill
from scheduling.runs import Ask as RunAsk
from tests.backfills.play import (
    SECOND,
    begin,
    counts,
    daily,
    days,
    drive,
    execute,
    item,
    listener,
    producer,
    steer,
    turn,
)
from tests.engine.world import ALICE, NOW, start

pytestmark = pytest.mark.django_db


def running(count):
    """Start as many of the queued runs."""
    return [start(run) for run in DagRun.objects.filter(state="queued").order_by("pk")[:count]]


def succeed(claimed):
    for run in claimed:
        outlets = [claims.Output(outlet.asset) for outlet in run.dag.outlets.select_related("asset")]
        claims.succeed(run, outlets, at=NOW)


class TestPause:
    def test_starts_nothing_more_not_even_what_is_queued(self):
        backfill = begin(producer(), max_active_runs=2)
        turn()
        claimed = running(1)
        steer(backfills.pause, backfill)
        assert execute() == []
        assert claims.claim(DagRun.objects.filter(state="queued").first().pk, worker="w", now=NOW) is None
        succeed(claimed)
        turn()
        assert counts(backfill) == {"planned": 10, "done": 1, "open": 9}

    def test_and_resume_go_on_where_it_was(self):
        backfill = begin(producer(), max_active_runs=2)
        turn()
        execute()
        steer(backfills.pause, backfill)
        turn()
        steer(backfills.resume, backfill)
        drive(backfill)
        assert counts(backfill) == {"planned": 10, "done": 10}

    def test_twice_is_once(self):
        backfill = begin(producer())
        for _ in range(2):
            steer(backfills.pause, backfill)
        for _ in range(2):
            steer(backfills.resume, backfill)
        events = JournalEntry.objects.filter(event__in=["backfill paused", "backfill resumed"]).order_by("pk")
        assert [entry.event for entry in events] == ["backfill paused", "backfill resumed"]
        assert {(entry.by, entry.dag_id) for entry in events} == {("alice", "load")}

    @pytest.mark.parametrize("deed", [backfills.pause, backfills.resume, backfills.cancel])
    def test_a_completed_one_is_over(self, deed):
        backfill = begin(producer(), keys=("2026-03-01",))
        drive(backfill)
        with pytest.raises(BackfillOver):
            steer(deed, backfill)


class TestCancel:
    def test_tc_40_running_ones_finish_and_nothing_else_starts(self):
        made = producer(writes=daily(start="2024-01-01").name)
        backfill = begin(made, selection="[2024-01-01...2024-12-31]", max_active_runs=5)
        turn()
        succeed(running(5))
        turn()
        succeed(running(5))
        turn()
        claimed = running(5)
        steer(backfills.cancel, backfill)
        assert counts(backfill) == {"planned": 366, "done": 10, "cancelled": 351, "open": 5}
        before = DagRun.objects.count()
        turn()
        assert execute() == []
        succeed(claimed)
        turn()
        assert DagRun.objects.count() == before
        assert counts(backfill) == {"planned": 366, "done": 15, "cancelled": 351}
        backfill.refresh_from_db()
        assert backfill.completed_at == NOW

    def test_tc_40_one_of_its_keys_can_run_again_at_once(self):
        made = producer()
        backfill = begin(made, max_active_runs=1)
        turn()
        steer(backfills.cancel, backfill)
        run = runs.trigger(made, RunAsk("2026-03-07"), deed=ALICE, at=NOW)
        assert turns.dispatch(now=NOW) == [run.pk]

    def test_tc_40_resume_takes_exactly_what_was_not_done(self):
        backfill = begin(producer(), max_active_runs=1)
        turn()
        for _ in range(3):
            execute(most=1)
            turn()
        steer(backfills.cancel, backfill)
        assert counts(backfill) == {"planned": 10, "done": 3, "cancelled": 7}
        steer(backfills.resume, backfill, at=NOW + SECOND)
        again = [keys[0] for keys in drive(backfill, at=NOW + SECOND)]
        assert again == days(4, 10)
        assert counts(backfill) == {"planned": 10, "done": 10}

    def test_with_nothing_left_undone_is_over(self):
        backfill = begin(producer(), keys=("2026-03-01",))
        turn()
        start(DagRun.objects.get())
        steer(backfills.cancel, backfill)
        with pytest.raises(BackfillOver, match="nothing left undone"):
            steer(backfills.resume, backfill)
        assert counts(backfill) == {"planned": 1, "open": 1}

    def test_before_anything_runs_completes_it_at_once(self):
        backfill = begin(producer())
        steer(backfills.cancel, backfill)
        backfill.refresh_from_db()
        assert (backfill.completed_at, backfill.cancelled_at, backfill.is_paused) == (NOW, NOW, True)
        assert counts(backfill) == {"planned": 10, "cancelled": 10}
        assert item(backfill, "2026-03-01").reason == "the backfill was cancelled"

    def test_of_very_many_keys_follows_in_portions_and_nothing_starts_meanwhile(self, monkeypatch):
        monkeypatch.setattr("scheduling.backfills.outcomes.PORTION", 3)
        backfill = begin(producer(), max_active_runs=1)
        turn()
        steer(backfills.cancel, backfill)
        assert counts(backfill) == {"planned": 10, "cancelled": 5, "open": 5}
        assert turns.dispatch(now=NOW) == []
        turn()
        assert counts(backfill) == {"planned": 10, "cancelled": 10}
        assert not DagRun.objects.exclude(state="cancelled").exists()

    def test_cancels_the_queued_runs(self):
        backfill = begin(producer())
        turn()
        steer(backfills.cancel, backfill)
        assert set(DagRun.objects.values_list("state", flat=True)) == {"cancelled"}

    def test_leaves_runs_of_others_alone(self):
        made = producer()
        begin(made, keys=("2026-03-01",))
        other = runs.trigger(made, RunAsk("2026-03-02"), deed=ALICE, at=NOW)
        turn()
        steer(backfills.cancel, Backfill.objects.get())
        other.refresh_from_db()
        assert other.state == "queued"

    def test_twice_is_refused(self):
        backfill = begin(producer(), max_active_runs=1)
        turn()
        running(1)
        steer(backfills.cancel, backfill)
        with pytest.raises(BackfillOver, match="is cancelled already"):
            steer(backfills.cancel, backfill)

    def test_of_a_chain_of_dags_cancels_what_waits(self):
        daily("as"), daily("bs")
        first = producer("first", "as")
        listener("second", "as", "bs")
        backfill = begin(first, with_downstream=True, max_active_runs=1)
        turn()
        claimed = running(1)
        steer(backfills.cancel, backfill)
        succeed(claimed)
        turn()
        assert counts(backfill) == {"planned": 20, "done": 1, "cancelled": 19}

    def test_waking_up_a_cancelled_one_does_nothing(self):
        backfill = begin(producer(), max_active_runs=1)
        turn()
        running(1)
        steer(backfills.cancel, backfill)
        turn()
        assert DagRun.objects.filter(state="queued").count() == 0
        assert counts(backfill)["open"] == 1

    def test_resuming_while_the_last_ones_run_goes_on(self):
        backfill = begin(producer(), max_active_runs=1)
        turn()
        claimed = running(1)
        steer(backfills.cancel, backfill)
        steer(backfills.resume, backfill)
        succeed(claimed)
        drive(backfill)
        assert counts(backfill) == {"planned": 10, "done": 10}


class TestLimit:
    def test_can_be_changed_while_it_runs(self):
        backfill = begin(producer(max_active_runs=100), max_active_runs=1)
        turn()
        assert len(execute()) == 1
        backfills.set_limit(backfill, 4, deed=ALICE, at=NOW)
        turn()
        assert len(execute()) == 4

    def test_of_nothing_is_refused(self):
        with pytest.raises(CannotBackfill, match="from 1 on"):
            backfills.set_limit(begin(producer()), 0, deed=ALICE, at=NOW)

    def test_is_in_the_journal(self):
        backfill = begin(producer(), max_active_runs=1)
        backfills.set_limit(backfill, 4, deed=ALICE, at=NOW)
        entry = JournalEntry.objects.get(event="backfill limit changed")
        assert entry.extra == {"backfill": backfill.pk, "was": 1, "now": 4}
