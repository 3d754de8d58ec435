"""Many processes decide at once: each held run fires once, and no limit is ever exceeded."""

from collections import Counter

import pytest

pytestmark = [pytest.mark.services, pytest.mark.timeout(300)]

HOLD = """
import django; django.setup()
from datetime import UTC, datetime
from scheduling import holds
from tests.engine.world import IDENTITY, consumer, emit
consumer("joined", {"a": IDENTITY, "b": IDENTITY})
keys = [f"k{number}" for number in range(1000)]
emit("a", *keys)
emit("b", *keys)
while holds.route_pending(now=datetime.now(UTC), at_once=0):
    pass
"""
QUEUE = """
import django; django.setup()
from core.models import Pool
from scheduling import newruns
from scheduling.newruns import NewRun, Type
from tests.engine.world import NOW, dag
one = Pool.objects.create(name="one", slots=1, created_at=NOW, updated_at=NOW)
five = Pool.objects.create(name="five", slots=5, created_at=NOW, updated_at=NOW)
schedule = {"type": "PartitionedAtRuntime"}
dags = [
    dag("alone", schedule, max_active_runs=1),
    dag("first of one", schedule, pool=one),
    dag("second of one", schedule, pool=one),
    dag("light of five", schedule, pool=five, pool_slots=1),
    dag("heavy of five", schedule, pool=five, pool_slots=3),
]
new = [NewRun(each, Type.SCHEDULED, partition_key=f"{n}") for n in range(20) for each in dags]
newruns.create(new, at=NOW)
"""


def test_eight_that_judge_a_thousand_complete_held_runs_fire_each_of_them_once(crowd):
    crowd.python("-c", HOLD)
    assert crowd.rows("select state, count(*) from core_heldrun group by 1") == [("held", 1000)]
    assert crowd.rows("select count(*) from core_dagrun") == [(0,)]
    crowd.run(*[["judge"]] * 8)
    assert crowd.rows("select state, count(distinct run_id) from core_heldrun group by 1") == [
        ("fired", 1000)
    ]
    keys = Counter(key for (key,) in crowd.rows("select partition_key from core_dagrun"))
    assert keys == {f"k{number}": 1 for number in range(1000)}
    consumed = "select count(*) from core_consumedevent group by held_run_id"
    assert crowd.rows(f"select min(count), max(count) from ({consumed}) each") == [(2, 2)]


def test_eight_that_dispatch_and_claim_never_exceed_a_limit(crowd):
    """Of one run of a Dag, of one slot that two Dags share, of five slots that runs take one or three of."""
    crowd.python("-c", QUEUE)
    crowd.run(*[["work"]] * 8)
    assert crowd.rows("select state, attempt, count(*) from core_dagrun group by 1, 2") == [
        ("success", 1, 100)
    ]
    assert crowd.rows("select count(distinct claimed_by) > 1 from core_dagrun") == [(True,)]
