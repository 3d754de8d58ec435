"""What happens at the same time, which only PostgreSQL lets happen."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import transaction

from core.models import AssetEvent, Backfill, BackfillTarget, DagRun, HeldRun, Partition
from scheduling import at_once, claims, corrections, holds, newruns, turns, wiping
from scheduling.claims import Output
from scheduling.configuration import set_paused
from scheduling.newruns import NewRun, Type
from scheduling.refiling import refile
from tests.engine.meeting import apart, meet, until_waiting
from tests.engine.world import (
    ALICE,
    HOURS_TO_DAY,
    IDENTITY,
    NOW,
    RUNTIME,
    asset,
    consumer,
    dag,
    emit,
    part,
    start,
)

pytestmark = [pytest.mark.pg, pytest.mark.django_db(transaction=True)]

DAY_TO_HOURS = {
    "type": "FanOutMapper",
    "upstream_mapper": {"type": "StartOfDayMapper", "input_format": "%Y-%m-%d"},
    "window": {"type": "DayWindow"},
    "max_downstream_keys": 23,
}


def route():
    holds.route_pending(now=NOW)


def wipe(*keys):
    return wiping.wipe(asset("a"), keys, deed=ALICE, at=NOW)


def test_a_change_of_mapper_waits_for_events_that_are_filed_by_the_old_one():
    dag = consumer("copy", {"a": HOURS_TO_DAY})
    emit("a", "2026-03-10T09:00:00")

    def change():
        with transaction.atomic():
            dag.dependencies.update(mapper=IDENTITY)
            dag.revision += 1
            dag.save()
            refile(dag, deed=ALICE, at=NOW)

    meet(route, change)
    assert {row.partition_key: row.state for row in HeldRun.objects.all()} == {
        "2026-03-10": "superseded",
        "2026-03-10T09:00:00": "held",
    }


def test_a_dag_that_is_unpaused_and_the_events_that_are_filed_for_it_do_not_wait_for_each_other():
    dag = consumer("copy", {"a": IDENTITY})
    set_paused(dag, True, deed=ALICE, at=NOW)
    emit("a", "k1")
    route()
    emit("a", "k1", "k2")
    meet(route, lambda: set_paused(dag, False, deed=ALICE, at=NOW))
    assert HeldRun.objects.held().count() == 2


def test_two_that_open_the_same_held_run_count_into_one():
    consumer("joined", {"a": IDENTITY, "b": IDENTITY})
    emit("a", "k")

    def second():
        emit("b", "k")
        route()

    meet(route, second)
    row = HeldRun.objects.get()
    assert (row.state, row.round, row.received.count(), row.consumed.count()) == ("fired", 1, 2, 2)


def test_a_key_over_the_limit_waits_for_those_who_open_what_it_counts_for():
    """They do not see each other's work before it is committed: the held run would wait for it for ever."""
    consumer("meet", {"daily": DAY_TO_HOURS, "hourly": IDENTITY})
    emit("hourly", "2026-03-10T09")

    def second():
        emit("daily", "2026-03-10")
        route()

    meet(route, second)
    row = HeldRun.objects.get()
    assert (row.state, row.received.count(), row.consumed.count()) == ("fired", 2, 2)


def test_and_those_who_open_it_wait_for_a_key_over_the_limit():
    consumer("meet", {"daily": DAY_TO_HOURS, "hourly": IDENTITY})
    emit("daily", "2026-03-10")

    def second():
        emit("hourly", "2026-03-10T09")
        route()

    meet(route, second)
    assert HeldRun.objects.get().state == "fired"


def test_a_run_that_gives_up_a_key_locks_its_partitions_in_order():
    """As those do who report many keys at once. What it wrote first and then what it gave up is no order."""
    made = dag("d", RUNTIME, writes=["out"])
    [run] = newruns.create([NewRun(made, Type.BACKFILL, partition_keys=["k0", "k1", "k2"])], at=NOW)
    running = start(run)

    def end():
        claims.succeed(running, [Output(asset("out"))], at=NOW, failed_keys={"k0": "no file"})

    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            emit("out", "k0")
            ending = threads.submit(apart, end)
            until_waiting(1)
            emit("out", "k2")
        ending.result(30)
    assert AssetEvent.objects.filter(source_run=run).count() == 2
    assert {part("out", key).state for key in ("k0", "k1", "k2")} == {"materialized"}


def test_a_run_that_is_deleted_locks_held_runs_before_partitions():
    """As a wipe does, which has the held run that is open and then wants the partition."""
    consumer("joined", {"a": IDENTITY, "b": IDENTITY}, writes=["out"])
    emit("a", "k"), emit("b", "k")
    route()
    run = DagRun.objects.get()
    claims.fail(start(run), "boom", at=NOW)
    emit("a", "k")
    route()
    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            HeldRun.objects.held().select_for_update(no_key=True).get()
            deleting = threads.submit(apart, lambda: corrections.delete(run, deed=ALICE, at=NOW))
            until_waiting(1)
            list(Partition.objects.filter(asset__name="out").select_for_update(no_key=True, of=("self",)))
        deleting.result(30)
    assert not DagRun.objects.exists()
    assert part("out", "k").attempt == ""


def test_dealing_out_slots_waits_for_no_backfill():
    """One that is advanced has its counts locked, of one Dag after the other."""
    made = dag("d", RUNTIME, max_active_runs=1)
    for _ in range(2):
        backfill = Backfill.objects.create(created_at=NOW, updated_at=NOW)
        BackfillTarget.objects.create(backfill=backfill, dag=made, planned=1)
        newruns.create([NewRun(made, Type.BACKFILL, partition_key="k", backfill=backfill)], at=NOW)
    with ThreadPoolExecutor(1) as threads, transaction.atomic():
        list(BackfillTarget.objects.select_for_update(no_key=True))
        assert len(threads.submit(apart, lambda: turns.dispatch(now=NOW)).result(20)) == 1


def test_an_asset_without_partitions_wakes_held_runs_in_the_order_in_which_others_lock_them():
    """Its event is mapped with one for a younger Dag: what that one holds is locked afterwards."""
    consumer("older", {"a": IDENTITY, "b": IDENTITY, "plain": IDENTITY})
    consumer("younger", {"a": IDENTITY, "c": IDENTITY})
    emit("a", "k")
    route()
    emit("c", "k")
    emit("plain", None)
    older, younger = HeldRun.objects.order_by("dag_id")
    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            HeldRun.objects.select_for_update(no_key=True).get(pk=older.pk)
            mapping = threads.submit(apart, route)
            until_waiting(1)
            HeldRun.objects.select_for_update(no_key=True).get(pk=younger.pk)
        mapping.result(30)
    assert HeldRun.objects.get(dag__dag_id="older").judge_after == NOW


def test_runs_lose_their_keys_in_the_order_of_their_numbers():
    """Whoever waits for the first of them has none of the others, wherever the rows lie."""
    writer = dag("load", RUNTIME, writes=["a"])
    made = newruns.create([NewRun(writer, Type.MANUAL, partition_key=key) for key in "kl"], at=NOW)
    first, second = sorted(made, key=lambda run: run.pk)
    DagRun.objects.filter(pk=first.pk).update(note="written anew, behind the other")

    def forget():
        corrections.forget_keys([second, first], deed=ALICE, at=NOW)

    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            locked = DagRun.objects.select_for_update(no_key=True)
            locked.get(pk=first.pk)
            forgetting = threads.submit(apart, forget)
            until_waiting(1)
            DagRun.objects.select_for_update(no_key=True, nowait=True).get(pk=second.pk)
        forgetting.result(30)
    assert set(DagRun.objects.values_list("partition_key", flat=True)) == {None}


def test_many_held_runs_are_locked_in_the_order_of_their_keys():
    """As events lock them, whichever was opened first."""
    consumer("joined", {"a": IDENTITY, "b": IDENTITY})
    emit("a", "l")
    route()
    emit("a", "k")
    route()
    rows = list(HeldRun.objects.order_by("pk"))
    assert [row.partition_key for row in rows] == ["l", "k"]
    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            HeldRun.objects.select_for_update(no_key=True).get(partition_key="k")
            cancelling = threads.submit(apart, lambda: at_once.cancel_held(rows, deed=ALICE, at=NOW))
            until_waiting(1)
            HeldRun.objects.select_for_update(no_key=True, nowait=True).get(partition_key="l")
        assert cancelling.result(30) == {row.pk for row in rows}
    assert not HeldRun.objects.held().exists()


def test_many_runs_are_locked_in_the_order_of_their_numbers():
    writer = dag("load", RUNTIME)
    made = newruns.create([NewRun(writer, Type.MANUAL, partition_key=key) for key in "kl"], at=NOW)
    first, second = sorted(made, key=lambda run: run.pk)
    DagRun.objects.filter(pk=first.pk).update(note="written anew, behind the other")
    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            DagRun.objects.select_for_update(no_key=True).get(pk=first.pk)
            cancelling = threads.submit(
                apart, lambda: at_once.cancel_queued([second, first], deed=ALICE, at=NOW)
            )
            until_waiting(1)
            DagRun.objects.select_for_update(no_key=True, nowait=True).get(pk=second.pk)
        assert cancelling.result(30) == {first.pk, second.pk}
    assert set(DagRun.objects.values_list("state", flat=True)) == {"cancelled"}
