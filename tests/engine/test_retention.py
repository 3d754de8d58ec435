"""Old records go in portions; what says how things are now, and what is under way, stays."""

from datetime import timedelta

import pytest
from django.core.management import call_command

from core.models import (
    AssetEvent,
    Backfill,
    BackfillPartition,
    BackfillTarget,
    ConsumedEvent,
    DagRun,
    HeldRun,
    JournalEntry,
    LogLine,
    MappingProblem,
    Partition,
    ReceivedKey,
)
from scheduling import claims, holds, journal, retention, runs, tasks
from scheduling.retention import Ages
from scheduling.runs import Ask, NewRun, Type
from tests.engine.world import (
    ALICE,
    IDENTITY,
    MINUTE,
    NOW,
    REGIONS,
    asset,
    consumer,
    dag,
    emit,
    finish,
    fired,
    held,
    part,
    start,
    turn,
)

pytestmark = pytest.mark.django_db
RUNTIME = {"type": "PartitionedAtRuntime"}
DAY = timedelta(days=1)
LATER = NOW + 1000 * DAY
YEAR = Ages(logs=365 * DAY, runs=365 * DAY, events=365 * DAY, journal=365 * DAY)


def prune(now=LATER, ages=YEAR):
    return retention.prune(ages, now=now)


def executed(made, key, at=NOW, *, fails=False):
    run = start(runs.trigger(made, Ask(key), deed=ALICE, at=at), at=at)
    if fails:
        claims.fail(run, "boom", at=at)
    else:
        claims.succeed(run, [claims.Output(asset("out"))], at=at)
    return run


def there(model=AssetEvent):
    return list(model.objects.order_by("pk").values_list("pk", flat=True))


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
        [run] = runs.create([NewRun(made, Type.BACKFILL, partition_key="k", backfill=mine)], at=NOW)
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
        [own] = runs.create([NewRun(made, Type.BACKFILL, partition_key="k", backfill=mine)], at=NOW)
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


class TestHeldRuns:
    def rounds(self, count):
        consumer("copy", {"a": IDENTITY}, writes=["out"])
        for number in range(count):
            emit("a", "k", at=NOW + number * MINUTE)
            turn(NOW + number * MINUTE)
            finish(
                start(DagRun.objects.latest("pk"), at=NOW + number * MINUTE),
                "out",
                at=NOW + number * MINUTE,
            )

    def test_of_earlier_rounds_go_with_their_runs_and_events(self):
        self.rounds(5)
        turn(NOW + 10 * MINUTE)
        gone = prune()
        assert (gone["held runs"], gone["runs"]) == (3, 3)
        assert list(HeldRun.objects.values_list("round", flat=True)) == [4, 5]
        assert AssetEvent.objects.filter(asset__name="a").count() == 2
        assert ReceivedKey.objects.count() == ConsumedEvent.objects.count() == 2

    def test_that_follow_are_numbered_on(self):
        self.rounds(4)
        prune()
        emit("a", "k", at=LATER)
        turn(LATER)
        assert HeldRun.objects.latest("pk").round == 5

    def test_that_are_open_stay_with_the_round_before(self):
        consumer("joined", {"a": IDENTITY, "b": IDENTITY})
        for minute in range(3):
            emit("a", "k", at=NOW + minute * MINUTE)
            emit("b", "k", at=NOW + minute * MINUTE)
            turn(NOW + minute * MINUTE)
        emit("a", "k", at=NOW + 5 * MINUTE)
        turn(NOW + 5 * MINUTE)
        before = held("joined", "k")
        prune()
        assert list(HeldRun.objects.values_list("round", "state")) == [
            (3, "fired"),
            (4, "held"),
        ]
        assert held("joined", "k").received_count == before.received_count

    def test_that_fired_stay_though_others_were_cancelled_since(self):
        """Whether a key is late is whether it has fired before."""
        consumer("copy", {"a": IDENTITY}, late="hold")
        emit("a", "k")
        turn()
        for minute in range(1, 5):
            emit("a", "k", at=NOW + minute * MINUTE)
            turn(NOW + minute * MINUTE)
            holds.cancel(held("copy", "k"), deed=ALICE, at=NOW + minute * MINUTE)
        prune()
        assert list(HeldRun.objects.values_list("round", "state")) == [
            (1, "fired"),
            (4, "cancelled"),
            (5, "cancelled"),
        ]
        emit("a", "k", at=LATER)
        turn(LATER)
        assert held("copy", "k").round == 6
        assert fired("copy") == ["k"], "it waits for somebody to approve it, as it would have"

    def test_that_consumed_the_newest_of_a_key_stay_unless_a_later_one_did_too(self):
        """Else a key that has not come anew would count as if it had."""
        consumer("regions", {"a": REGIONS})
        emit("a", "tw", "jp", "us")
        turn()
        at = NOW
        for _ in range(4):
            at += 20 * MINUTE
            emit("a", "tw", at=at)
            turn(at)
            at += 20 * MINUTE
            turn(at)
        assert len(fired("regions")) == 5
        jp = part("a", "jp").last_event
        ConsumedEvent.objects.filter(event=jp, held_run__round__gt=2).delete()
        prune()
        assert list(HeldRun.objects.values_list("round", flat=True)) == [2, 4, 5]
        emit("a", "tw", at=LATER)
        turn(LATER)
        fresh = ReceivedKey.objects.filter(held_run=held("regions", "all"), is_fresh=True)
        assert list(fresh.values_list("key", flat=True)) == ["tw"]


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


class TestPortions:
    def test_are_many_for_many_and_skip_none(self, monkeypatch):
        monkeypatch.setattr(retention, "PORTION", 7)
        for minute in range(4):
            emit("a", *(f"k{number}" for number in range(10)), at=NOW + minute * MINUTE)
        turn()
        assert prune()["events"] == 30
        assert AssetEvent.objects.count() == 10

    def test_end_where_nothing_is_old(self, monkeypatch, django_assert_max_num_queries):
        monkeypatch.setattr(retention, "PORTION", 10)
        emit("a", *(f"k{number}" for number in range(200)), at=LATER)
        turn(LATER)
        with django_assert_max_num_queries(3):
            prune(ages=Ages(events=DAY))

    def test_may_be_stopped_and_gone_on_with(self, monkeypatch):
        monkeypatch.setattr(retention, "PORTION", 5)
        emit("a", *["k"] * 21)
        turn()
        answers = iter([True, True, False])
        assert retention.prune(YEAR, now=LATER, go_on=lambda: next(answers)) is None
        assert AssetEvent.objects.count() == 11
        assert retention.is_due(now=LATER), "it is not done"
        prune()
        assert AssetEvent.objects.count() == 1

    def test_leave_alone_what_was_needed_this_moment(self, monkeypatch):
        """As if a consumer had counted it between the look and the deletion."""
        emit("a", "k")
        emit("a", "k")
        turn()
        consumer("c", {"b": IDENTITY, "d": IDENTITY})
        emit("b", "k")
        turn()
        event = AssetEvent.objects.earliest("pk")
        ConsumedEvent.objects.create(held_run=held("c", "k"), event=event)
        monkeypatch.setattr(retention, "_old_events", lambda before: AssetEvent.objects.filter(pk=event.pk))
        assert prune()["events"] == 0
        assert AssetEvent.objects.filter(pk=event.pk).exists()


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


class TestCommand:
    def test_prunes_by_the_settings(self, settings, capsys):
        settings.KEEP_EVENT_DAYS, settings.KEEP_JOURNAL_DAYS, settings.KEEP_RUN_DAYS = 1, 0, 0
        emit("a", "k")
        emit("a", "k")
        turn()
        call_command("prune", "--dry-run")
        call_command("prune")
        assert capsys.readouterr().out.splitlines() == ["0 log lines", "0 looks", "1 events"] * 2
        assert AssetEvent.objects.count() == 1


class TestTask:
    def test_does_it_once_a_day_however_often_it_is_sent(self, settings):
        settings.KEEP_EVENT_DAYS = 1
        for _ in range(2):
            emit("a", "k")
            emit("a", "k")
            turn()
            tasks.prune()
        assert AssetEvent.objects.count() == 3, "what came after the first time waits for a day"

    def test_is_due_again_the_next_day(self):
        assert retention.is_due(now=NOW)
        journal.note(retention.DONE, at=NOW)
        assert not retention.is_due(now=NOW + 22 * 60 * MINUTE)
        assert retention.is_due(now=NOW + DAY)
