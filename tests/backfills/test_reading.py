"""What is shown of backfills."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import Dag, DagRun
from scheduling import backfills, claims
from scheduling.backfills import reading
from scheduling.backfills.reading import Progress, Status
from tests.backfills.play import begin, daily, days, drive, listener, producer, turn
from tests.engine.world import ALICE, NOW, start

pytestmark = pytest.mark.django_db


def progress(backfill):
    return reading.progress_of([backfill])[backfill.pk]


def status(backfill):
    backfill.refresh_from_db()
    return reading.status_of(backfill, progress(backfill))


class TestProgress:
    def test_adds_up_over_all_dags(self):
        daily("as"), daily("bs")
        first = producer("first", "as")
        listener("second", "as", "bs")
        backfill = begin(first, selection="[2026-03-01...2026-03-03]", with_downstream=True)
        assert progress(backfill) == Progress(planned=6)
        drive(backfill, fail=["2026-03-02"])
        found = progress(backfill)
        assert found == Progress(planned=6, done=4, failed=2)
        assert (found.open, found.ended, found.words) == (0, 6, "4 done, 2 failed")

    def test_of_many_is_one_query(self):
        made = producer()
        several = [begin(made, keys=(key,)) for key in days(1, 5)]
        with CaptureQueriesContext(connection) as queries:
            found = reading.progress_of(several)
        assert len(queries) == 1
        assert [found[each.pk].planned for each in several] == [1] * 5

    def test_of_nothing_in_words(self):
        assert Progress().words == "nothing"


class TestStatus:
    def test_of_one_that_goes_well(self):
        backfill = begin(producer(), keys=("2026-03-01",))
        assert status(backfill) is Status.RUNNING
        backfills.pause(backfill, deed=ALICE, at=NOW)
        assert status(backfill) is Status.PAUSED
        backfills.resume(backfill, deed=ALICE, at=NOW)
        drive(backfill)
        assert status(backfill) is Status.DONE

    def test_of_one_that_failed(self):
        backfill = begin(producer(), keys=("2026-03-01", "2026-03-02"))
        drive(backfill, fail=["2026-03-01"])
        assert status(backfill) is Status.FAILED

    def test_of_one_that_is_cancelled(self):
        backfill = begin(producer(), max_active_runs=1)
        turn()
        run = start(DagRun.objects.first())
        backfills.cancel(backfill, deed=ALICE, at=NOW)
        assert status(backfill) is Status.CANCELLING
        claims.succeed(run, [], at=NOW)
        turn()
        assert status(backfill) is Status.CANCELLED


class TestLanes:
    def test_say_how_many_are_in_which_state(self):
        backfill = begin(producer(), selection="[2026-03-01...2026-03-06]")
        drive(backfill, fail=["2026-03-02"])
        [lane] = reading.lanes(backfill)
        assert lane.target.dag.dag_id == "load"
        assert lane.states == {"done": 5, "failed": 1}

    def test_one_for_each_dag_upstream_first(self):
        daily("as"), daily("bs")
        first = producer("first", "as")
        listener("second", "as", "bs")
        backfill = begin(first, keys=("2026-03-01",), with_downstream=True)
        assert [lane.states for lane in reading.lanes(backfill)] == [{"ready": 1}, {"waiting": 1}]

    def test_say_which_limit_holds_them(self):
        backfill = begin(producer(max_active_runs=1), max_active_runs=2)
        turn()
        assert reading.lanes(backfill)[0].limited_by == ""
        start(DagRun.objects.first())
        assert reading.lanes(backfill)[0].limited_by == ("1 run of Dag load is running: it may have no more")
        Dag.objects.update(max_active_runs=5)
        start(DagRun.objects.filter(state="queued").first())
        assert reading.lanes(backfill)[0].limited_by == "2 of its runs are running: it may have no more"
        Dag.objects.update(is_paused=True)
        assert reading.lanes(backfill)[0].limited_by == "Dag load is paused"

    def test_of_one_that_is_over_are_held_by_nothing(self):
        backfill = begin(producer(), keys=("2026-03-01",))
        drive(backfill)
        Dag.objects.update(is_paused=True)
        assert reading.lanes(backfill)[0].limited_by == ""


class TestPartitions:
    def test_come_dag_by_dag_in_order(self):
        daily("as"), daily("bs")
        first = producer("first", "as")
        listener("second", "as", "bs")
        backfill = begin(first, selection="[2026-03-01...2026-03-02]", with_downstream=True)
        found = [(row.target.dag.dag_id, row.key) for row in reading.partitions(backfill)]
        assert found == [(name, key) for name in ("first", "second") for key in days(1, 2)]

    def test_of_another_backfill_are_not_among_them(self):
        made = producer()
        begin(made, keys=("2026-03-01",))
        other = begin(made, keys=("2026-03-02",))
        assert [row.key for row in reading.partitions(other)] == ["2026-03-02"]


class TestLatest:
    def test_newest_first_of_one_dag(self):
        made, other = producer("a", "as"), producer("b", "bs")
        rows = [begin(each, keys=(key,)) for each, key in zip((made, other, made), days(1, 3), strict=True)]
        assert list(reading.latest(made)) == [rows[2], rows[0]]
        assert len(reading.latest()) == 3
        assert [dag.dag_id for dag in reading.dags_of(rows)[rows[1].pk]] == ["b"]
