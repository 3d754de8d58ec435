"""How a partition is whose run is tried again, or has lost its worker."""

import pytest

from core.models import DagRun
from scheduling import claims, corrections, runs
from tests.engine.attempting import state
from tests.engine.world import ALICE, MINUTE, part

pytestmark = pytest.mark.django_db


class TestRetry:
    def test_it_is_the_latest_attempt_though_its_run_is_an_old_one(self, attempts):
        old = attempts.failed()
        attempts.ok()
        again = attempts.retried(old)
        assert state() == (True, "running")
        attempts.failed(again)
        assert state() == (True, "failed")

    def test_cancelled_it_leaves_what_was_before(self, attempts):
        attempts.cancelled(attempts.retried(attempts.failed()))
        assert state() == (False, "failed")


class TestAClockThatWasSetBack:
    """Between two attempts of one run: the later one counts, whatever the clock says."""

    @pytest.mark.parametrize("first", ["failed", "ok"])
    @pytest.mark.parametrize("second", ["failed", "ok"])
    def test_the_later_attempt_of_a_run_counts(self, attempts, first, second):
        run = getattr(attempts, first)()
        attempts.now -= 60 * MINUTE
        again = attempts.retried(run)
        assert state() == (first == "ok", "running")
        getattr(attempts, second)(again)
        assert state() == ("ok" in (first, second), "success" if second == "ok" else "failed")
        row = part("out", "k")
        assert row.outcome == row.attempt

    def test_an_older_attempt_of_another_run_does_not(self, attempts):
        attempts.failed()
        attempts.now -= 60 * MINUTE
        attempts.ok()
        assert state() == (True, "failed")


class TestLost:
    def test_a_run_that_waits_for_a_worker_again_is_not_running(self, attempts):
        attempts.failed()
        attempts.lost(attempts.running())
        assert state() == (False, "failed")

    def test_and_may_be_cancelled(self, attempts):
        run = attempts.running()
        attempts.lost(run)
        runs.cancel(run, deed=ALICE, at=attempts.now)
        assert state() == (False, "")

    def test_after_its_last_attempt_it_has_failed(self, attempts):
        run = attempts.running()
        attempts.lost(run)
        attempts.lost(attempts.start(run))
        assert state() == (False, "failed")


class TestAClaimThatWasLost:
    def test_the_same_worker_has_to_claim_anew(self, attempts):
        """Retried and claimed again by one worker, the first execution still has nothing to say."""
        first = attempts.running()
        corrections.mark(first, DagRun.State.FAILED, deed=ALICE, at=attempts.now)
        zombie = DagRun.objects.get(pk=first.pk)
        zombie.claimed_by, zombie.attempt = "w1", 1
        again = attempts.retried(first)
        assert (again.claimed_by, again.attempt) == ("w1", 2)
        with pytest.raises(claims.LeaseLost):
            claims.fail(zombie, "late", at=attempts.now)
        assert claims.renew(again, now=attempts.now)
