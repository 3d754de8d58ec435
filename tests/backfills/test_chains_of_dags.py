"""Several Dags at once: each downstream key as soon as its own upstream keys are done, and never twice."""

from datetime import timedelta

import pytest

from core.models import AssetEvent, Backfill, Dag, DagRun
from scheduling import claims
from scheduling.backfills import Order
from tests.backfills.play import (
    SECOND,
    begin,
    counts,
    daily,
    days,
    drive,
    execute,
    item,
    listener,
    of_dag,
    producer,
    turn,
    unjudged,
)
from tests.engine.world import IDENTITY, NOW, consumer, fired, part, start

pytestmark = pytest.mark.django_db


class TestOrder:
    def test_each_key_follows_as_soon_as_its_own_upstream_is_done(self, copies):
        backfill = begin(copies, with_downstream=True, max_active_runs=1)
        order = []
        for step in range(60):
            turn(NOW + step * SECOND)
            order += [(run.dag.dag_id, run.partition_key) for run in execute(NOW + step * SECOND)]
        for key in days(1, 10):
            at = [order.index((dag_id, key)) for dag_id in ("first", "second", "third")]
            assert at == sorted(at)
        assert order.index(("third", "2026-03-01")) < order.index(("first", "2026-03-05"))
        assert counts(backfill) == {"planned": 30, "done": 30}

    def test_a_rollup_waits_for_all_of_its_members(self, hour):
        backfill = begin(hour, selection="[2026-03-10...2026-03-10]", with_downstream=True, max_active_runs=5)
        seen = []
        for step in range(40):
            now = NOW + step * SECOND
            turn(now)
            done = sum(state == "done" for state in of_dag(backfill, "hour").values())
            seen.append((done, of_dag(backfill, "day")["2026-03-10"]))
            execute(now)
        assert {state for done, state in seen if done < 24} == {"waiting"}
        assert counts(backfill) == {"planned": 25, "done": 25}
        assert part("days", "2026-03-10").state == "materialized"

    def test_newest_first_all_the_way(self, copies):
        backfill = begin(
            copies,
            selection="[2026-03-01...2026-03-03]",
            with_downstream=True,
            max_active_runs=1,
            order=Order.NEWEST,
        )
        drive(backfill)
        assert fired("first") == days(1, 3)[::-1]
        assert fired("third") == days(1, 3)[::-1]

    def test_chunks_downstream_wait_until_they_are_full(self, copies):
        Dag.objects.update(max_keys_per_run=2)
        copies.refresh_from_db()
        backfill = begin(
            copies,
            selection="[2026-03-01...2026-03-05]",
            with_downstream=True,
            max_active_runs=1,
            keys_per_run=2,
        )
        while not Backfill.objects.get().completed_at:
            unjudged()
            execute()
        third = [run.keys for run in DagRun.objects.filter(dag__dag_id="third").order_by("pk")]
        assert third == [days(1, 2), days(3, 4), ["2026-03-05"]]
        assert counts(backfill) == {"planned": 15, "done": 15}


class TestMappersThatCannotBeTurnedRound:
    def test_wait_for_the_whole_upstream(self):
        daily("as")
        first = producer("first", "as")
        months = {"type": "StartOfMonthMapper", "input_format": "%Y-%m-%d"}
        listener("month", "as", "months", months)
        backfill = begin(
            first, selection="[2026-03-01...2026-03-03]", with_downstream=True, max_active_runs=1
        )
        turn()
        assert of_dag(backfill, "month") == {"2026-03": "waiting"}
        drive(backfill)
        assert counts(backfill) == {"planned": 4, "done": 4}

    def test_all_partitions_too(self):
        """It runs by itself with those that are known so far; the run that was asked for reads them all."""
        daily("as")
        first = producer("first", "as")
        consumer("all", {"as": {"type": "AllPartitionsMapper"}}, writes=["all"])
        backfill = begin(
            first, selection="[2026-03-01...2026-03-03]", with_downstream=True, max_active_runs=2
        )
        drive(backfill)
        assert counts(backfill) == {"planned": 4, "done": 4}
        turn(NOW + timedelta(hours=1))
        early, asked_for = DagRun.objects.filter(dag__dag_id="all").order_by("pk")
        assert [consumed_by(early), consumed_by(asked_for)] == [days(1, 2), days(1, 3)]
        assert item(backfill, "all").run == asked_for


def consumed_by(run):
    events = AssetEvent.objects.filter(consumers__held_run__run=run)
    return sorted(events.values_list("partition_key", flat=True))


class TestTwoUpstreams:
    def test_both_are_waited_for(self):
        daily("as"), daily("bs")
        first, second = producer("first", "as"), producer("second", "bs")
        consumer("both", {"as": IDENTITY, "bs": IDENTITY}, writes=["out"])
        backfill = begin(first, second, keys=("2026-03-01",), with_downstream=True)
        turn()
        [run] = execute(most=1)
        turn()
        assert of_dag(backfill, "both") == {"2026-03-01": "waiting"}
        drive(backfill)
        assert counts(backfill) == {"planned": 3, "done": 3}
        assert run.dag.dag_id in ("first", "second")

    def test_of_alternatives_one_is_enough(self):
        daily("as"), daily("bs")
        first, second = producer("first", "as"), producer("second", "bs")
        either = consumer("either", {"as": IDENTITY, "bs": IDENTITY}, join="any", writes=["out"])
        backfill = begin(first, second, either, keys=("2026-03-01",))
        turn()
        start(DagRun.objects.get(dag=first))
        claims.fail(DagRun.objects.get(dag=first), "boom", at=NOW)
        drive(backfill)
        assert of_dag(backfill, "either") == {"2026-03-01": "done"}
