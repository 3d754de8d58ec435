"""What late keys lead to: rounds that settle, fire at once, wait for a person or for everything again."""

from datetime import timedelta

import pytest

from core.models import ConsumedEvent, DagRun, HeldRun, ReceivedKey
from scheduling import holds
from tests.engine.world import (
    HOURS_TO_DAY,
    IDENTITY,
    MINUTE,
    NOW,
    REGIONS,
    consumer,
    emit,
    finish,
    fired,
    held,
    hours,
    part,
    start,
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


class TestWhereOneKeyIsEnough:
    def test_hold_means_a_person_decides(self):
        consumer("copy", {"a": IDENTITY}, late="hold")
        emit("a", "k")
        turn()
        emit("a", "k", at=LATER)
        turn(LATER)
        assert fired("copy") == ["k"]
        assert "need approval" in held("copy", "k").sentence

    def test_each_round_counts_what_came_in_it_and_no_more(self):
        """Otherwise the hundredth key of a fixed one would copy the ninety-nine before it."""
        consumer("fixed", {"a": {"type": "FixedKeyMapper", "downstream_key": "all"}})
        for number in range(5):
            emit("a", f"k{number}", at=NOW + number * MINUTE)
            turn(NOW + number * MINUTE)
        assert fired("fixed") == ["all"] * 5
        assert ReceivedKey.objects.count() == ConsumedEvent.objects.count() == 5


class TestMarkStale:
    def test_an_open_late_round_fires_no_more(self):
        made = complete_day()
        emit("hourly", *hours(DAY, 9), at=LATER)
        turn(LATER)
        made.schedule["late"], made.revision = "mark_stale", made.revision + 1
        made.save()
        holds.judge_again([made], at=LATER)
        turn(LATER + timedelta(days=1))
        assert fired("daily") == [DAY]
        assert held("daily", DAY).sentence == "late keys only mark its partition stale"

    def test_the_partition_is_stale_until_its_run_has_written_it_anew(self):
        consumer("copy", {"a": IDENTITY}, writes=["b"])
        emit("a", "k")
        turn()
        finish(start(DagRun.objects.get()), "b", at=NOW + MINUTE)
        emit("a", "k", at=LATER)
        turn(LATER)
        assert part("b", "k").is_stale
        finish(start(DagRun.objects.last(), at=LATER + MINUTE), "b", at=LATER + 2 * MINUTE)
        assert not part("b", "k").is_stale


class TestAnotherMapper:
    def test_keys_of_the_round_before_that_map_elsewhere_now_are_left_there(self):
        made = consumer("joined", {"a": {"type": "StartOfDayMapper"}, "b": IDENTITY})
        emit("a", *hours(DAY, 3))
        emit("b", DAY)
        turn()
        assert fired("joined") == [DAY]
        made.dependencies.filter(asset__name="a").update(mapper=IDENTITY)
        made.revision += 1
        made.save()
        emit("b", DAY, at=LATER)
        turn(LATER)
        assert held("joined", DAY).sentence == "waiting on a (any key that maps here)"
