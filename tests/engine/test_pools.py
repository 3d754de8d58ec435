"""Slots that many Dags share: never exceeded, dealt out in turns, and nobody outside waits for them."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection

from core.models import Backfill, BackfillTarget, DagRun, Pool
from scheduling import claims, pool_slots, retries, turns
from scheduling.pool_slots import Use
from tests.engine.pooled import dispatched, end_one, member, pool, queue, start_all
from tests.engine.world import NOW, RUNTIME, dag

pytestmark = pytest.mark.django_db
SECOND = timedelta(seconds=1)


class TestTheLimit:
    def test_counts_the_runs_of_all_dags_in_it(self):
        shared = pool(slots=4)
        for name in ("a", "b", "c"):
            queue(member(name, shared), 5)
        assert sum(start_all().values()) == 4
        assert start_all() == {}

    def test_is_kept_by_every_claim_whatever_message_comes(self):
        shared = pool(slots=2)
        waiting = queue(member("a", shared), 3) + queue(member("b", shared), 3)
        claimed = [claims.claim(run.pk, worker="w", now=NOW) for run in waiting]
        assert [run is not None for run in claimed] == [True, True, False, False, False, False]

    def test_weighs_runs_by_the_slots_they_take(self):
        shared = pool(slots=5)
        waiting = queue(member("heavy", shared, slots=2), 5)
        assert [claims.claim(run.pk, worker="w", now=NOW) is not None for run in waiting][:3] == [
            True,
            True,
            False,
        ]
        light = queue(member("light", shared), 2)
        assert [claims.claim(run.pk, worker="w", now=NOW) is not None for run in light] == [True, False]

    def test_counts_what_runs_took_when_they_started(self):
        """Moving a Dag to another pool, or making it lighter, frees nothing that is still in use."""
        first, second = pool("first", slots=2), pool("second", slots=1)
        made = member("a", first, slots=2)
        queue(made, 2)
        start_all()
        made.pool, made.pool_slots = second, 1
        made.save()
        assert pool_slots.use_of([first, second]) == {first.pk: Use(2, 0, 0), second.pk: Use(0, 1, 1)}
        assert start_all() == {"a": 1}
        assert pool_slots.use_of([first, second]) == {first.pk: Use(2, 0, 0), second.pk: Use(1, 0, 0)}

    def test_is_not_used_up_by_runs_that_have_ended_or_wait_for_a_retry(self):
        shared = pool(slots=1)
        made = member("a", shared, retries=1)
        first, *_ = queue(made, 3)
        retries.fail(claims.claim(first.pk, worker="w", now=NOW), "boom", at=NOW)
        assert start_all() == {"a": 1}
        end_one("a")
        assert start_all() == {"a": 1}

    def test_of_a_dag_counts_besides(self):
        queue(member("a", pool(slots=10), max_active_runs=2), 5)
        assert dispatched() == {"a": 2}

    def test_of_a_backfill_counts_besides(self):
        made = member("a", pool(slots=10))
        mine = Backfill.objects.create(created_at=NOW, updated_at=NOW, max_active_runs=3)
        BackfillTarget.objects.create(backfill=mine, dag=made, planned=9)
        queue(made, 9, mine)
        assert dispatched() == {"a": 3}

    def test_of_nothing_closes_it(self):
        shared = pool(slots=0)
        [run] = queue(member("a", shared), 1)
        assert dispatched() == {}
        assert claims.claim(run.pk, worker="w", now=NOW) is None
        Pool.objects.update(slots=1)
        assert dispatched() == {"a": 1}

    def test_that_was_lowered_ends_nothing_and_starts_nothing(self):
        queue(member("a", pool(slots=4)), 8)
        start_all()
        Pool.objects.update(slots=2)
        for _ in range(2):
            end_one("a")
            assert start_all() == {}
        end_one("a")
        assert start_all() == {"a": 1}


class TestNobodyOutside:
    def test_waits_for_a_full_pool(self):
        shared = pool(slots=1)
        queue(member("full", shared), 600)
        start_all()
        queue(dag("free", RUNTIME), 2)
        queue(member("elsewhere", pool("other")), 2)
        assert dispatched() == {"free": 2, "elsewhere": 2}

    def test_waits_for_a_run_that_can_never_start(self):
        """It needs more slots than its pool has: the others in the pool go on as well."""
        shared = pool(slots=2)
        queue(member("too heavy", shared, slots=3), 1)
        queue(member("light", shared), 5)
        assert dispatched() == {"light": 2}


class TestTurns:
    def served(self, rounds):
        """Which Dag the one slot goes to, one after another."""
        order = []
        for number in range(rounds):
            at = NOW + number * SECOND
            [pk] = turns.dispatch(now=at)
            run = claims.claim(pk, worker="w", now=at)
            order.append(run.dag.dag_id)
            claims.succeed(run, [], at=at)
        return order

    def test_are_taken_by_dags_that_share_one_slot(self):
        shared = pool(slots=1)
        queue(member("a", shared), 100)
        queue(member("b", shared), 100)
        queue(member("c", shared), 2)
        served = self.served(12)
        assert Counter(served[:6]) == {"a": 2, "b": 2, "c": 2}
        assert Counter(served[6:]) == {"a": 3, "b": 3}

    def test_are_fair_where_there_are_many_slots(self):
        shared = pool(slots=6)
        for name in ("a", "b", "c"):
            queue(member(name, shared), 50)
        assert dispatched() == {"a": 2, "b": 2, "c": 2}

    def test_leave_to_others_what_one_does_not_want(self):
        shared = pool(slots=6)
        queue(member("a", shared), 1)
        queue(member("b", shared), 50)
        assert dispatched() == {"a": 1, "b": 5}

    def test_come_for_a_dag_that_arrives_at_a_full_pool(self):
        shared = pool(slots=2)
        queue(member("a", shared), 50)
        start_all()
        queue(member("late", shared), 50)
        end_one("a")
        assert start_all() == {"late": 1}

    def test_come_for_a_heavy_run_among_light_ones(self):
        """What gets free is kept until it is enough: light runs do not take it slot by slot for ever."""
        shared = pool(slots=4)
        queue(member("light", shared), 100)
        start_all()
        queue(member("heavy", shared, slots=3), 1)
        started = []
        for number in range(3):
            end_one("light")
            started.append(start_all(NOW + number * SECOND))
        assert started == [{}, {}, {"heavy": 1}]

    def test_do_not_keep_slots_for_a_dag_that_may_not_start_anything(self):
        shared = pool(slots=4)
        queue(member("heavy", shared, slots=3, max_active_runs=1), 5)
        start_all()
        queue(member("light", shared), 5)
        assert start_all() == {"light": 1}

    def test_do_not_keep_slots_for_a_run_whose_backfill_has_none_left_for_it(self):
        """The backfill gave its place to its run outside the pool, at the same moment."""
        shared = pool(slots=4)
        light, heavy, outside = (
            member("light", shared),
            member("heavy", shared, slots=2),
            dag("outside", RUNTIME),
        )
        queue(light, 3)
        start_all()
        mine = Backfill.objects.create(created_at=NOW, updated_at=NOW, max_active_runs=1)
        for made in (heavy, outside):
            BackfillTarget.objects.create(backfill=mine, dag=made, planned=1)
            queue(made, 1, mine)
        queue(light, 1)
        assert start_all() == {"outside": 1, "light": 1}


@pytest.mark.django_db(transaction=True)
def test_ten_workers_that_claim_at_once_never_exceed_it():
    shared = pool(slots=3)
    waiting = [run.pk for name in "abcd" for run in queue(member(name, shared), 5)]
    together = threading.Barrier(10)

    def work(mine):
        try:
            together.wait(20)
            return sum(claims.claim(pk, worker="w", now=NOW) is not None for pk in mine)
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as threads:
        claimed = list(threads.map(work, [waiting[number::10] for number in range(10)]))
    assert sum(claimed) == 3
    assert DagRun.objects.filter(state="running").count() == 3
