"""Runs of a backfill that somebody tries again by hand, while it goes on or before its partitions are."""

import pytest

from core.models import DagRun, JournalEntry
from scheduling import backfills, claims, corrections, queueing, retries, runs
from scheduling.backfills.reading import progress_of, status_of
from tests.backfills.play import (
    SECOND,
    begin,
    counts,
    drive,
    execute,
    finish,
    item,
    producer,
    steer,
    turn,
)
from tests.engine.world import ALICE, NOW, part, start

pytestmark = pytest.mark.django_db
FIRST = "2026-03-01"
MOMENT = NOW + SECOND


def again(run, at=MOMENT):
    return corrections.retry(run, deed=ALICE, at=at)


def status(backfill):
    backfill.refresh_from_db()
    return status_of(backfill, progress_of([backfill])[backfill.pk])


def run_of(*keys):
    return next(run for run in DagRun.objects.select_related("dag").order_by("pk") if run.keys == [*keys])


class TestARunAndItsPartition:
    """Both are tried again: the key runs once."""

    def test_of_one_key(self):
        backfill = begin(producer(), keys=(FIRST,))
        drive(backfill, fail=[FIRST])
        backfills.retry_failed(backfill, deed=ALICE, at=MOMENT)
        again(run_of(FIRST))
        turn(MOMENT)
        assert item(backfill, FIRST).run == run_of(FIRST)
        drive(backfill, at=MOMENT)
        assert counts(backfill) == {"planned": 1, "done": 1}
        assert DagRun.objects.count() == 1

    def test_of_a_range(self):
        backfill = begin(producer(max_keys_per_run=None), keys_per_run=None)
        drive(backfill, fail=[FIRST])
        [run] = DagRun.objects.all()
        backfills.retry_failed(backfill, deed=ALICE, at=MOMENT)
        again(run)
        drive(backfill, at=MOMENT)
        assert counts(backfill) == {"planned": 10, "done": 10}
        assert DagRun.objects.count() == 1


class TestOfABackfillThatHasEnded:
    """The key is under way again, and the backfill open, until the run has ended."""

    def test_the_key_is_done_when_the_run_goes_well(self):
        backfill = begin(producer(), keys=(FIRST, "2026-03-02"))
        drive(backfill, fail=[FIRST])
        again(run_of(FIRST))
        assert counts(backfill) == {"planned": 2, "done": 1, "open": 1}
        assert (item(backfill, FIRST).state, status(backfill)) == ("started", "running")
        assert drive(backfill, at=MOMENT) == [[FIRST]]
        assert (counts(backfill), status(backfill)) == ({"planned": 2, "done": 2}, "done")

    def test_the_key_has_failed_when_the_run_fails_again(self):
        backfill = begin(producer(), keys=(FIRST,))
        drive(backfill)
        again(run_of(FIRST))
        drive(backfill, at=MOMENT, fail=[FIRST])
        assert (counts(backfill), status(backfill)) == ({"planned": 1, "failed": 1}, "failed")
        assert item(backfill, FIRST).reason == "boom: no disk"

    def test_it_runs_though_the_backfill_had_been_paused(self):
        backfill = begin(producer(), keys=(FIRST,))
        turn()
        [run] = [start(each) for each in DagRun.objects.all()]
        steer(backfills.pause, backfill)
        finish(run, NOW, [FIRST])
        turn()
        assert status(backfill) == "failed"
        again(run)
        drive(backfill, at=MOMENT)
        assert counts(backfill) == {"planned": 1, "done": 1}

    def test_the_range_is_under_way_again_with_all_its_keys(self):
        backfill = begin(producer(max_keys_per_run=None), keys_per_run=None)
        drive(backfill)
        [run] = DagRun.objects.all()
        again(run)
        assert counts(backfill) == {"planned": 10, "open": 10}
        drive(backfill, at=MOMENT)
        assert counts(backfill) == {"planned": 10, "done": 10}

    def test_it_is_not_tried_again_twice(self):
        backfill = begin(producer(), keys=(FIRST,))
        drive(backfill, fail=[FIRST])
        again(run_of(FIRST))
        with pytest.raises(backfills.NothingToBackfill):
            backfills.retry_failed(backfill, deed=ALICE, at=MOMENT)

    def test_the_end_is_in_the_journal_twice(self):
        backfill = begin(producer(), keys=(FIRST,))
        drive(backfill, fail=[FIRST])
        again(run_of(FIRST))
        drive(backfill, at=MOMENT)
        ends = JournalEntry.objects.filter(event="backfill ended").order_by("pk")
        assert [(each.extra["done"], each.extra["failed"]) for each in ends] == [(0, 1), (1, 0)]


class TestOfABackfillThatWasCancelled:
    def cancelled(self):
        """One run of it waits when it is cancelled, and of a second key there is none yet."""
        backfill = begin(producer(), keys=("2026-03-01", "2026-03-02", "2026-03-03"), max_active_runs=1)
        turn()
        steer(backfills.cancel, backfill)
        return backfill

    def test_the_run_starts_and_nothing_else_does(self):
        backfill = self.cancelled()
        assert status(backfill) == "cancelled"
        again(run_of(FIRST))
        assert status(backfill) == "cancelling"
        assert [each.kind for each in queueing.of_run(run_of(FIRST), now=MOMENT)] == ["worker"]
        assert drive(backfill, at=MOMENT) == [[FIRST]]
        assert counts(backfill) == {"planned": 3, "done": 1, "cancelled": 2}
        assert status(backfill) == "cancelled"

    def test_resumed_meanwhile_the_key_runs_once(self):
        backfill = self.cancelled()
        again(run_of(FIRST))
        steer(backfills.resume, backfill, MOMENT)
        assert sorted(drive(backfill, at=MOMENT)) == [["2026-03-01"], ["2026-03-02"], ["2026-03-03"]]

    def test_one_that_was_running_is_tried_again_by_itself(self):
        """Running ones finish, with the attempts that they have left."""
        backfill = begin(producer(retries=1, retry_delay=SECOND), keys=(FIRST,))
        turn()
        [run] = [start(each) for each in DagRun.objects.all()]
        steer(backfills.cancel, backfill)
        retries.fail(run, "boom", at=NOW)
        drive(backfill, at=NOW + 2 * SECOND)
        assert (counts(backfill), status(backfill)) == ({"planned": 1, "done": 1}, "cancelled")


def test_a_run_that_the_backfill_did_not_start_does_its_key_again():
    made = producer()
    backfill = begin(made, keys=(FIRST,))
    by_hand = runs.trigger(made, runs.Ask(FIRST), deed=ALICE, at=NOW)
    drive(backfill, fail=[FIRST])
    assert item(backfill, FIRST).run == by_hand
    again(by_hand)
    assert counts(backfill) == {"planned": 1, "open": 1}
    drive(backfill, at=MOMENT)
    assert counts(backfill) == {"planned": 1, "done": 1}


def test_those_that_are_done_may_take_all_room_and_the_others_follow():
    """Nothing of the backfill itself is under way then: no end of a partition wakes it."""
    backfill = begin(producer(), max_active_runs=1)
    turn()
    done = [*execute(), *execute()]
    turn()
    for run in done:
        again(run)
    for key in ("2026-03-03", "2026-03-04"):
        finish(start(run_of(key), at=MOMENT), MOMENT)
    turn(MOMENT)
    assert len(execute(MOMENT) + execute(MOMENT)) == 2
    drive(backfill, at=MOMENT)
    assert counts(backfill) == {"planned": 10, "done": 10}


class TestARangeUnderWay:
    def test_shows_again_where_a_newer_run_was_cancelled(self):
        made = producer(max_keys_per_run=None)
        begin(made, keys_per_run=None)
        turn()
        [ranged] = DagRun.objects.all()
        start(ranged)
        newer = start(runs.trigger(made, runs.Ask(FIRST), deed=ALICE, at=NOW), at=MOMENT)
        claims.stop(newer, at=MOMENT)
        found = part("days", FIRST)
        assert (found.attempt, found.attempt_run) == ("running", ranged)

    def test_marked_a_success_has_given_up_nothing(self):
        begin(producer(max_keys_per_run=None), keys_per_run=None)

        def give_up(run):
            claims.succeed(run, [], at=NOW, failed_keys={FIRST: "no file"})

        turn()
        [run] = execute(end=give_up)
        corrections.mark(run, DagRun.State.SUCCESS, deed=ALICE, at=MOMENT)
        assert DagRun.objects.get().failed_keys == {}
        assert part("days", FIRST).attempt == "success"
