"""A Dag's slots are shared by its own runs and its backfills; no limit is exceeded, nobody starves."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import Backfill, BackfillTarget, DagRun
from scheduling import claims, newruns, turns
from scheduling.newruns import NewRun, Type
from tests.engine.world import NOW, RUNTIME, dag

pytestmark = pytest.mark.django_db
SECOND = timedelta(seconds=1)


def backfill(*dags, **fields):
    made = Backfill.objects.create(**{"created_at": NOW, "updated_at": NOW, "max_active_runs": 100} | fields)
    for each in dags:
        BackfillTarget.objects.create(backfill=made, dag=each, planned=1000)
    return made


def queue(made, count, of=None):
    kind = Type.BACKFILL if of else Type.SCHEDULED
    new = [NewRun(made, kind, partition_key=f"{n}", backfill=of) for n in range(count)]
    return newruns.create(new, at=NOW)


def dispatched(now=NOW):
    """Which queues the runs that may start now belong to, in the order in which they start."""
    found = DagRun.objects.in_bulk(turns.dispatch(now=now))
    return [run.backfill_id for run in found.values()]


def started(rounds, now=NOW):
    """Whose run starts, one after another, where there is a slot for one."""
    order = []
    for number in range(rounds):
        at = now + number * SECOND
        [pk] = turns.dispatch(now=at)
        run = claims.claim(pk, worker="w", now=at)
        order.append(run.backfill_id)
        claims.succeed(run, [], at=at)
    return order


class TestOneSlot:
    def test_a_load_of_scheduled_runs_and_a_backfill_take_turns(self):
        made = dag("d", RUNTIME, max_active_runs=1)
        queue(made, 100)
        mine = backfill(made)
        queue(made, 10, mine)
        assert started(6) == [None, mine.pk] * 3

    def test_it_does_not_matter_who_was_first(self):
        made = dag("d", RUNTIME, max_active_runs=1)
        mine = backfill(made)
        queue(made, 100, mine)
        queue(made, 3)
        assert started(7) == [None, mine.pk, None, mine.pk, None, mine.pk, mine.pk]

    def test_several_backfills_and_the_dag_itself_all_get_their_turn(self):
        made = dag("d", RUNTIME, max_active_runs=1)
        several = [backfill(made) for _ in range(3)]
        for each in several:
            queue(made, 10, each)
        queue(made, 10)
        turns = started(12)
        everybody = {None, *(each.pk for each in several)}
        assert all(set(turns[start : start + 4]) == everybody for start in (0, 4, 8))


class TestManySlots:
    def test_are_shared_in_halves(self):
        made = dag("d", RUNTIME, max_active_runs=16)
        queue(made, 500)
        mine = backfill(made)
        queue(made, 500, mine)
        found = dispatched()
        assert (found.count(None), found.count(mine.pk)) == (8, 8)

    def test_what_one_does_not_want_the_other_gets(self):
        made = dag("d", RUNTIME, max_active_runs=16)
        queue(made, 3)
        mine = backfill(made)
        queue(made, 500, mine)
        found = dispatched()
        assert (found.count(None), found.count(mine.pk)) == (3, 13)

    def test_a_backfill_that_comes_to_a_full_dag_gets_the_next_slot(self):
        made = dag("d", RUNTIME, max_active_runs=4)
        queue(made, 50)
        for pk in turns.dispatch(now=NOW):
            claims.claim(pk, worker="w", now=NOW)
        mine = backfill(made)
        queue(made, 50, mine)
        assert dispatched() == []
        claims.succeed(DagRun.objects.filter(state="running").first(), [], at=NOW)
        assert dispatched() == [mine.pk]


class TestLimits:
    def test_a_backfill_never_has_more_runs_than_it_may(self):
        made = dag("d", RUNTIME, max_active_runs=100)
        mine = backfill(made, max_active_runs=3)
        queue(made, 20, mine)
        assert len(dispatched()) == 3
        assert dispatched() == []

    def test_the_limit_of_a_backfill_holds_over_all_its_dags(self):
        several = [dag(name, RUNTIME) for name in ("a", "b", "c")]
        mine = backfill(*several, max_active_runs=4)
        for each in several:
            queue(each, 10, mine)
        assert len(dispatched()) == 4

    def test_a_claim_keeps_the_limit_whatever_message_comes(self):
        made = dag("d", RUNTIME)
        mine = backfill(made, max_active_runs=2)
        claimed = [claims.claim(run.pk, worker="w", now=NOW) for run in queue(made, 5, mine)]
        assert [run is not None for run in claimed] == [True, True, False, False, False]

    def test_runs_of_a_paused_backfill_do_not_start_and_keep_nobody_waiting(self):
        made = dag("d", RUNTIME, max_active_runs=1)
        mine = backfill(made, is_paused=True)
        [waiting] = queue(made, 1, mine)
        queue(made, 2)
        assert claims.claim(waiting.pk, worker="w", now=NOW) is None
        assert started(2) == [None, None]

    def test_a_full_backfill_does_not_delay_another(self):
        made = dag("d", RUNTIME, max_active_runs=10)
        full, other = backfill(made, max_active_runs=1), backfill(made)
        queue(made, 50, full)
        queue(made, 2, other)
        assert sorted(dispatched()) == [full.pk, other.pk, other.pk]


class TestCost:
    def test_does_not_grow_with_what_waits(self):
        made = dag("d", RUNTIME)
        mine = backfill(made)
        queue(made, 5)
        queue(made, 5, mine)
        with CaptureQueriesContext(
            connection,
        ) as few:
            turns.dispatch(now=NOW)
        queue(made, 200)
        queue(made, 200, mine)
        with CaptureQueriesContext(connection) as many:
            turns.dispatch(now=NOW)
        assert len(many) <= len(few)

    def test_without_backfills_nobody_counts_turns(self):
        queue(dag("d", RUNTIME, max_active_runs=2), 5)
        with CaptureQueriesContext(connection) as queries:
            turns.dispatch(now=NOW)
        assert not [query for query in queries if "backfilltarget" in query["sql"]]
        assert len(queries) == 5
