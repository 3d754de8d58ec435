from datetime import timedelta

import pytest

from core.models import AssetEvent, DagRun, JournalEntry
from scheduling import claims, corrections, runs, turns
from scheduling.algebra.errors import InvalidKey
from scheduling.runs import Ask
from tests.engine.world import (
    ALICE,
    IDENTITY,
    MINUTE,
    NOW,
    RUNTIME,
    asset,
    consumer,
    dag,
    emit,
    finish,
    fired,
    part,
    start,
    turn,
)

pytestmark = pytest.mark.django_db


def make(key="k", made=None, **fields):
    made = made or dag("ingest", RUNTIME, writes=["out"], **fields)
    return runs.trigger(made, Ask(key), deed=ALICE, at=NOW)


class TestClaim:
    def test_only_the_first_gets_it(self):
        run = make()
        assert claims.claim(run.pk, worker="w1", now=NOW).attempt == 1
        assert claims.claim(run.pk, worker="w2", now=NOW) is None
        assert part("out", "k").state == "running"

    def test_the_limit_of_the_dag_is_kept(self):
        made = dag("ingest", RUNTIME, max_active_runs=1)
        first, second = make("a", made), make("b", made)
        start(first)
        assert claims.claim(second.pk, worker="w2", now=NOW) is None
        finish(DagRun.objects.get(pk=first.pk))
        assert claims.claim(second.pk, worker="w2", now=NOW) is not None

    def test_a_paused_dag_starts_nothing(self):
        run = make(is_paused=True)
        assert claims.claim(run.pk, worker="w1", now=NOW) is None
        assert turns.dispatch(now=NOW) == []

    def test_a_run_for_later_waits(self):
        made = dag("ingest", RUNTIME)
        run = runs.trigger(made, Ask("k", run_after=NOW + MINUTE), deed=ALICE, at=NOW)
        assert claims.claim(run.pk, worker="w1", now=NOW) is None
        assert turns.dispatch(now=NOW) == []
        assert turns.dispatch(now=NOW + MINUTE) == [run.pk]


class TestDispatch:
    def test_a_message_is_sent_once_and_again_when_it_got_lost(self):
        run = make()
        assert turns.dispatch(now=NOW) == [run.pk]
        assert turns.dispatch(now=NOW) == []
        assert turns.dispatch(now=NOW + turns.DISPATCH_AGAIN) == [run.pk]

    def test_a_queue_behind_one_limit_does_not_delay_another_dag(self):
        full = dag("full", RUNTIME, max_active_runs=2)
        many = [make(f"k{n}", full) for n in range(30)]
        other = make("x", dag("other", RUNTIME))
        assert turns.dispatch(now=NOW) == [many[0].pk, many[1].pk, other.pk]

    def test_a_freed_slot_is_given_to_the_oldest(self):
        full = dag("full", RUNTIME, max_active_runs=1)
        first, second = make("a", full), make("b", full)
        assert turns.dispatch(now=NOW) == [first.pk]
        finish(start(first))
        assert turns.dispatch(now=NOW) == [second.pk]


class TestEnd:
    def test_success_emits_the_runs_key_for_each_outlet(self):
        finish(start(make()), "out")
        event = AssetEvent.objects.get()
        assert (event.partition_key, event.source, event.source_run.state) == ("k", "run", "success")
        assert part("out", "k").state == "materialized"

    def test_keys_the_run_names_replace_its_own_and_collapse(self):
        finish(start(make(key=None)), "out", keys=["tw", "jp", "tw"])
        assert list(AssetEvent.objects.values_list("partition_key", flat=True)) == ["tw", "jp"]

    def test_a_run_that_names_other_keys_leaves_its_own_as_it_was(self):
        finish(start(make("own")), "out", keys=["other"])
        assert part("out", "own").state == "missing"
        assert part("out", "other").state == "materialized"

    def test_a_bad_key_ends_nothing(self):
        run = start(make())
        with pytest.raises(InvalidKey):
            finish(run, "out", keys=[" "])
        run.refresh_from_db()
        assert run.state == "running"

    def test_failure_emits_nothing_and_shows_on_the_partition(self):
        claims.fail(start(make()), "boom", at=NOW)
        assert not AssetEvent.objects.exists()
        assert part("out", "k").state == "failed"
        assert DagRun.objects.get().error == "boom"

    def test_a_run_is_never_ended_by_a_worker_that_lost_it(self):
        run = start(make())
        late = NOW + timedelta(hours=1)
        assert claims.take_over_lost(now=late) == 1
        again = start(DagRun.objects.get(), worker="w2", at=late)
        with pytest.raises(claims.LeaseLost):
            finish(run, "out", at=late)
        assert not AssetEvent.objects.exists()
        finish(again, "out", at=late)
        assert AssetEvent.objects.count() == 1

    def test_a_finished_run_is_never_executed_again(self):
        run = make()
        finish(start(run), "out")
        assert claims.claim(run.pk, worker="w2", now=NOW) is None


class TestLease:
    def test_it_is_renewed_while_the_worker_lives(self):
        run = start(make())
        assert claims.renew(run, now=NOW + MINUTE)
        assert claims.take_over_lost(now=NOW + 1.5 * MINUTE) == 0

    def test_a_lost_run_is_queued_again_until_its_attempts_are_used_up(self):
        made = dag("ingest", RUNTIME, writes=["out"], max_attempts=2)
        run, at = make("k", made), NOW
        for _ in range(2):
            start(DagRun.objects.get(pk=run.pk), at=at)
            at += timedelta(hours=1)
            claims.take_over_lost(now=at)
        run.refresh_from_db()
        assert (run.state, run.attempt) == ("failed", 2)
        assert "was lost, at attempt 2 of 2" in run.error
        assert JournalEntry.objects.filter(event="worker lost").count() == 2

    def test_a_worker_that_has_just_renewed_keeps_its_last_attempt(self):
        made = dag("ingest", RUNTIME, writes=["out"], max_attempts=1)
        seen = start(make("k", made))
        assert claims.renew(DagRun.objects.get(), now=NOW + timedelta(hours=1))
        with pytest.raises(claims.LeaseLost, match="alive"):
            claims._take_over(seen, NOW + timedelta(hours=1))
        assert DagRun.objects.get().state == "running"
        assert not JournalEntry.objects.filter(event="worker lost").exists()


class TestCancelAndRetry:
    def test_a_queued_run_is_cancelled_at_once(self):
        run = make()
        runs.cancel(run, deed=ALICE, at=NOW)
        assert DagRun.objects.get().state == "cancelled"

    def test_a_running_one_hears_of_it_when_it_renews(self):
        run = start(make())
        runs.cancel(run, deed=ALICE, at=NOW)
        assert not claims.renew(run, now=NOW)
        claims.stop(run, at=NOW)
        assert part("out", "k").state == "missing"

    def test_cancelled_attempts_lower_neither_success_nor_failure(self):
        made = dag("ingest", RUNTIME, writes=["out"])
        finish(start(make("ok", made)), "out")
        claims.fail(start(make("bad", made)), "boom", at=NOW)
        for key in ("ok", "bad"):
            claims.stop(start(make(key, made)), at=NOW)
        assert (part("out", "ok").state, part("out", "bad").state) == ("materialized", "failed")

    def test_a_late_end_of_an_older_attempt_does_not_overwrite_a_newer_one(self):
        made = dag("ingest", RUNTIME, writes=["out"])
        older, newer = start(make("k", made)), start(make("k", made))
        finish(newer, "out")
        claims.fail(older, "late", at=NOW)
        assert part("out", "k").state == "materialized"

    def test_an_event_by_hand_repairs_a_failed_partition(self):
        claims.fail(start(make()), "boom", at=NOW)
        emit("out", "k")
        assert part("out", "k").state == "materialized"

    def test_retry_is_the_same_run_again(self):
        run = make()
        claims.fail(start(run), "boom", at=NOW)
        again = corrections.retry(DagRun.objects.get(), deed=ALICE, at=NOW)
        assert (again.pk, again.state, again.error) == (run.pk, "queued", "")
        with pytest.raises(runs.NotRunnable):
            corrections.retry(again, deed=ALICE, at=NOW)


def test_the_whole_way_from_one_asset_to_the_next():
    consumer("next", {"out": IDENTITY}, writes=["far"])
    finish(start(make()), "out")
    turn()
    assert fired("next") == ["k"]
    finish(start(DagRun.objects.get(dag__dag_id="next")), "far")
    assert part("far", "k").state == "materialized"
    assert asset("far").events.get().source_run.dag.dag_id == "next"
