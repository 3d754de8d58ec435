"""Several Dags at once: each downstream key as soon as its own upstream keys are done, and never twice."""

from datetime import timedelta

import pytest

from core.models import AssetEvent, Backfill, BackfillPartition, Dag, DagRun, HeldRun
from scheduling import backfills, claims, holds, runs
from scheduling.backfills import Order, Reprocess
from scheduling.runs import Ask as RunAsk
from tests.backfills.play import (
    SECOND,
    begin,
    counts,
    daily,
    days,
    drive,
    execute,
    hourly,
    item,
    listener,
    producer,
    states,
    turn,
)
from tests.engine.world import (
    ALICE,
    HOURS_TO_DAY,
    IDENTITY,
    NOW,
    consumer,
    emit,
    fired,
    hours,
    part,
    start,
)

pytestmark = pytest.mark.django_db
AT_LEAST_TWENTY = HOURS_TO_DAY | {"wait_policy": {"type": "MinimumCount", "n": 20}}


def of_dag(backfill, dag_id):
    """State by key of one Dag's partitions."""
    return {key: state for (name, key), state in states(backfill).items() if name == dag_id}


def unjudged():
    """Let the engine map events and advance, before it has judged what it holds."""
    while holds.route_pending(now=NOW, at_once=0) or backfills.advance(now=NOW):
        pass


@pytest.fixture
def copies():
    """A Dag that writes days, and two that copy them one after the other."""
    daily("as"), daily("bs"), daily("cs")
    first = producer("first", "as")
    listener("second", "as", "bs")
    listener("third", "bs", "cs")
    return first


@pytest.fixture
def hour():
    """A Dag that writes hours, and one that makes a day of 24 of them."""
    hourly("hours", "2026-03-09", key_format="%Y-%m-%dT%H:%M:%S")
    daily("days")
    made = producer("hour", "hours", max_active_runs=1000)
    listener("day", "hours", "days", HOURS_TO_DAY)
    return made


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


class TestRunsOfListeners:
    """The engine starts listeners on its own; a backfill that has them too never doubles a run."""

    def test_each_key_runs_once(self, copies):
        backfill = begin(copies, with_downstream=True)
        drive(backfill)
        turn(NOW + timedelta(hours=1))
        for dag_id in ("first", "second", "third"):
            assert sorted(fired(dag_id)) == days(1, 10)
        assert not HeldRun.objects.held().exists()

    def test_a_rollup_runs_once(self, hour):
        backfill = begin(hour, with_downstream=True, max_active_runs=100)
        drive(backfill)
        turn(NOW + timedelta(hours=1))
        assert sorted(fired("day")) == ["2026-03-09", "2026-03-10"]

    def test_a_run_of_the_engine_that_comes_first_is_adopted(self, copies):
        backfill = begin(copies, keys=("2026-03-01",), with_downstream=True)
        backfills.advance(now=NOW)
        execute()
        while holds.route_pending(now=NOW) or holds.judge_due(now=NOW):
            pass
        mine = DagRun.objects.get(dag__dag_id="second")
        assert mine.run_type == "asset_triggered"
        turn()
        assert item(backfill, "2026-03-01", "second").run == mine
        drive(backfill)
        assert counts(backfill) == {"planned": 3, "done": 3}
        assert fired("second") == ["2026-03-01"]

    def test_and_also_when_it_has_ended_already(self, copies):
        backfill = begin(copies, keys=("2026-03-01",), with_downstream=True)
        backfills.advance(now=NOW)
        for _ in range(3):
            execute()
            while holds.route_pending(now=NOW) or holds.judge_due(now=NOW):
                pass
        drive(backfill)
        assert fired("third") == ["2026-03-01"]
        assert counts(backfill) == {"planned": 3, "done": 3}

    def test_nothing_starts_before_the_events_it_waits_for_are_mapped(self, copies):
        begin(copies, keys=("2026-03-01",), with_downstream=True)
        backfills.advance(now=NOW)
        execute()
        backfills.advance(now=NOW)
        assert not DagRun.objects.filter(dag__dag_id="second").exists()
        holds.route_pending(now=NOW, at_once=0)
        backfills.advance(now=NOW)
        assert DagRun.objects.get(dag__dag_id="second").run_type == "backfill"

    def test_events_of_others_that_wait_to_be_mapped_keep_nobody(self, copies):
        begin(copies, keys=("2026-03-01",), with_downstream=True)
        backfills.advance(now=NOW)
        execute()
        holds.route_pending(now=NOW)
        emit("as", "2026-03-09", at=NOW - SECOND)
        backfills.advance(now=NOW)
        assert DagRun.objects.filter(dag__dag_id="second").exists()

    def test_the_run_consumes_the_events_it_waited_for(self, hour):
        backfill = begin(
            hour, selection="[2026-03-10...2026-03-10]", with_downstream=True, max_active_runs=30
        )
        drive(backfill)
        run = DagRun.objects.get(dag__dag_id="day")
        consumed = AssetEvent.objects.filter(consumers__held_run__run=run)
        assert sorted(consumed.values_list("partition_key", flat=True)) == hours("2026-03-10", *range(24))

    def test_a_range_of_held_runs_makes_way(self, copies):
        Dag.objects.update(max_keys_per_run=None)
        copies.refresh_from_db()
        begin(copies, selection="[2026-03-01...2026-03-02]", with_downstream=True, keys_per_run=2)
        unjudged()
        execute()
        unjudged()
        held = HeldRun.objects.filter(dag__dag_id="second").values_list("state", flat=True)
        assert list(held) == ["superseded", "superseded"]
        assert DagRun.objects.get(dag__dag_id="second").keys == days(1, 2)


class TestFailures:
    def test_block_just_what_depends_on_them_and_say_so(self, copies):
        backfill = begin(copies, selection="[2026-03-01...2026-03-03]", with_downstream=True)
        drive(backfill, fail=["2026-03-02"])
        assert of_dag(backfill, "first") == dict(zip(days(1, 3), ["done", "failed", "done"], strict=True))
        assert of_dag(backfill, "second") == dict(zip(days(1, 3), ["done", "blocked", "done"], strict=True))
        assert of_dag(backfill, "third")["2026-03-02"] == "blocked"
        assert item(backfill, "2026-03-02", "second").reason == (
            "not run, because it needs 2026-03-02 of first, which did not succeed"
        )
        assert item(backfill, "2026-03-02", "third").reason == (
            "not run, because it needs 2026-03-02 of second, which did not succeed"
        )
        assert counts(backfill) == {"planned": 9, "done": 6, "failed": 3}

    def test_of_one_hour_block_the_day(self, hour):
        backfill = begin(
            hour, selection="[2026-03-09...2026-03-10]", with_downstream=True, max_active_runs=50
        )
        drive(backfill, fail=hours("2026-03-10", 5))
        assert of_dag(backfill, "day") == {"2026-03-09": "done", "2026-03-10": "blocked"}

    def test_of_few_do_not_block_what_can_do_without_them(self):
        hourly("hours", "2026-03-09", key_format="%Y-%m-%dT%H:%M:%S")
        daily("days")
        made = producer("hour", "hours", max_active_runs=1000)
        listener("day", "hours", "days", AT_LEAST_TWENTY)
        backfill = begin(
            made, selection="[2026-03-09...2026-03-10]", with_downstream=True, max_active_runs=50
        )
        drive(backfill, fail=[*hours("2026-03-09", 1, 2, 3, 4), *hours("2026-03-10", 1, 2, 3, 4, 5)])
        assert of_dag(backfill, "day") == {"2026-03-09": "done", "2026-03-10": "blocked"}

    def test_count_although_there_is_older_data(self, copies):
        emit("as", "2026-03-01")
        turn()
        execute()
        backfill = begin(copies, keys=("2026-03-01",), with_downstream=True, reprocess=Reprocess.COMPLETED)
        drive(backfill, fail=["2026-03-01"])
        assert of_dag(backfill, "second") == {"2026-03-01": "blocked"}

    def test_of_many_name_three(self, hour):
        backfill = begin(
            hour, selection="[2026-03-10...2026-03-10]", with_downstream=True, max_active_runs=50
        )
        drive(backfill, fail=hours("2026-03-10", *range(10)))
        assert "and 7 more, which did not succeed" in item(backfill, "2026-03-10").reason

    def test_of_a_run_that_wrote_nothing_leave_the_day_incomplete(self, hour):
        backfill = begin(
            hour, selection="[2026-03-10...2026-03-10]", with_downstream=True, max_active_runs=50
        )
        drive(backfill, silent=hours("2026-03-10", 5))
        assert item(backfill, "2026-03-10").reason == (
            "its upstream is not complete: waiting on 1 of 24: hour 05"
        )


class TestProducersOfWhatIsMissing:
    def test_come_first_and_only_they(self, hour):
        emit("hours", *hours("2026-03-10", *range(22)))
        day = Dag.objects.get(dag_id="day")
        backfill = begin(day, keys=("2026-03-10",), with_upstream=True)
        drive(backfill)
        assert fired("hour") == hours("2026-03-10", 22, 23)
        assert fired("day") == ["2026-03-10"]
        assert counts(backfill) == {"planned": 3, "done": 3}

    def test_a_consumer_whose_upstream_is_there_runs_at_once_with_what_is_there(self, hour):
        emit("hours", *hours("2026-03-10", *range(24)))
        turn()
        execute()
        turn()
        day = Dag.objects.get(dag_id="day")
        backfill = begin(day, keys=("2026-03-10",), reprocess=Reprocess.COMPLETED)
        drive(backfill, at=NOW + SECOND)
        assert fired("day") == ["2026-03-10", "2026-03-10"]
        again = DagRun.objects.filter(dag=day).order_by("pk").last()
        assert again.run_type == "backfill"
        assert again.held_run.round == 2
        assert again.held_run.received.count() == 24

    def test_a_held_run_of_the_key_becomes_the_run(self, hour):
        emit("hours", *hours("2026-03-10", *range(22)))
        turn()
        held = HeldRun.objects.get()
        begin(Dag.objects.get(dag_id="day"), keys=("2026-03-10",), with_upstream=True)
        backfills.advance(now=NOW)
        execute()
        holds.route_pending(now=NOW, at_once=0)
        backfills.advance(now=NOW)
        held.refresh_from_db()
        assert (held.state, held.run.run_type) == ("fired", "backfill")
        turn(NOW + timedelta(hours=1))
        assert fired("day") == ["2026-03-10"]


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
        daily("as")
        first = producer("first", "as")
        consumer("all", {"as": {"type": "AllPartitionsMapper"}}, writes=["all"])
        backfill = begin(
            first, selection="[2026-03-01...2026-03-03]", with_downstream=True, max_active_runs=2
        )
        drive(backfill)
        assert counts(backfill) == {"planned": 4, "done": 4}
        assert fired("all") == ["all"]


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


class TestADefinitionThatBreaks:
    def test_fails_what_waits_and_stops_nobody_else(self, copies):
        backfill = begin(copies, keys=("2026-03-01",), with_downstream=True)
        second = Dag.objects.get(dag_id="second")
        second.schedule = {"type": "Nonsense"}
        second.revision, second.updated_at = 2, NOW + SECOND
        second.save()
        drive(backfill)
        assert of_dag(backfill, "first") == {"2026-03-01": "done"}
        assert of_dag(backfill, "second") == {"2026-03-01": "failed"}
        assert "Nonsense" in item(backfill, "2026-03-01", "second").reason
        assert of_dag(backfill, "third") == {"2026-03-01": "blocked"}

    def test_a_running_backfill_keeps_its_keys(self, copies):
        """TC-32: a definition that changes does not change what was started."""
        backfill = begin(copies, selection="[2026-03-01...2026-03-03]", max_active_runs=1)
        turn()
        execute(most=1)
        asset = copies.outlets.get().asset
        asset.partitions = asset.partitions | {"start": "2026-03-03"}
        asset.save()
        drive(backfill)
        assert counts(backfill) == {"planned": 3, "done": 3}


class TestByHandMeanwhile:
    def test_a_run_by_hand_of_an_older_upstream_is_not_taken_for_the_new_one(self, copies):
        """What ran before the upstream was done is not what was asked for."""
        backfill = begin(copies, keys=("2026-03-01",), with_downstream=True)
        turn()
        second = Dag.objects.get(dag_id="second")
        early = runs.trigger(second, RunAsk("2026-03-01"), deed=ALICE, at=NOW)
        execute(NOW + SECOND)
        drive(backfill, at=NOW + 2 * SECOND)
        assert item(backfill, "2026-03-01", "second").run != early
        assert BackfillPartition.objects.filter(run=early).count() == 0
