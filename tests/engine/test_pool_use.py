"""What is told of the use of pools, and what it costs."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import DagRun
from scheduling import pool_slots, turns
from scheduling.pool_slots import Use
from tests.engine.pooled import member, pool, queue, start_all
from tests.engine.world import NOW

pytestmark = pytest.mark.django_db


class TestUse:
    def test_is_told_for_many_pools_in_two_queries(self, django_assert_num_queries):
        busy, idle = pool("busy", slots=3), pool("idle")
        queue(member("a", busy, slots=2), 4)
        start_all()
        with django_assert_num_queries(2):
            assert pool_slots.use_of([busy, idle]) == {busy.pk: Use(2, 3, 6), idle.pk: Use(0, 0, 0)}

    def test_costs_as_much_however_many_dags_share_a_pool(self):
        shared = pool(slots=3)
        for number in range(5):
            queue(member(f"d{number}", shared), 5)
        self._statements()
        few = self._statements()
        for number in range(5, 20):
            queue(member(f"d{number}", shared), 5)
        assert self._statements() <= few

    def _statements(self):
        DagRun.objects.update(dispatched_at=None)
        with CaptureQueriesContext(connection) as queries:
            turns.dispatch(now=NOW)
        return len(queries)
