"""The message of a run with a `run_timeout` says when the process that is still at it is ended."""

from datetime import UTC, datetime, timedelta

import pytest

from core.models import Dag, DagRun
from scheduling import claims, runs, tasks, timeouts, turns
from scheduling.runs import Ask
from tests.engine.executing import again
from tests.engine.world import ALICE, MINUTE, NOW, RUNTIME, dag

pytestmark = pytest.mark.django_db


def queued(name="d", timeout=None, at=NOW):
    made = dag(name, RUNTIME, run_timeout=timeout)
    return runs.trigger(made, Ask("k"), deed=ALICE, at=at)


class TestLongest:
    def test_is_its_time_and_twice_the_grace(self):
        """After the first, others say that the run has failed, and its slot is free."""
        run = queued(timeout=MINUTE)
        assert timeouts.longest([run.pk]) == {run.pk: 80.0}

    def test_is_none_for_a_run_that_may_take_as_long_as_it_likes(self):
        limited, free = queued("limited", MINUTE), queued("free")
        assert timeouts.longest([limited.pk, free.pk]) == {limited.pk: 80.0}

    @pytest.mark.parametrize("timeout", [timedelta(hours=24), timedelta(days=10_000_000)])
    def test_never_exceeds_that_of_the_site(self, timeout):
        assert timeouts.longest([queued(timeout=timeout).pk]) == {}


class TestAMessageFromBeforeItsDagGotMoreTime:
    """Otherwise the process would be ended when the run had time left, and the attempt would have failed."""

    @pytest.fixture
    def run(self):
        """Queued a minute ago, as the engine goes by the clock, with a message on its way."""
        run = queued(timeout=MINUTE, at=datetime.now(UTC) - MINUTE)
        turns.dispatch(now=datetime.now(UTC))
        return run

    @pytest.fixture
    def hear(self, run):
        """The message comes, with the limit that it was sent with."""
        limit = timeouts.longest([run.pk])[run.pk]

        def heard():
            tasks.execute_run(run.pk, limit)
            return again(run)

        return heard

    @pytest.mark.parametrize("more", [2 * MINUTE, None])
    def test_starts_nothing_and_another_is_sent(self, run, hear, more):
        Dag.objects.update(run_timeout=more)
        row = hear()
        assert (row.state, row.attempt, row.dispatched_at) == ("queued", 0, None)

    @pytest.mark.parametrize("timeout", [MINUTE, timedelta(seconds=30)])
    def test_starts_the_run_if_its_limit_is_long_enough(self, run, hear, timeout):
        Dag.objects.update(run_timeout=timeout)
        assert hear().attempt == 1

    def test_takes_no_message_back_that_a_run_under_way_was_sent(self, run, hear):
        claims.claim(run.pk, worker="w", now=datetime.now(UTC))
        Dag.objects.update(run_timeout=None)
        hear()
        assert DagRun.objects.get().dispatched_at is not None
