"""Pause, late keys and repairs (TC-33 of the expectations), as an operator meets them: a month of days."""

from datetime import timedelta

import pytest

from core.models import Dag, DagRun, HeldRun
from scheduling import claims, corrections, holds, runs, turns
from scheduling.configuration import set_paused
from scheduling.runs import Ask
from tests.engine.world import (
    ALICE,
    IDENTITY,
    MINUTE,
    NOW,
    consumer,
    dag,
    emit,
    finish,
    fired,
    held,
    part,
    start,
    turn,
)

pytestmark = pytest.mark.django_db

MONTH, LATE_DAY = "2026-03", "2026-03-15"
DAYS = [f"{MONTH}-{day:02}" for day in range(1, 32)]
DAYS_TO_MONTH = {
    "type": "RollupMapper",
    "upstream_mapper": {"type": "StartOfMonthMapper", "input_format": "%Y-%m-%d"},
    "window": {"type": "MonthWindow"},
}
LATER = NOW + timedelta(hours=1)
DAY_LATER = LATER + timedelta(days=1)


def fired_month(mapper=DAYS_TO_MONTH, keys=DAYS, **options):
    """The rollup of March has fired and written its partition; then one day of it comes again."""
    consumer("monthly", {"daily": mapper}, writes=["months"], **options)
    emit("daily", *keys)
    turn()
    assert fired("monthly") == [MONTH]
    finish(start(DagRun.objects.get()), "months", at=NOW + MINUTE)
    emit("daily", LATE_DAY, at=LATER)
    turn(LATER)


def consumed(run):
    return sorted(run.held_runs.get().consumed.values_list("event__partition_key", flat=True).distinct())


class TestPause:
    def test_what_got_complete_meanwhile_runs_afterwards_within_the_cap_and_once(self):
        paused = consumer("report", {"daily": IDENTITY, "prices": IDENTITY})
        Dag.objects.update(max_active_runs=2)
        set_paused(paused, True, deed=ALICE, at=NOW)
        emit("daily", "1", "2", "3")
        emit("prices", "1", "2", "3")
        turn()
        assert fired("report") == []
        set_paused(paused, False, deed=ALICE, at=LATER)
        turn(LATER)
        assert fired("report") == ["1", "2", "3"]
        assert len(turns.dispatch(now=LATER)) == 2
        claimed = [claims.claim(run.pk, worker="w", now=LATER) for run in DagRun.objects.all()]
        assert [run is not None for run in claimed] == [True, True, False]
        turn(DAY_LATER)
        assert fired("report") == ["1", "2", "3"]


class TestOneDayOfAMonthAgain:
    def test_mark_stale_runs_nothing_and_says_that_the_month_is_stale(self):
        fired_month(late="mark_stale")
        turn(DAY_LATER)
        assert fired("monthly") == [MONTH]
        assert part("months", MONTH).is_stale
        assert not HeldRun.objects.held().exists()

    def test_hold_asks_a_person_once_and_names_the_day(self):
        fired_month(late="hold")
        turn(DAY_LATER)
        assert fired("monthly") == [MONTH]
        row = HeldRun.objects.held().get()
        assert row.sentence == f"waiting for a person: late keys need approval: {LATE_DAY}"
        run = holds.fire_now(row, deed=ALICE, at=DAY_LATER)
        assert (run.partition_key, consumed(run)) == (MONTH, DAYS)

    @pytest.mark.parametrize(("late", "at"), [("immediate", LATER), ("settle", LATER + 10 * MINUTE)])
    def test_the_second_run_has_the_whole_month(self, late, at):
        fired_month(late=late)
        turn(at)
        assert fired("monthly") == [MONTH, MONTH]
        assert consumed(DagRun.objects.last()) == DAYS
        turn(DAY_LATER)
        assert fired("monthly") == [MONTH, MONTH]

    def test_where_twenty_are_enough_one_alone_never_fires(self):
        twenty = DAYS_TO_MONTH | {"wait_policy": {"type": "MinimumCount", "n": 20}}
        fired_month(twenty, keys=DAYS[:20])
        row = held("monthly", MONTH)
        assert (row.verdict, row.received_count) == ("settling", 20)
        turn(LATER + 10 * MINUTE)
        assert consumed(DagRun.objects.last()) == DAYS[:20]
        turn(DAY_LATER)
        assert fired("monthly") == [MONTH, MONTH]


class TestRepair:
    @pytest.fixture
    def failed(self):
        """All days but one are there: the run of that one has failed."""
        producer = dag("ingest", {"type": "PartitionedAtRuntime"}, writes=["daily"])
        consumer("monthly", {"daily": DAYS_TO_MONTH})
        emit("daily", *(day for day in DAYS if day != LATE_DAY))
        run = runs.trigger(producer, Ask(LATE_DAY), deed=ALICE, at=NOW)
        claims.fail(start(run), "no", at=NOW)
        turn()
        assert fired("monthly") == []
        assert part("daily", LATE_DAY).state == "failed"
        return run

    def test_a_key_emitted_by_hand_is_as_good_as_a_run(self, failed):
        emit("daily", LATE_DAY, at=LATER)
        turn(LATER)
        assert fired("monthly") == [MONTH]

    def test_and_so_is_the_run_tried_again(self, failed):
        corrections.retry(failed, deed=ALICE, at=LATER)
        failed.refresh_from_db()
        finish(start(failed, at=LATER), "daily", at=LATER)
        turn(LATER)
        assert fired("monthly") == [MONTH]
