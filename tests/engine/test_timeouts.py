"""An attempt that takes too long has failed, whoever looks first, and whatever its task does then."""

from datetime import timedelta

import pytest

from core.models import AssetEvent
from scheduling import claims, runs, tasks, timeouts
from scheduling.runs import Ask
from tests.engine.executing import again
from tests.engine.world import ALICE, MINUTE, NOW, RUNTIME, dag, finish, part, start

SECOND = timedelta(seconds=1)


@pytest.mark.django_db
class TestOverdue:
    def make(self, timeout=5 * MINUTE, **fields):
        made = dag("d", RUNTIME, writes=["out"], run_timeout=timeout, **fields)
        return start(runs.trigger(made, Ask("k"), deed=ALICE, at=NOW))

    def test_runs_have_failed_after_a_moment_of_grace(self):
        run, ends = self.make(), NOW + 5 * MINUTE
        assert timeouts.end_overdue(now=ends + timeouts.GRACE - SECOND) == 0
        assert timeouts.end_overdue(now=ends + timeouts.GRACE) == 1
        row = again(run)
        assert (row.state, row.error) == ("failed", "timed out after 5 minutes")
        assert part("out", "k").state == "failed"

    def test_runs_are_tried_again_if_their_dag_says_so(self):
        run = self.make(retries=1, retry_delay=MINUTE)
        timeouts.end_overdue(now=NOW + 10 * MINUTE)
        assert (again(run).state, again(run).run_after) == ("queued", NOW + 11 * MINUTE)

    def test_is_none_that_may_take_as_long_as_it_likes(self):
        run = self.make(timeout=None)
        assert timeouts.end_overdue(now=NOW + timedelta(days=365)) == 0
        assert again(run).state == "running"

    def test_is_none_that_has_ended(self):
        finish(self.make(), "out")
        assert timeouts.end_overdue(now=NOW + timedelta(days=1)) == 0
        assert AssetEvent.objects.count() == 1

    def test_of_ages_in_a_row_keeps_no_other_run_from_its_own(self):
        times = {"ages": timedelta(days=10_000_000), "short": MINUTE}
        made = [dag(name, RUNTIME, writes=[name], run_timeout=time) for name, time in times.items()]
        ages, short = (start(runs.trigger(each, Ask("k"), deed=ALICE, at=NOW)) for each in made)
        timeouts.end_overdue(now=NOW + 60 * MINUTE)
        assert (again(ages).state, again(short).state) == ("running", "failed")

    def test_is_the_attempt_and_not_the_run(self):
        run = self.make()
        claims.take_over_lost(now=NOW + 4 * MINUTE)
        start(again(run), at=NOW + 4 * MINUTE)
        assert timeouts.end_overdue(now=NOW + 7 * MINUTE) == 0

    def test_is_not_what_was_executed_anew_between_the_look_and_the_deed(self):
        stale = self.make()
        claims.take_over_lost(now=NOW + 4 * MINUTE)
        start(again(stale), at=NOW + 4 * MINUTE)
        assert not timeouts.end_if_overdue(stale, now=NOW + 6 * MINUTE)
        assert again(stale).state == "running"

    def test_records_nothing_of_what_is_done_then(self):
        run = self.make()
        timeouts.end_overdue(now=NOW + 10 * MINUTE)
        with pytest.raises(claims.LeaseLost):
            finish(run, "out", at=NOW + 10 * MINUTE)
        assert not AssetEvent.objects.exists()

    def test_runs_are_ended_by_the_sweep(self):
        """Also those that nobody executes any more: they have failed before they are taken to be lost."""
        run = self.make()
        tasks.sweep()
        assert again(run).error == "timed out after 5 minutes"
