"""Runs that wait for a retry, or for their day, keep no other key of the backfill waiting."""

from datetime import timedelta

import pytest

from core.models import Backfill, DagRun
from scheduling import backfills, retries
from scheduling.backfills import Order
from scheduling.backfills.ahead import AHEAD
from tests.backfills.play import begin, counts, days, drive, execute, producer, turn
from tests.engine.world import DAILY, NOW, dag

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def failing(run):
    retries.fail(run, "boom", at=NOW)


class TestRunsThatWaitForARetry:
    def begin(self, **options):
        made = producer(retries=1, retry_delay=HOUR)
        return begin(made, selection="[2026-03-01...2026-03-10]", max_active_runs=2, **options)

    def test_do_not_stall_the_keys_after_them(self):
        backfill = self.begin()
        for _ in range(AHEAD):
            turn()
            execute(end=failing)
        turn()
        assert DagRun.objects.filter(failures=1, run_after=NOW + HOUR).count() == 2 * AHEAD
        assert [run.partition_key for run in execute()] == days(5, 6)
        assert counts(backfill) == {"planned": 10, "open": 10}

    def test_wake_their_backfill(self):
        self.begin()
        turn()
        execute(end=failing)
        assert Backfill.objects.due(NOW).exists()
        assert backfills.advance(now=NOW)

    def test_count_again_when_their_time_has_come(self):
        self.begin()
        turn()
        execute(end=failing)
        turn(NOW + HOUR)
        assert DagRun.objects.filter(run_after__lte=NOW + HOUR).count() == 2 * AHEAD

    def test_end_with_the_backfill_when_all_is_done(self):
        backfill = self.begin()
        turn()
        execute(end=failing)
        drive(backfill, at=NOW + HOUR)
        assert counts(backfill) == {"planned": 10, "done": 10}

    def test_keep_their_place_in_a_chain(self):
        """The next key of a chain comes after this one, however long that takes."""
        self.begin(is_chained=True)
        turn()
        execute(end=failing)
        turn()
        assert [run.partition_key for run in DagRun.objects.all()] == days(1, 1)

    def test_wake_no_backfill_that_is_completed(self):
        backfill = self.begin()
        turn()
        run = execute(end=lambda run: None)[0]
        Backfill.objects.filter(pk=backfill.pk).update(completed_at=NOW, advance_after=None)
        failing(run)
        assert DagRun.objects.get(pk=run.pk).failures == 1


class TestRunsOfKeysToCome:
    def test_do_not_stall_what_may_run_now(self):
        made = dag("ticking", DAILY, writes=["out"])
        keys = tuple(reversed(days(9, 31)))
        backfill = begin(made, keys=keys, order=Order.NEWEST, max_active_runs=2)
        turn()
        assert [run.partition_key for run in execute()] == ["2026-03-11", "2026-03-10"]
        assert counts(backfill) == {"planned": 23, "open": 23}
