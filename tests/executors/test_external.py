"""Runs that another system claims, keeps and finishes, by the rules of any worker."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection

from core.models import AssetEvent, LogLine, Pool
from scheduling import claims, corrections, elsewhere, newruns, restart, runs, timeouts, turns
from scheduling.authoring.outlets import NotAnOutlet
from scheduling.elsewhere import Hold, NotWithYou
from scheduling.reports import Report, Written
from scheduling.runs import Ask
from tests.engine.executing import again
from tests.engine.world import ALICE, MINUTE, NOW, RUNTIME, dag, part

pytestmark = pytest.mark.django_db
MINE = Hold("etl-1", 1)


def external(dag_id="d", **fields):
    return dag(dag_id, RUNTIME, writes=["out"], executor="external", **fields)


def trigger(made, *keys):
    return [runs.trigger(made, Ask(key), deed=ALICE, at=NOW) for key in keys]


def take(worker="etl-1", now=NOW, **options):
    return elsewhere.take(worker=worker, now=now, **options)


def keys(taken):
    return [run.partition_key for run in taken]


def lost(run):
    claims.take_over_lost(now=NOW + 2 * MINUTE)


def failed(run):
    elsewhere.finish(run, MINE, Report(error="no disk"), at=NOW)


def marked(run):
    corrections.mark(run, run.State.FAILED, deed=ALICE, at=NOW)


class TestTake:
    def test_gives_the_oldest_first_and_each_once(self):
        trigger(external(), "a", "b", "c")
        assert keys(take(limit=2)) == ["a", "b"]
        assert keys(take("etl-2", limit=2)) == ["c"]
        assert take() == []

    def test_makes_them_run_elsewhere_for_as_long_as_was_asked(self):
        trigger(external(), "a")
        [run] = take(lease=5 * MINUTE)
        row = again(run)
        assert (row.state, row.is_elsewhere, row.claimed_by, row.attempt) == ("running", True, "etl-1", 1)
        assert row.lease_until == NOW + 5 * MINUTE
        assert part("out", "a").state == "running"

    def test_gives_runs_of_certain_dags_only(self):
        trigger(external("a"), "a")
        trigger(external("b"), "b")
        assert take(dag_ids=["c"]) == []
        assert keys(take(dag_ids=["b", "c"])) == ["b"]

    def test_and_workers_of_ours_have_runs_of_their_own(self):
        [theirs] = trigger(external(), "theirs")
        [ours] = trigger(dag("python", RUNTIME), "ours")
        assert turns.dispatch(now=NOW) == [ours.pk]
        assert claims.claim(theirs.pk, worker="w", now=NOW) is None
        assert claims.claim(ours.pk, worker="etl-1", now=NOW, elsewhere=True) is None
        assert keys(take(limit=10)) == ["theirs"]

    def test_keeps_the_limits(self):
        trigger(external("few", max_active_runs=1), "a", "b")
        pool = Pool.objects.create(name="p", slots=2, created_at=NOW, updated_at=NOW)
        trigger(external("pooled", pool=pool), "c", "d", "e")
        assert keys(take(limit=10)) == ["a", "c", "d"]
        assert take("etl-2", limit=10) == []

    def test_gives_nothing_of_a_paused_dag_nor_what_is_for_later(self):
        trigger(external("paused", is_paused=True), "a")
        runs.trigger(external(), Ask("b", run_after=NOW + MINUTE), deed=ALICE, at=NOW)
        assert take() == []
        assert keys(take(now=NOW + MINUTE)) == ["b"]


class TestKeep:
    def test_renews_the_lease_and_keeps_the_log(self):
        trigger(external(), "a")
        [run] = take()
        elsewhere.keep(run, MINE, now=NOW + MINUTE / 2, lease=2 * MINUTE, log="10 %\n20 %")
        assert again(run).lease_until == NOW + 2.5 * MINUTE
        assert list(LogLine.objects.values_list("attempt", "text")) == [(1, "10 %"), (1, "20 %")]
        assert claims.take_over_lost(now=NOW + 2 * MINUTE) == 0

    @pytest.mark.parametrize("hold", [Hold("etl-2", 1), Hold("etl-1", 2), Hold("", 0)])
    def test_is_refused_to_anybody_else(self, hold):
        trigger(external(), "a")
        [run] = take()
        with pytest.raises(NotWithYou, match="is with etl-1, at attempt 1: stop working on it"):
            elsewhere.keep(run, hold, now=NOW)
        with pytest.raises(NotWithYou):
            elsewhere.finish(run, hold, Report(), at=NOW)

    def test_is_refused_for_a_run_of_a_worker_of_ours(self):
        [run] = trigger(dag("python", RUNTIME), "a")
        run = claims.claim(run.pk, worker="etl-1", now=NOW)
        with pytest.raises(NotWithYou):
            elsewhere.keep(run, MINE, now=NOW)

    def test_tells_that_somebody_cancelled(self):
        trigger(external(), "a")
        [run] = take()
        runs.cancel(run, deed=ALICE, at=NOW)
        assert again(run).state == "cancelled"
        assert part("out", "a").state == "missing"
        with pytest.raises(NotWithYou, match="has ended: cancelled"):
            elsewhere.keep(again(run), MINE, now=NOW)

    def test_tells_that_somebody_cancelled_this_moment(self):
        trigger(external(), "a")
        [run] = take()
        runs.cancel(run, deed=ALICE, at=NOW)
        with pytest.raises(NotWithYou, match="has ended: cancelled"):
            elsewhere.keep(run, MINE, now=NOW)

    def test_comes_too_late_after_silence(self):
        trigger(external(), "a")
        [run] = take()
        claims.take_over_lost(now=NOW + 2 * MINUTE)
        with pytest.raises(NotWithYou, match="waits for attempt 2: stop working on it, or claim it again"):
            elsewhere.keep(again(run), MINE, now=NOW + 2 * MINUTE)
        [second] = take("etl-2", now=NOW + 2 * MINUTE)
        assert (second.pk, second.attempt) == (run.pk, 2)
        with pytest.raises(NotWithYou, match="is with etl-2, at attempt 2"):
            elsewhere.finish(run, MINE, Report(), at=NOW + 2 * MINUTE)
        assert not AssetEvent.objects.exists()

    @pytest.mark.parametrize("ending", [lost, failed, marked])
    def test_comes_too_late_once_somebody_has_run_it_again(self, ending):
        """The same system has it anew, and a thread of it that was forgotten speaks of the attempt before."""
        trigger(external(max_attempts=1), "a")
        [first] = take()
        ending(first)
        corrections.retry(again(first), deed=ALICE, at=NOW + 2 * MINUTE)
        [second] = take(now=NOW + 2 * MINUTE)
        assert (first.attempt, second.attempt) == (1, 2)
        with pytest.raises(NotWithYou, match="is with etl-1, at attempt 2: stop working on it"):
            elsewhere.keep(again(first), MINE, now=NOW + 2 * MINUTE)
        with pytest.raises(NotWithYou):
            elsewhere.finish(again(first), MINE, Report(), at=NOW + 2 * MINUTE)
        assert not AssetEvent.objects.exists()
        elsewhere.finish(again(first), Hold("etl-1", 2), Report(), at=NOW + 2 * MINUTE)
        assert again(first).state == "success"

    def test_comes_too_late_after_a_time_out(self):
        trigger(external(run_timeout=MINUTE), "a")
        [run] = take(lease=10 * MINUTE)
        timeouts.end_overdue(now=NOW + 2 * MINUTE)
        with pytest.raises(NotWithYou, match="has ended: failed"):
            elsewhere.keep(again(run), MINE, now=NOW + 2 * MINUTE)
        assert again(run).error == "timed out after 1 minute"


class TestFinish:
    def test_emits_what_was_written(self):
        trigger(external(), "a")
        [run] = take()
        report = Report(written=[Written("out", {"x": {"rows": 3}}, {"by": "etl"})])
        elsewhere.finish(run, MINE, report, at=NOW)
        event = AssetEvent.objects.get()
        assert (event.partition_key, event.extra) == ("x", {"by": "etl", "rows": 3})
        assert (event.source, event.source_run_id) == ("run", run.pk)
        assert again(run).state == "success"

    def test_may_give_up_keys_of_a_ranged_run(self):
        made = external()
        new = newruns.NewRun(made, runs.Type.BACKFILL, partition_keys=["a", "b", "c"])
        newruns.create([new], at=NOW)
        [run] = take()
        elsewhere.finish(run, MINE, Report(failed_keys={"b": "no such file", "z": "unknown"}), at=NOW)
        assert again(run).failed_keys == {"b": "no such file"}
        assert [part("out", key).state for key in "abc"] == ["materialized", "failed", "materialized"]

    def test_of_a_failure_is_tried_again_if_the_dag_says_so(self):
        trigger(external(retries=1, retry_delay=MINUTE), "a")
        [run] = take()
        elsewhere.finish(run, MINE, Report(error="no disk"), at=NOW)
        assert take() == []
        [second] = take(now=NOW + MINUTE)
        elsewhere.finish(second, Hold("etl-1", 2), Report(error="no disk"), at=NOW + MINUTE)
        assert again(run).state == "failed"
        assert part("out", "a").state == "failed"

    def test_that_names_a_strange_asset_ends_nothing(self):
        trigger(external(), "a")
        [run] = take()
        with pytest.raises(NotAnOutlet, match="else is not an outlet of Dag d, whose outlets are: out"):
            elsewhere.finish(run, MINE, Report(written=[Written("else")]), at=NOW)
        assert again(run).state == "running"
        elsewhere.finish(run, MINE, Report(), at=NOW)
        assert again(run).state == "success"


class TestAnEngineThatStartsAgain:
    def test_takes_back_only_what_was_with_its_own_workers(self):
        trigger(external(), "a")
        [theirs] = take()
        [ours] = trigger(dag("python", RUNTIME), "ours")
        claims.claim(ours.pk, worker="w", now=NOW)
        restart.take_back(now=NOW)
        assert (again(theirs).state, again(ours).state) == ("running", "queued")


@pytest.mark.django_db(transaction=True)
def test_eight_systems_that_ask_at_once_get_each_run_once():
    made = external(max_active_runs=100)
    trigger(made, *(f"k{number}" for number in range(24)))
    together = threading.Barrier(8)

    def ask(name):
        try:
            together.wait(20)
            return [key for _ in range(4) for key in keys(take(f"etl-{name}"))]
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        taken = [key for found in threads.map(ask, range(8)) for key in found]
    taken += keys(take("last", limit=50, now=NOW + timedelta(seconds=1)))
    assert sorted(taken) == sorted(f"k{number}" for number in range(24))
