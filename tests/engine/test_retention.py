"""Old records go; what says how things are now, and what is under way, stays."""

import pytest

from core.models import (
    AssetEvent,
    Backfill,
    BackfillPartition,
    BackfillTarget,
    DagRun,
    JournalEntry,
    LogLine,
    MappingProblem,
    Partition,
)
from scheduling import claims, newruns, retention, runs
from scheduling.newruns import NewRun, Type
from scheduling.retention import Ages
from scheduling.runs import Ask
from tests.engine.pruning import DAY, LATER, YEAR, executed, prune, there
from tests.engine.world import (
    ALICE,
    IDENTITY,
    MINUTE,
    NOW,
    RUNTIME,
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


@pytest.fixture
def made():
    return dag("ingest", RUNTIME, writes=["out"])


class TestEvents:
    def test_of_a_key_go_but_for_the_newest(self):
        for minute in range(3):
            emit("a", "k", "l", at=NOW + minute * MINUTE)
        newest = [part("a", key).last_event_id for key in "kl"]
        turn()
        assert prune()["events"] == 4
        assert there() == sorted(newest)
        assert part("a", "k").state == "materialized"

    def test_without_a_key_go_but_for_the_newest_of_each_asset(self):
        emit("a", None, None)
        emit("b", None)
        turn()
        prune()
        assert list(AssetEvent.objects.values_list("asset__name", flat=True)) == ["a", "b"]

    def test_stay_while_they_are_young(self):
        emit("a", "k")
        emit("a", "k")
        turn()
        assert prune(now=NOW + 364 * DAY)["events"] == 0
        assert prune(now=NOW + 366 * DAY)["events"] == 1

    def test_stay_until_they_are_mapped(self):
        emit("a", "k")
        emit("a", "k")
        assert prune()["events"] == 0

    def test_stay_while_an_open_held_run_has_counted_them(self):
        consumer("joined", {"a": IDENTITY, "b": IDENTITY})
        emit("a", "k")
        emit("a", "k")
        turn()
        assert prune()["events"] == 0
        emit("b", "k")
        turn()
        assert fired("joined") == ["k"]

    def test_go_with_what_nobody_could_map(self):
        consumer("days", {"a": {"type": "StartOfDayMapper"}})
        emit("a", "not a day")
        turn()
        emit("a", "not a day")
        turn()
        assert MappingProblem.objects.count() == 2
        prune()
        assert MappingProblem.objects.get().event == AssetEvent.objects.get()

    def test_stay_while_the_backfill_whose_run_wrote_them_is_under_way(self, made):
        mine = Backfill.objects.create(created_at=NOW, updated_at=NOW)
        [run] = newruns.create([NewRun(made, Type.BACKFILL, partition_key="k", backfill=mine)], at=NOW)
        finish(start(run), "out")
        emit("out", "k", at=NOW + MINUTE)
        turn()
        assert prune()["events"] == 0
        Backfill.objects.update(completed_at=LATER)
        assert prune()["events"] == 1


class TestRuns:
    def test_go_with_their_logs_but_for_the_latest_of_each_partition(self, made):
        old = executed(made, "k")
        LogLine.objects.create(run=old, attempt=1, at=LATER, text="young, and gone with its run")
        latest = executed(made, "k", at=NOW + MINUTE)
        failed = executed(made, "l", fails=True)
        turn()
        assert prune()["runs"] == 1
        assert there(DagRun) == sorted([latest.pk, failed.pk])
        assert not LogLine.objects.exists()
        assert part("out", "k").attempt_run == latest

    def test_that_ended_otherwise_than_the_last_one_stay_as_the_outcome_before(self, made):
        """The attempt under way may be cancelled: then the partition is as the one before left it."""
        before = executed(made, "k", fails=True)
        start(runs.trigger(made, Ask("k"), deed=ALICE, at=LATER), at=LATER)
        assert prune()["runs"] == 0
        assert part("out", "k").outcome_run == before

    def test_without_a_key_go_all(self):
        plain = dag("plain")
        for _ in range(3):
            claims.succeed(start(runs.trigger(plain, Ask(), deed=ALICE, at=NOW)), [], at=NOW)
        assert prune()["runs"] == 3

    def test_stay_while_they_are_young_or_have_not_ended(self):
        plain = dag("plain")
        start(runs.trigger(plain, Ask(), deed=ALICE, at=NOW))
        runs.trigger(plain, Ask(), deed=ALICE, at=NOW)
        late = start(runs.trigger(plain, Ask(), deed=ALICE, at=NOW))
        claims.succeed(late, [], at=LATER)
        assert prune()["runs"] == 0

    def test_stay_while_their_backfill_is_under_way(self, made):
        mine = Backfill.objects.create(created_at=NOW, updated_at=NOW)
        target = BackfillTarget.objects.create(backfill=mine, dag=made, planned=2)
        [own] = newruns.create([NewRun(made, Type.BACKFILL, partition_key="k", backfill=mine)], at=NOW)
        claims.succeed(start(own), [], at=NOW)
        joined = executed(made, "l")
        BackfillPartition.objects.create(target=target, key="l", position=1, state="started", run=joined)
        executed(made, "l", at=NOW + MINUTE)
        assert prune()["runs"] == 0
        Backfill.objects.update(completed_at=LATER)
        assert prune()["runs"] == 2

    def test_leave_their_events(self, made):
        executed(made, "k")
        Partition.objects.update(attempt_run=None, outcome_run=None)
        turn()
        assert prune()["runs"] == 1
        assert AssetEvent.objects.get().source_run is None


class TestJournalAndLogs:
    def test_entries_go_by_age_and_the_pruning_is_told(self, made):
        executed(made, "k")
        gone = prune()
        assert gone["journal entries"] == 1
        entry = JournalEntry.objects.get()
        assert (entry.event, entry.extra) == ("records pruned", {"gone": gone})

    def test_lines_go_by_age_unless_their_run_is_under_way(self, made):
        ended, running = executed(made, "k"), start(runs.trigger(made, Ask("l"), deed=ALICE, at=NOW))
        for run in (ended, running):
            LogLine.objects.create(run=run, attempt=1, at=NOW, text="old")
        LogLine.objects.create(run=ended, attempt=1, at=LATER, text="young")
        assert prune()["log lines"] == 1
        assert list(LogLine.objects.values_list("run", "text")) == [(running.pk, "old"), (ended.pk, "young")]

    def test_of_what_has_no_age_nothing_goes(self, made):
        emit("a", "k")
        emit("a", "k")
        executed(made, "k")
        turn()
        assert prune(ages=Ages()) == {}
        assert prune(ages=Ages(logs=DAY)) == {"log lines": 0, "looks": 0}
        assert AssetEvent.objects.count() == 3


class TestDryRun:
    def test_tells_and_deletes_nothing(self, made):
        executed(made, "k")
        executed(made, "k", at=NOW + MINUTE)
        turn()
        before = (there(), there(DagRun), there(JournalEntry))
        counted = retention.count(YEAR, now=LATER)
        assert counted == {
            "log lines": 0,
            "looks": 0,
            "held runs": 0,
            "runs": 1,
            "events": 1,
            "journal entries": 2,
        }
        assert (there(), there(DagRun), there(JournalEntry)) == before
        assert prune() == counted
