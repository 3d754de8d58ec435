"""What failed in a backfill runs again, and what was cancelled if somebody says so."""

import pytest

from core.models import DagRun, JournalEntry
from scheduling import backfills, claims, runs
from scheduling.backfills import NothingToBackfill, outcomes
from tests.backfills.play import (
    SECOND,
    begin,
    counts,
    daily,
    days,
    drive,
    execute,
    listener,
    producer,
    states,
    steer,
    turn,
)
from tests.engine.world import ALICE, NOW

pytestmark = pytest.mark.django_db


class TestRetry:
    def test_runs_again_exactly_what_failed(self):
        backfill = begin(producer())
        drive(backfill, fail=["2026-03-03", "2026-03-07"])
        assert counts(backfill) == {"planned": 10, "done": 8, "failed": 2}
        assert steer(backfills.retry_failed, backfill, at=NOW + SECOND) == 2
        assert counts(backfill) == {"planned": 10, "done": 8, "open": 2}
        again = drive(backfill, at=NOW + SECOND)
        assert sorted(again) == [["2026-03-03"], ["2026-03-07"]]
        assert counts(backfill) == {"planned": 10, "done": 10}

    def test_and_what_was_blocked_by_it(self):
        daily("as"), daily("bs")
        first = producer("first", "as")
        listener("second", "as", "bs")
        backfill = begin(first, selection="[2026-03-01...2026-03-02]", with_downstream=True)
        drive(backfill, fail=["2026-03-01"])
        assert states(backfill)["second", "2026-03-01"] == "blocked"
        assert steer(backfills.retry_failed, backfill) == 2
        assert states(backfill)["second", "2026-03-01"] == "waiting"
        drive(backfill)
        assert counts(backfill) == {"planned": 4, "done": 4}

    def test_of_a_chain_goes_on_behind_the_failure(self):
        backfill = begin(producer(), is_chained=True)
        drive(backfill, fail=["2026-03-04"])
        assert steer(backfills.retry_failed, backfill) == 7
        assert [keys[0] for keys in drive(backfill)] == days(4, 10)

    def test_of_keys_that_one_run_gave_up(self):
        backfill = begin(producer(max_keys_per_run=None), keys_per_run=None)

        def end(run):
            outlets = [claims.Output(outlet.asset) for outlet in run.dag.outlets.select_related("asset")]
            claims.succeed(
                run, outlets, at=NOW, failed_keys={"2026-03-02": "no file", "2026-03-04": "no file"}
            )

        drive(backfill, end=end)
        steer(backfills.retry_failed, backfill)
        assert drive(backfill) == [["2026-03-02", "2026-03-04"]]
        assert counts(backfill) == {"planned": 10, "done": 10}

    @pytest.mark.parametrize("portion", [outcomes.PORTION, 3])
    def test_leaves_what_was_cancelled(self, monkeypatch, portion):
        """Also where the cancellation has gone some portions of the way."""
        monkeypatch.setattr(outcomes, "PORTION", portion)
        backfill = begin(producer(), max_active_runs=1)
        turn()
        execute(most=1, fail=["2026-03-01"])
        turn()
        steer(backfills.cancel, backfill)
        assert steer(backfills.retry_failed, backfill) == 1
        drive(backfill)
        assert counts(backfill) == {"planned": 10, "done": 1, "cancelled": 9}

    def test_takes_what_was_cancelled_if_told_so(self):
        backfill = begin(producer(), keys=("2026-03-01", "2026-03-02"))
        turn()
        runs.cancel(DagRun.objects.first(), deed=ALICE, at=NOW)
        drive(backfill)
        assert counts(backfill) == {"planned": 2, "done": 1, "cancelled": 1}
        with pytest.raises(NothingToBackfill):
            steer(backfills.retry_failed, backfill)
        assert steer(backfills.retry_failed, backfill, and_cancelled=True) == 1
        drive(backfill)
        assert counts(backfill) == {"planned": 2, "done": 2}

    def test_of_a_paused_one_starts_nothing_until_it_is_resumed(self):
        backfill = begin(producer(), max_active_runs=1)
        turn()
        execute(most=1, fail=["2026-03-01"])
        turn()
        steer(backfills.pause, backfill)
        assert steer(backfills.retry_failed, backfill, at=NOW + SECOND) == 1
        turn(NOW + SECOND)
        assert execute() == []
        assert counts(backfill) == {"planned": 10, "open": 10}
        steer(backfills.resume, backfill)
        assert len(drive(backfill, at=NOW + SECOND)) == 10

    def test_of_one_that_was_paused_when_it_ended_goes_on(self):
        backfill = begin(producer(), keys=("2026-03-01",))
        turn()

        def end(run):
            steer(backfills.pause, backfill)
            claims.fail(run, "no disk", at=NOW)

        execute(end=end)
        turn()
        assert counts(backfill) == {"planned": 1, "failed": 1}
        steer(backfills.retry_failed, backfill)
        assert drive(backfill) == [["2026-03-01"]]

    def test_of_nothing_is_refused(self):
        backfill = begin(producer(), keys=("2026-03-01",))
        drive(backfill)
        with pytest.raises(NothingToBackfill, match="nothing to run again"):
            steer(backfills.retry_failed, backfill)
        backfill.refresh_from_db()
        assert backfill.completed_at is not None

    def test_is_in_the_journal(self):
        backfill = begin(producer())
        drive(backfill, fail=["2026-03-03"])
        steer(backfills.retry_failed, backfill)
        entry = JournalEntry.objects.get(event="backfill retried")
        assert entry.extra == {"backfill": backfill.pk, "partitions": 1}
