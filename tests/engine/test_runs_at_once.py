"""Two who want something of one run at the same moment: one of them has it, the other is told so."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import transaction

from core.models import AssetEvent, Dag, DagRun, JournalEntry, Partition
from scheduling import claims, configuration, corrections, holds, runs, several, timeouts
from scheduling.claims import LeaseLost
from scheduling.holds import NotHeld
from scheduling.runs import Ask, NotRunnable
from tests.engine.meeting import apart, meet
from tests.engine.world import ALICE, IDENTITY, NOW, RUNTIME, consumer, dag, emit, finish, held, start

pytestmark = [pytest.mark.pg, pytest.mark.django_db(transaction=True)]

LATER = NOW + timedelta(hours=1)


@pytest.fixture
def queued():
    return runs.trigger(dag("d", RUNTIME, writes=["out"]), Ask("k"), deed=ALICE, at=NOW)


@pytest.fixture
def running(queued):
    return start(queued)


def again(run):
    return DagRun.objects.get(pk=run.pk)


def refused(error, deed):
    """Do what cannot be done any more."""

    def ask():
        with pytest.raises(error):
            deed()

    return ask


class TestClaiming:
    def claim(self, run):
        return claims.claim(run.pk, worker="w", now=NOW)

    def test_a_run_that_is_cancelled_at_the_moment(self, queued):
        [claimed] = meet(lambda: runs.cancel(queued, deed=ALICE, at=NOW), lambda: self.claim(queued))
        assert claimed is None
        assert (again(queued).state, again(queued).attempt) == ("cancelled", 0)

    def test_and_cancelling_one_that_is_claimed(self, queued):
        meet(lambda: self.claim(queued), lambda: runs.cancel(queued, deed=ALICE, at=NOW))
        assert (again(queued).state, again(queued).cancel_requested) == ("running", True)

    def test_one_whose_dag_is_paused_at_the_moment(self, queued):
        def pause():
            configuration.set_paused(queued.dag, True, deed=ALICE, at=NOW)

        assert meet(pause, lambda: self.claim(queued)) == [None]
        assert again(queued).state == "queued"


class TestEnding:
    def test_a_run_that_is_taken_over_at_the_moment(self, running):
        meet(
            lambda: claims.take_over_lost(now=LATER),
            refused(LeaseLost, lambda: finish(running, "out", at=LATER)),
        )
        assert again(running).state == "queued"
        assert not AssetEvent.objects.exists()

    def test_and_taking_over_one_that_ends(self, running):
        meet(lambda: finish(running, "out", at=LATER), lambda: claims.take_over_lost(now=LATER))
        assert (again(running).state, AssetEvent.objects.count()) == ("success", 1)
        assert not JournalEntry.objects.filter(event="worker lost").exists()

    @pytest.mark.parametrize("look", [claims.take_over_lost, timeouts.end_overdue])
    def test_nobody_waits_for_one_that_takes_long_to_end(self, running, look):
        Dag.objects.update(run_timeout=timedelta(minutes=1))
        with ThreadPoolExecutor(1) as threads, transaction.atomic():
            finish(running, "out", at=LATER)
            threads.submit(apart, lambda: look(now=LATER)).result(20)
        assert again(running).state == "success"

    def test_before_somebody_marks_what_they_saw_running(self, running):
        seen = running.state, running.attempt

        def mark():
            return corrections.mark(running, DagRun.State.FAILED, deed=ALICE, at=LATER)

        meet(
            lambda: finish(running, "out", at=LATER),
            refused(NotRunnable, lambda: several.as_seen(running, *seen, mark)),
        )
        assert again(running).state == "success"

    def test_two_that_take_over(self, running):
        meet(lambda: claims.take_over_lost(now=LATER), lambda: claims.take_over_lost(now=LATER))
        assert again(running).state == "queued"
        assert JournalEntry.objects.filter(event="worker lost").count() == 1

    def test_two_that_try_again(self, running):
        finish(running)
        ended = [DagRun.objects.select_related("dag").get() for _ in range(2)]
        first, second = (lambda run=run: corrections.retry(run, deed=ALICE, at=LATER) for run in ended)
        meet(first, refused(NotRunnable, second))
        assert again(running).state == "queued"


class TestFiring:
    @pytest.fixture
    def complete(self):
        consumer("joined", {"a": IDENTITY, "b": IDENTITY})
        for name in ("a", "b"):
            emit(name, "k")
        holds.route_pending(now=NOW, at_once=0)
        return held("joined", "k")

    def test_a_held_run_by_hand_that_fires_at_the_moment(self, complete):
        by_hand = refused(NotHeld, lambda: holds.fire_now(complete, deed=ALICE, at=NOW))
        meet(lambda: holds.judge_due(now=NOW), by_hand)
        assert DagRun.objects.count() == 1

    def test_and_judging_one_that_somebody_fires(self, complete):
        meet(lambda: holds.fire_now(complete, deed=ALICE, at=NOW), lambda: holds.judge_due(now=NOW))
        assert DagRun.objects.get().created_by == "alice"

    def test_one_that_a_run_by_hand_settles_at_the_moment(self, complete):
        def trigger():
            runs.trigger(complete.dag, Ask("k"), deed=ALICE, at=NOW)

        meet(trigger, lambda: holds.judge_due(now=NOW))
        assert DagRun.objects.get().run_type == "manual"


def test_many_that_report_the_same_keys_in_any_order_do_not_wait_in_a_circle():
    """Each stands in the middle of its keys, as it has named them, when the other begins."""
    emit("a", "k1", "k2", "middle")

    def hold():
        Partition.objects.select_for_update(no_key=True).get(key="middle")

    meet(
        hold,
        lambda: emit("a", "k1", "middle", "k2"),
        lambda: emit("a", "k2", "middle", "k1"),
    )
    assert AssetEvent.objects.count() == 3 + 2 * 3
    events = AssetEvent.objects.order_by("pk").values_list("partition_key", "pk")
    assert dict(Partition.objects.values_list("key", "last_event")) == dict(events)
