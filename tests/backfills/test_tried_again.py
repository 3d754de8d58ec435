"""Runs of a backfill that somebody tries again by hand, while it goes on or before its partitions are."""

import pytest

from core.models import DagRun
from scheduling import backfills, claims, corrections, runs
from tests.backfills.play import (
    SECOND,
    begin,
    counts,
    drive,
    execute,
    finish,
    item,
    producer,
    turn,
)
from tests.engine.world import ALICE, NOW, part, start

pytestmark = pytest.mark.django_db
FIRST = "2026-03-01"
MOMENT = NOW + SECOND


def again(run, at=MOMENT):
    return runs.retry(run, deed=ALICE, at=at)


def run_of(*keys):
    return next(run for run in DagRun.objects.select_related("dag").order_by("pk") if run.keys == [*keys])


class TestARunAndItsPartition:
    """Both are tried again: the key runs once."""

    def test_of_one_key(self):
        backfill = begin(producer(), keys=(FIRST,))
        drive(backfill, fail=[FIRST])
        again(run_of(FIRST))
        backfills.retry_failed(backfill, deed=ALICE, at=MOMENT)
        turn(MOMENT)
        assert item(backfill, FIRST).run == run_of(FIRST)
        drive(backfill, at=MOMENT)
        assert counts(backfill) == {"planned": 1, "done": 1}
        assert DagRun.objects.count() == 1

    def test_of_a_range(self):
        backfill = begin(producer(max_keys_per_run=None), keys_per_run=None)
        drive(backfill, fail=[FIRST])
        [run] = DagRun.objects.all()
        again(run)
        backfills.retry_failed(backfill, deed=ALICE, at=MOMENT)
        drive(backfill, at=MOMENT)
        assert counts(backfill) == {"planned": 10, "done": 10}
        assert DagRun.objects.count() == 1


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
