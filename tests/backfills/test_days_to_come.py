"""A backfill may ask for days that the schedule makes, too: each of them runs once when it has come."""

from datetime import UTC, datetime, timedelta

import pytest

from core.models import DagRun
from scheduling import backfills, ticks
from tests.backfills.play import begin, counts, days, execute, steer, turn
from tests.engine.world import DAILY, NOW, dag

pytestmark = pytest.mark.django_db

KEY = "2026-03-12"
DAY = datetime(2026, 3, 12, tzinfo=UTC)
MOMENT = DAY + timedelta(seconds=1)


@pytest.fixture
def ticking():
    return daily()


@pytest.fixture
def asked(ticking):
    """The run waits for its day."""
    backfill = begin(ticking, keys=(KEY,), conf={"fast": True})
    turn()
    assert DagRun.objects.get().run_after == DAY
    return backfill


def daily(**options):
    return dag("ticking", DAILY | options, writes=["out"], ticked_until=NOW, next_tick_at=DAY)


def tick(at=MOMENT):
    ticks.advance(now=at)


def test_its_run_is_that_of_the_tick(asked):
    tick()
    run = DagRun.objects.get()
    assert (run.tick_at, run.run_type, run.triggered_by, run.conf) == (
        DAY,
        "scheduled",
        "timetable",
        {"fast": True},
    )
    assert len(execute(MOMENT)) == 1
    turn(MOMENT)
    assert counts(asked) == {"planned": 1, "done": 1}
    tick(MOMENT + timedelta(hours=1))
    assert DagRun.objects.count() == 1


def test_also_where_it_has_begun_before_anybody_looked_at_the_clock(asked):
    assert len(execute(MOMENT)) == 1
    tick()
    run = DagRun.objects.get()
    assert (run.tick_at, run.run_type, run.backfill) == (DAY, "backfill", asked)
    turn(MOMENT)
    assert counts(asked) == {"planned": 1, "done": 1}


def test_a_cursor_that_is_set_back_adds_nothing(asked, ticking):
    tick()
    for _ in range(2):
        type(ticking).objects.update(ticked_until=NOW, next_tick_at=DAY)
        tick()
    assert DagRun.objects.get().tick_at == DAY


def test_the_day_after_has_its_own(asked):
    tick()
    tick(DAY + timedelta(days=1))
    keys = DagRun.objects.order_by("tick_at").values_list("partition_key", flat=True)
    assert list(keys) == [KEY, "2026-03-13"]


@pytest.mark.parametrize("deed", [backfills.pause, backfills.cancel])
def test_stopping_the_backfill_before_keeps_the_schedule_from_nothing(asked, deed):
    steer(deed, asked)
    tick()
    assert [run.tick_at for run in execute(MOMENT)] == [DAY]
    assert DagRun.objects.exclude(state="cancelled").count() == 1


@pytest.mark.parametrize("deed", [backfills.pause, backfills.cancel])
def test_nor_does_stopping_it_afterwards(asked, deed):
    tick()
    steer(deed, asked, at=MOMENT)
    assert [run.partition_key for run in execute(MOMENT)] == [KEY]
    turn(MOMENT)
    assert counts(asked) == {"planned": 1, "done": 1}


def test_a_key_that_its_tick_makes_later_is_made_then():
    """The tick after a day makes it; what was made at the beginning of the day is no substitute."""
    begin(daily(run_offset=-1), keys=(KEY,))
    turn()
    execute(MOMENT)
    tick()
    tick(DAY + timedelta(days=1, seconds=1))
    made = DagRun.objects.order_by("pk").values_list("run_type", "partition_key")
    assert list(made) == [("backfill", KEY), ("scheduled", "2026-03-11"), ("scheduled", KEY)]


def test_a_key_that_comes_many_times_a_day_is_made_each_time():
    """The first tick of a day to come has the run of the backfill; of a day that has begun it has none."""
    made = daily(cron="0 */6 * * *")
    begin(made, keys=("2026-03-11", KEY))
    turn()
    for hour in (3, 15, 21):
        tick(NOW + timedelta(hours=hour))
    runs = DagRun.objects.order_by("tick_at", "pk").values_list("partition_key", "tick_at", "run_type")
    hours = [NOW.replace(hour=hour, minute=0) for hour in (12, 18)] + [DAY, DAY + timedelta(hours=6)]
    assert sorted(runs, key=str) == sorted(
        [
            ("2026-03-11", None, "backfill"),
            *(("2026-03-11", at, "scheduled") for at in hours[:2]),
            *((KEY, at, "scheduled") for at in hours[2:]),
        ],
        key=str,
    )


def test_many_of_them_cost_no_more_queries_than_one(django_assert_max_num_queries):
    made = daily()
    type(made).objects.update(catchup="all")
    begin(made, keys=tuple(days(12, 21)), max_active_runs=20)
    turn()
    with django_assert_max_num_queries(12):
        tick(DAY + timedelta(days=9, seconds=1))
    runs = DagRun.objects.order_by("tick_at")
    assert [run.partition_key for run in runs if run.tick_at and run.run_type == "scheduled"] == days(12, 21)
    assert runs.count() == 10


def test_looking_for_them_costs_one_query_more_however_many_there_are(django_assert_max_num_queries):
    for number in range(20):
        dag(f"d{number}", DAILY, ticked_until=NOW, next_tick_at=DAY)
    with django_assert_max_num_queries(12):
        tick()
    assert DagRun.objects.count() == 20
