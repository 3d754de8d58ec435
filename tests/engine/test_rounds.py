from datetime import timedelta

import pytest

from core.models import HeldRun
from scheduling import holds
from tests.engine.world import (
    HOURS_TO_DAY,
    IDENTITY,
    MINUTE,
    NOW,
    REGIONS,
    consumer,
    emit,
    fired,
    held,
    hours,
    part,
    turn,
)

pytestmark = pytest.mark.django_db
DAY = "2026-03-10"
LATER = NOW + timedelta(hours=1)


def complete_day(**options):
    made = consumer("daily", {"hourly": HOURS_TO_DAY}, writes=["days"], **options)
    emit("hourly", *hours(DAY, *range(24)))
    turn()
    assert fired("daily") == [DAY]
    return made


class TestOneKeyIsEnough:
    def test_every_further_event_fires_again_at_once(self):
        consumer("copy", {"a": IDENTITY})
        for minute in range(3):
            emit("a", "k", at=NOW + minute * MINUTE)
            turn(NOW + minute * MINUTE)
        assert fired("copy") == ["k", "k", "k"]
        assert list(HeldRun.objects.values_list("round", flat=True)) == [1, 2, 3]


class TestSettle:
    def test_one_corrected_hour_costs_one_run_after_ten_quiet_minutes(self):
        complete_day()
        emit("hourly", *hours(DAY, 9), at=LATER)
        turn(LATER)
        row = held("daily", DAY)
        assert (row.round, row.verdict, row.judge_after) == (2, "settling", LATER + 10 * MINUTE)
        turn(LATER + 9 * MINUTE)
        assert fired("daily") == [DAY]
        turn(LATER + 10 * MINUTE)
        assert fired("daily") == [DAY, DAY]
        assert HeldRun.objects.get(round=2).consumed.count() == 25 - 1

    def test_each_further_key_starts_the_quiet_time_anew(self):
        complete_day()
        emit("hourly", *hours(DAY, 9), at=LATER)
        turn(LATER)
        emit("hourly", *hours(DAY, 10), at=LATER + 8 * MINUTE)
        turn(LATER + 8 * MINUTE)
        turn(LATER + 12 * MINUTE)
        assert fired("daily") == [DAY]
        turn(LATER + 18 * MINUTE)
        assert fired("daily") == [DAY, DAY]

    def test_a_day_emitted_anew_fires_once_without_waiting(self):
        complete_day()
        emit("hourly", *hours(DAY, *range(24)), at=LATER)
        turn(LATER)
        assert fired("daily") == [DAY, DAY]

    def test_a_late_key_after_a_tolerant_rollup_fired_leads_to_one_more_run_at_most(self):
        tolerant = HOURS_TO_DAY | {"wait_policy": {"type": "MinimumCount", "n": -2}}
        consumer("daily", {"hourly": tolerant})
        emit("hourly", *hours(DAY, *range(21)))
        turn()
        assert fired("daily") == []
        emit("hourly", *hours(DAY, 21))
        turn()
        assert fired("daily") == [DAY]
        emit("hourly", *hours(DAY, 22, 23), at=LATER)
        turn(LATER)
        turn(LATER + 10 * MINUTE)
        assert fired("daily") == [DAY, DAY]
        turn(LATER + timedelta(days=2))
        assert fired("daily") == [DAY, DAY]


class TestOtherAnswersToLateKeys:
    def test_immediate_fires_with_all_that_is_there(self):
        complete_day(late="immediate")
        emit("hourly", *hours(DAY, 9), at=LATER)
        turn(LATER)
        assert fired("daily") == [DAY, DAY]

    def test_hold_waits_for_a_person(self):
        complete_day(late="hold")
        emit("hourly", *hours(DAY, 9), at=LATER)
        turn(LATER + timedelta(days=1))
        assert fired("daily") == [DAY]
        assert "needs approval" in held("daily", DAY).sentence.replace("need approval", "needs approval")

    def test_mark_stale_runs_nothing_and_marks_the_partition(self):
        complete_day(late="mark_stale")
        emit("days", DAY)
        emit("hourly", *hours(DAY, 9), at=LATER)
        turn(LATER)
        assert fired("daily") == [DAY]
        assert part("days", DAY).is_stale
        assert not HeldRun.objects.held().filter(dag__dag_id="daily").exists()

    def test_restart_wants_everything_again(self):
        consumer("all", {"regional": REGIONS}, late="restart")
        emit("regional", "tw", "jp", "us")
        turn()
        emit("regional", "tw", at=LATER)
        turn(LATER + timedelta(days=1))
        assert fired("all") == ["all"]
        emit("regional", "jp", "us", at=LATER)
        turn(LATER + timedelta(days=1))
        assert fired("all") == ["all", "all"]


class TestAnEventWhileItFires:
    def test_an_event_after_the_fire_is_in_the_next_round_and_not_lost(self):
        consumer("all", {"regional": REGIONS})
        emit("regional", "tw", "jp", "us")
        while holds.route_pending(now=NOW):
            pass
        emit("regional", "us", at=NOW)
        holds.judge_due(now=NOW)
        assert fired("all") == ["all"]
        turn(NOW + MINUTE)
        assert held("all", "all").round == 2

    def test_an_event_that_a_run_has_counted_before_it_was_mapped_is_not_late(self):
        """b is on record when a is mapped: the run fires with both, and b opens no second round."""
        consumer("joined", {"a": IDENTITY, "b": IDENTITY})
        emit("a", "k")
        emit("b", "k")
        holds.route_pending(now=NOW, limit=1)
        holds.judge_due(now=NOW)
        assert fired("joined") == ["k"]
        turn(NOW + timedelta(days=1))
        assert HeldRun.objects.count() == 1
        assert HeldRun.objects.get().consumed.count() == 2
