from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from core.models import DagRun
from scheduling import ticks
from scheduling.algebra import registry
from scheduling.algebra.timetables import CronPartitionTimetable
from tests.engine.world import DAILY, dag

pytestmark = pytest.mark.django_db

SEEN = datetime(2026, 3, 10, 8, 0, tzinfo=UTC)
BACK = datetime(2026, 3, 13, 8, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Failing(CronPartitionTimetable):
    """What a plug-in may bring: it can be read, and then fails."""

    cron: str = "* * * * *"

    def next_tick(self, after):
        raise RuntimeError("no")


def keys(dag_id="daily"):
    return list(
        DagRun.objects.filter(dag__dag_id=dag_id).order_by("tick_at").values_list("partition_key", flat=True)
    )


def daily(**fields):
    return dag("daily", DAILY, **({"created_at": SEEN} | fields))


class TestCatchUp:
    @pytest.mark.parametrize(
        ("catchup", "expected"),
        [("all", ["2026-03-11", "2026-03-12", "2026-03-13"]), ("last", ["2026-03-13"]), ("none", [])],
    )
    def test_ticks_missed_while_nothing_was_running(self, catchup, expected):
        daily(catchup=catchup)
        ticks.advance(now=datetime(2026, 3, 10, 23, 0, tzinfo=UTC))
        ticks.advance(now=BACK)
        assert keys() == expected
        ticks.advance(now=datetime(2026, 3, 14, 0, 0, 1, tzinfo=UTC))
        assert keys() == [*expected, "2026-03-14"]

    def test_a_dag_without_a_start_date_starts_when_it_is_first_seen(self):
        daily()
        ticks.advance(now=SEEN + timedelta(hours=1))
        assert keys() == []

    def test_with_a_start_date_it_begins_there_and_the_first_tick_counts(self):
        daily(start_date=datetime(2026, 3, 8, tzinfo=UTC))
        ticks.advance(now=SEEN)
        assert keys() == ["2026-03-08", "2026-03-09", "2026-03-10"]

    def test_it_ends_with_its_end_date(self):
        daily(end_date=datetime(2026, 3, 11, 12, tzinfo=UTC))
        ticks.advance(now=BACK)
        ticks.advance(now=BACK + timedelta(days=300))
        assert keys() == ["2026-03-11"]


class TestOnce:
    def test_asking_again_adds_nothing(self):
        daily()
        for _ in range(3):
            ticks.advance(now=BACK)
        assert len(keys()) == 3

    def test_a_cursor_that_was_set_back_adds_nothing_either(self):
        made = daily()
        ticks.advance(now=BACK)
        made.refresh_from_db()
        made.ticked_until = made.next_tick_at = None
        made.save()
        ticks.advance(now=BACK)
        assert len(keys()) == 3

    def test_a_clock_that_jumps_back_repeats_nothing(self):
        daily()
        ticks.advance(now=BACK)
        ticks.advance(now=SEEN)
        ticks.advance(now=BACK)
        assert len(keys()) == 3


class TestWhoIsLookedAt:
    def test_only_dags_that_are_due(self):
        daily()
        ticks.advance(now=BACK)
        assert ticks.advance(now=BACK + timedelta(hours=1)) == 0

    def test_a_paused_dag_makes_no_runs(self):
        daily(is_paused=True)
        assert ticks.advance(now=BACK) == 0
        assert keys() == []

    def test_a_timetable_that_cannot_be_read_stops_only_its_own_dag(self):
        dag("broken", {"type": "CronPartitionTimetable", "cron": "not a cron"}, created_at=SEEN)
        daily()
        ticks.advance(now=BACK)
        assert len(keys()) == 3

    def test_a_timetable_that_fails_stops_only_its_own_dag_and_is_asked_again(self, monkeypatch):
        timetables = registry._KNOWN["timetable"] | {"Failing": Failing}
        monkeypatch.setitem(registry._KNOWN, "timetable", timetables)
        failing = dag("failing", {"type": "Failing"}, is_periodic=True, created_at=SEEN)
        daily()
        ticks.advance(now=BACK)
        assert len(keys()) == 3
        failing.refresh_from_db()
        assert failing.ticked_until is None
        assert failing.next_tick_at == BACK + ticks.BROKEN_PAUSE

    @pytest.mark.parametrize("absence", [999, 1000, 1001, 2000])
    def test_the_last_of_any_number_of_missed_ticks_is_made_up(self, absence):
        schedule = {"type": "CronPartitionTimetable", "cron": "* * * * *"}
        dag("minutely", schedule, created_at=SEEN, ticked_until=SEEN, catchup="last")
        now = SEEN + timedelta(minutes=absence, seconds=30)
        for _ in range(4):
            ticks.advance(now=now)
        assert list(DagRun.objects.values_list("tick_at", flat=True)) == [SEEN + timedelta(minutes=absence)]

    def test_a_long_absence_is_made_up_in_portions(self):
        dag("minutely", {"type": "CronPartitionTimetable", "cron": "* * * * *"}, created_at=SEEN)
        counts = []
        for _ in range(4):
            ticks.advance(now=SEEN + timedelta(minutes=2500))
            counts.append(DagRun.objects.count())
        assert counts == [1000, 2000, 2501, 2501]
