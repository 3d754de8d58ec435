"""A run of several days to come: each day leaves it when it has come, and none is made twice."""

from datetime import UTC, datetime, timedelta

import pytest

from core.models import Backfill, DagRun
from scheduling import backfills, ticks
from tests.backfills.play import begin, counts, days, execute, item, steer, turn
from tests.engine.meeting import meet
from tests.engine.world import DAILY, NOW, dag, start

pytestmark = pytest.mark.django_db

SECOND = timedelta(seconds=1)
LAST = datetime(2026, 3, 14, tzinfo=UTC)


def day(number):
    return datetime(2026, 3, number, tzinfo=UTC)


@pytest.fixture
def ticking():
    made = dag("ticking", DAILY, writes=["out"], ticked_until=NOW, next_tick_at=day(12))
    type(made).objects.update(max_keys_per_run=None, catchup="all")
    made.refresh_from_db()
    return made


def ask(ticking, first=12, last=14, **options):
    """The run waits for the last of its days."""
    made = begin(ticking, keys=tuple(days(first, last)), keys_per_run=None, **options)
    turn()
    run = DagRun.objects.get()
    assert (run.keys, run.run_after) == (days(first, last), day(last))
    return made


def pass_days(first, last, **how):
    """Each day the schedule looks at the clock, and what may start runs. The keys of the runs, by day."""
    done = []
    for number in range(first, last + 1):
        ticks.advance(now=day(number) + SECOND)
        turn(day(number) + SECOND)
        done.append([run.keys for run in execute(day(number) + SECOND, **how)])
        turn(day(number) + SECOND)
    return done


def runs():
    rows = DagRun.objects.order_by("pk").values_list("partition_key", "partition_keys", "run_type", "tick_at")
    return list(rows)


def test_each_of_them_is_made_at_its_tick_and_once(ticking):
    backfill = ask(ticking, conf={"fast": True})
    assert pass_days(12, 15) == [[["2026-03-12"]], [["2026-03-13"]], [["2026-03-14"]], [["2026-03-15"]]]
    assert counts(backfill) == {"planned": 3, "done": 3}
    assert sorted(runs(), key=str) == [
        (key, None, "scheduled", day(12 + n)) for n, key in enumerate(days(12, 15))
    ]
    kept = {run.partition_key: run.conf for run in DagRun.objects.all()}
    assert kept == {key: {"fast": True} for key in days(12, 14)} | {"2026-03-15": {}}


def test_days_that_have_been_are_made_by_the_rest_of_it(ticking):
    backfill = ask(ticking, first=9, last=13)
    assert pass_days(12, 13) == [[["2026-03-12"]], [days(9, 11), ["2026-03-13"]]]
    assert counts(backfill) == {"planned": 5, "done": 5}


def test_many_days_that_nobody_has_looked_at_leave_it_together(ticking):
    backfill = ask(ticking)
    assert sorted(pass_days(14, 14)[0]) == [[key] for key in days(12, 14)]
    assert counts(backfill) == {"planned": 3, "done": 3}


def test_what_has_begun_before_anybody_looked_at_the_clock_has_them_all(ticking):
    backfill = ask(ticking)
    begun = start(DagRun.objects.get(), at=LAST)
    ticks.advance(now=LAST + SECOND)
    assert runs() == [(None, days(12, 14), "backfill", None)]
    assert begun.keys == days(12, 14)
    assert pass_days(15, 15) == [[["2026-03-15"]]]
    assert counts(backfill) == {"planned": 3, "open": 3}


def test_a_cursor_that_is_set_back_adds_nothing(ticking):
    ask(ticking)
    pass_days(12, 14)
    type(ticking).objects.update(ticked_until=NOW, next_tick_at=day(12))
    assert pass_days(14, 14) == [[]]
    assert len(runs()) == 3


@pytest.mark.parametrize("deed", [backfills.pause, backfills.cancel])
def test_stopping_the_backfill_keeps_the_schedule_from_nothing(ticking, deed):
    backfill = ask(ticking)
    pass_days(12, 12)
    steer(deed, backfill, day(12) + 2 * SECOND)
    assert pass_days(13, 14) == [[["2026-03-13"]], [["2026-03-14"]]]
    assert item(backfill, "2026-03-12").state == "done"


def test_a_key_that_fails_has_failed_in_the_backfill(ticking):
    backfill = ask(ticking)
    pass_days(12, 14, fail=["2026-03-13"])
    assert counts(backfill) == {"planned": 3, "done": 2, "failed": 1}
    assert Backfill.objects.get().completed_at


def test_another_dag_keeps_its_own(ticking):
    ask(ticking)
    other = dag("other", DAILY, writes=["far"], ticked_until=NOW, next_tick_at=day(12))
    type(other).objects.filter(pk=other.pk).update(max_keys_per_run=None)
    pass_days(12, 12)
    assert sorted((run.dag.dag_id, run.keys) for run in DagRun.objects.select_related("dag")) == [
        ("other", ["2026-03-12"]),
        ("ticking", ["2026-03-12"]),
        ("ticking", ["2026-03-13", "2026-03-14"]),
    ]


def test_many_of_them_cost_no_more_queries_than_one(ticking, django_assert_max_num_queries):
    ask(ticking, last=31)
    with django_assert_max_num_queries(20):
        ticks.advance(now=day(31) + SECOND)
    assert len(runs()) == 20


@pytest.mark.pg
@pytest.mark.django_db(transaction=True)
def test_no_other_dag_waits_for_a_backfill_that_is_at_work(ticking):
    """Its own ticks are made by the next look."""
    backfill = ask(ticking)
    dag("other", DAILY, writes=["far"], ticked_until=NOW, next_tick_at=day(12))
    at_work = Backfill.objects.select_for_update(no_key=True).filter(pk=backfill.pk)
    assert meet(lambda: list(at_work), lambda: ticks.advance(now=day(12) + SECOND)) == [1]
    assert runs_of(day(12)) == ["other"]
    assert ticks.advance(now=day(12) + SECOND) == 1
    assert runs_of(day(12)) == ["other", "ticking"]


def runs_of(tick):
    return sorted(DagRun.objects.filter(tick_at=tick).values_list("dag__dag_id", flat=True))
