"""How a partition is once runs have gone off the record, or its data has been taken."""

import pytest

from core.models import DagRun, FailedAttempt
from tests.engine.attempting import state
from tests.engine.world import RUNTIME, dag, finish, part

pytestmark = pytest.mark.django_db


class TestDeleted:
    def test_the_failure_before_is_shown(self, attempts):
        first, second = attempts.failed(), attempts.failed()
        attempts.deleted(second)
        assert state() == (False, "failed")
        assert part("out", "k").attempt_run == first

    @pytest.mark.parametrize("between", ["ok", "emitted"])
    def test_what_has_come_since_the_failure_before_is_no_failure(self, attempts, between):
        """Of two runs that are deleted, the first had gone well: the failure before it is over."""
        attempts.failed()
        came, last = getattr(attempts, between)(), attempts.failed()
        attempts.deleted(*((came, last) if came else (last,)))
        assert state() == (True, "success")

    def test_a_failure_since_data_came_is_one(self, attempts):
        came, first, last = attempts.ok(), attempts.failed(), attempts.failed()
        attempts.deleted(came, last)
        assert state() == (True, "failed")
        assert part("out", "k").attempt_run == first

    def test_a_failure_that_was_deleted_does_not_come_back(self, attempts):
        attempts.deleted(attempts.failed())
        attempts.cancelled()
        assert state() == (False, "")

    def test_the_failure_of_another_dag_is_shown(self, attempts):
        other = attempts.start(made=dag("other", RUNTIME, writes=["out"]))
        attempts.failed(other)
        attempts.deleted(attempts.failed())
        assert state() == (False, "failed")
        assert part("out", "k").attempt_run == other

    def test_what_another_run_has_written_of_it_is_no_failure(self, attempts):
        """Its timetable leaves the keys to its code."""
        attempts.failed()
        run = attempts.queue(dag("other", RUNTIME, writes=["out"]))
        DagRun.objects.filter(pk=run.pk).update(partition_key="x")
        finish(attempts.start(run), "out", keys=["k"], at=attempts.now)
        attempts.deleted(attempts.failed())
        assert state() == (True, "success")
        assert part("out", "k").outcome_run == run

    def test_the_failure_before_is_one_though_its_run_was_tried_again_and_cancelled(self, attempts):
        first, second = attempts.failed(), attempts.failed()
        attempts.cancelled(attempts.retried(first))
        attempts.deleted(second)
        assert state() == (False, "failed")
        assert part("out", "k").attempt_run == first

    def test_nothing_of_it_is_kept(self, attempts):
        first, second = attempts.failed(), attempts.failed()
        attempts.deleted(first, second)
        assert not FailedAttempt.objects.exists()
        assert state() == (False, "")


class TestOverlapping:
    """The attempt counts that began last, whichever ended last."""

    def test_a_failure_is_newer_than_data_of_an_older_run_that_has_gone(self, attempts):
        older, newer = attempts.running(), attempts.failed()
        attempts.ok(older)
        attempts.deleted(older, attempts.failed())
        assert state() == (True, "failed")
        assert part("out", "k").attempt_run == newer

    def test_data_of_a_newer_run_is_newer_than_a_failure_that_came_late(self, attempts):
        older, newer = attempts.running(), attempts.ok()
        attempts.failed(older)
        attempts.deleted(newer, attempts.failed())
        assert state() == (True, "success")

    def test_data_that_came_late_ends_a_failure_of_an_older_one(self, attempts):
        attempts.failed()
        older, newer = attempts.running(), attempts.failed()
        attempts.ok(older)
        assert state() == (True, "failed")
        attempts.deleted(newer, older)
        assert state() == (True, "success")


class TestWiped:
    @pytest.mark.parametrize("before", ["failed", "ok"])
    def test_what_was_before_does_not_come_back(self, attempts, before):
        getattr(attempts, before)()
        attempts.wiped()
        attempts.deleted(attempts.failed())
        assert state() == (False, "")
        attempts.cancelled()
        assert state() == (False, "")

    def test_what_was_at_work_then_and_failed_since_does(self, attempts):
        run = attempts.running()
        attempts.wiped()
        attempts.failed(run)
        attempts.deleted(attempts.failed())
        assert state() == (False, "failed")
        assert part("out", "k").attempt_run == run

    def test_what_failed_after_it_does(self, attempts):
        attempts.failed()
        attempts.wiped()
        first, last = attempts.failed(), attempts.failed()
        attempts.deleted(last)
        assert part("out", "k").attempt_run == first


class TestMarked:
    def test_a_success_after_all_has_not_failed(self, attempts):
        first = attempts.failed()
        attempts.marked(first, "success")
        attempts.deleted(attempts.failed())
        assert state() == (False, "success")

    def test_a_failure_after_all_is_one_though_a_later_attempt_has_gone(self, attempts):
        """What a partition fell back to, a success without data, names no run; a person can mark it still."""
        first = attempts.failed()
        attempts.marked(first, "success")
        attempts.deleted(attempts.failed())
        attempts.marked(first, "failed")
        assert state() == (False, "failed")
        assert part("out", "k").attempt_run == first

    def test_a_failure_after_all_does_not_hide_the_one_before(self, attempts):
        first, second = attempts.failed(), attempts.ok()
        third = attempts.failed()
        attempts.marked(second, "failed")
        attempts.deleted(third)
        assert part("out", "k").attempt_run == second
        attempts.deleted(second)
        assert part("out", "k").attempt_run == first

    @pytest.mark.parametrize("between", ["ok", "emitted"])
    def test_a_failure_after_all_leaves_what_went_well_besides(self, attempts, between):
        attempts.failed()
        getattr(attempts, between)()
        last = attempts.ok()
        attempts.marked(last, "failed")
        assert state() == (True, "failed")
        attempts.deleted(last)
        assert state() == (True, "success")

    def test_a_success_that_never_began_stands_beside_one_that_did(self, attempts):
        attempts.marked(attempts.queue(), "success")
        last = attempts.ok()
        attempts.marked(last, "failed")
        attempts.deleted(last)
        assert state()[1] == "success"

    def test_one_that_never_began_goes_with_its_run_however_often_it_was_marked(self, attempts):
        queued = attempts.queue()
        attempts.marked(queued, "success")
        attempts.marked(queued, "failed")
        attempts.deleted(queued)
        assert state() == (False, "")
