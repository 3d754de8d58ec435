"""A plan leaves out what is done or under way, unless it is to be done again."""

import pytest

from core.models import Outlet
from scheduling import runs
from scheduling.algebra import specs
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.backfills import Reprocess, Wanted
from scheduling.runs import Ask as RunAsk
from tests.backfills.play import attempt, begin, daily, days, keys, plan, producer, reasons
from tests.engine.world import ALICE, NOW, RUNTIME, asset, dag, emit
from tests.moments import utc

pytestmark = pytest.mark.django_db


class TestStates:
    """TC-38: what is missing, failed or stale can be selected, and nothing else is touched."""

    def ten_minutes(self):
        return TimePartitions("*/10 * * * *", "2026-05-17", "2026-05-17T02:00")

    def test_the_one_that_is_missing(self):
        now = utc("2026-05-18")
        made = producer(writes=asset("tens", partitions=specs.dump(self.ten_minutes())).name)
        every = keys(made, now=now)
        assert len(every) == 12
        for key in every:
            if not key.endswith("00:30"):
                attempt(made, key)
        for wanted in (Wanted.MISSING, Wanted.FAILED_AND_MISSING):
            assert keys(made, now=now, wanted=wanted) == ["2026-05-17T00:30"]
        assert keys(made, now=now, wanted=Wanted.FAILED) == []

    def test_of_several_dags_only_their_own(self):
        good, bad = producer("a", "as"), producer("b", "bs")
        for key in days(1, 4):
            attempt(good, key)
        for key, end in zip(days(1, 4), ["success", "failed", "failed", "success"], strict=True):
            attempt(bad, key, end)
        found = plan(good, bad, selection="[2026-03-01...2026-03-04]", wanted=Wanted.FAILED_AND_MISSING)
        assert [(made.dag_id, key) for made, key in found.pairs()] == [
            ("b", "2026-03-02"),
            ("b", "2026-03-03"),
        ]
        assert found.skipped == 0

    def test_some_of_several_dags(self):
        first, _, third = producer("a", "as"), producer("b", "bs"), producer("c", "cs")
        found = plan(first, third, keys=("2026-03-01",))
        assert [(made.dag_id, key) for made, key in found.pairs()] == [
            ("a", "2026-03-01"),
            ("c", "2026-03-01"),
        ]

    def test_cancelled_without_data_is_missing(self):
        made = producer()
        attempt(made, "2026-03-01", "cancelled")
        assert "2026-03-01" in keys(made, wanted=Wanted.MISSING)

    def test_a_failure_after_data_is_failed_and_not_missing(self):
        made = producer()
        attempt(made, "2026-03-01")
        attempt(made, "2026-03-01", "failed")
        assert keys(made, wanted=Wanted.FAILED) == ["2026-03-01"]
        assert "2026-03-01" not in keys(made, wanted=Wanted.MISSING)

    def test_what_is_under_way_is_neither(self):
        made = producer()
        runs.trigger(made, RunAsk("2026-03-01"), deed=ALICE, at=NOW)
        attempt(made, "2026-03-02", end="running")
        for wanted in (Wanted.MISSING, Wanted.FAILED_AND_MISSING):
            assert keys(made, wanted=wanted) == days(3, 10)

    def test_stale_ones_run_again(self):
        made = producer()
        attempt(made, "2026-03-01")
        attempt(made, "2026-03-02")
        made.outlets.get().asset.partition_set.filter(key="2026-03-02").update(stale_since=NOW)
        assert keys(made, wanted=Wanted.STALE) == ["2026-03-02"]

    def test_of_two_outlets_both_must_have_data(self):
        made = producer(writes="one")
        Outlet.objects.create(dag=made, asset=daily("two"), task_id="write")
        emit("one", *days(1, 3))
        emit("two", *days(2, 4))
        assert keys(made, selection="[2026-03-01...2026-03-05]") == ["2026-03-01", "2026-03-04", "2026-03-05"]

    def test_of_a_dag_that_writes_nothing_its_runs_tell(self):
        made = dag("silent", RUNTIME)
        for key, end in (("a", "success"), ("b", "failed"), ("c", "cancelled")):
            attempt(made, key, end)
        assert keys(made, keys=("a", "b", "c", "d")) == ["c", "d"]
        assert keys(made, keys=("a", "b", "c", "d"), wanted=Wanted.FAILED) == ["b"]

    def test_are_the_same_for_many_keys_as_for_few(self, monkeypatch):
        made = producer()
        for key, end in zip(days(1, 4), ["success", "failed", "cancelled", "success"], strict=True):
            attempt(made, key, end)
        few = [keys(made, wanted=wanted) for wanted in Wanted], reasons(made)
        monkeypatch.setattr("scheduling.backfills.standing.MANY", 1)
        assert ([keys(made, wanted=wanted) for wanted in Wanted], reasons(made)) == few


class TestReprocess:
    @pytest.fixture
    def made(self):
        made = producer()
        attempt(made, "2026-03-01")
        attempt(made, "2026-03-02", "failed")
        return made

    @pytest.mark.parametrize(
        ("reprocess", "run"),
        [
            (Reprocess.NONE, ["2026-03-03"]),
            (Reprocess.FAILED, ["2026-03-02", "2026-03-03"]),
            (Reprocess.COMPLETED, ["2026-03-01", "2026-03-02", "2026-03-03"]),
        ],
    )
    def test_says_what_runs_again(self, made, reprocess, run):
        assert keys(made, selection="[2026-03-01...2026-03-03]", reprocess=reprocess) == run

    def test_each_key_that_does_not_run_says_why(self, made):
        runs.trigger(made, RunAsk("2026-03-03"), deed=ALICE, at=NOW)
        why = reasons(made, selection="[2026-03-01...2026-03-04]")
        assert why["2026-03-01"] == "it has data"
        assert why["2026-03-02"] == "its last attempt failed, and failed ones do not run again"
        assert why["2026-03-03"].startswith("it is in progress: run manual__")
        assert "2026-03-04" not in why

    def test_nothing_runs_twice_at_once_whatever_is_asked(self, made):
        runs.trigger(made, RunAsk("2026-03-03"), deed=ALICE, at=NOW)
        again = keys(made, selection="[2026-03-01...2026-03-03]", reprocess=Reprocess.COMPLETED)
        assert again == ["2026-03-01", "2026-03-02"]

    def test_another_backfill_has_it_ahead(self, made):
        other = begin(made, keys=("2026-03-05",))
        assert reasons(made, keys=("2026-03-05",)) == {
            "2026-03-05": f"it is in progress: backfill {other.pk}"
        }

    def test_the_plan_sums_up_the_reasons(self, made):
        [part] = plan(made, selection="[2026-03-01...2026-03-04]", reprocess=Reprocess.FAILED).parts
        assert (part.count, part.reasons()) == (3, [("it has data", 1)])
        nothing = plan(made, keys=("2026-03-01",))
        assert nothing.why_nothing() == "there is nothing to backfill: the only key is left out (it has data)"
