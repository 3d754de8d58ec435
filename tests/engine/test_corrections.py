import pytest

from core.models import DagRun, HeldRun, JournalEntry, LogLine
from scheduling import claims, corrections, newruns, runs
from scheduling.claims import LeaseLost
from scheduling.runs import Ask, NotRunnable
from tests.engine.world import (
    ALICE,
    IDENTITY,
    MINUTE,
    NOW,
    REGIONS,
    RUNTIME,
    consumer,
    dag,
    emit,
    finish,
    held,
    part,
    start,
    turn,
)

pytestmark = pytest.mark.django_db
State = DagRun.State


@pytest.fixture
def run():
    return runs.trigger(dag("ingest", RUNTIME, writes=["out"]), Ask("k"), deed=ALICE, at=NOW)


def deeds(event):
    entries = JournalEntry.objects.filter(event=event).order_by("id")
    return list(entries.values_list("by", "run_id", "extra"))


class TestSetNote:
    def test_keeps_what_was_noted_before_in_the_journal(self, run):
        corrections.set_note(run, "first", deed=ALICE, at=NOW)
        corrections.set_note(run, "second", deed=ALICE, at=NOW)
        run.refresh_from_db()
        assert run.note == "second"
        assert [extra["was"] for _, _, extra in deeds("run note changed")] == ["", "first"]


class TestMark:
    def test_a_failed_run_may_be_a_success_after_all(self, run):
        started = start(run)
        claims.fail(started, "boom", at=NOW)
        corrections.mark(run, State.SUCCESS, deed=ALICE, at=NOW + MINUTE)
        assert (run.state, run.ended_at) == ("success", NOW)
        assert part("out", "k").attempt == "success"

    def test_emits_nothing(self, run):
        start(run)
        corrections.mark(run, State.SUCCESS, deed=ALICE, at=NOW)
        assert run.produced.count() == 0
        assert part("out", "k").data_at is None

    def test_a_success_may_be_a_failure(self, run):
        finish(start(run), "out")
        corrections.mark(run, State.FAILED, deed=ALICE, at=NOW)
        assert part("out", "k").state == "failed"
        assert part("out", "k").data_at == NOW

    def test_takes_the_run_from_its_worker(self, run):
        started = start(run)
        corrections.mark(run, State.FAILED, deed=ALICE, at=NOW)
        assert not claims.renew(started, now=NOW)
        with pytest.raises(LeaseLost):
            finish(started, "out")
        assert run.state == "failed"

    def test_a_run_that_has_not_begun_is_not_begun(self, run):
        corrections.mark(run, State.FAILED, deed=ALICE, at=NOW)
        assert claims.claim(run.pk, worker="w", now=NOW) is None
        assert run.ended_at == NOW

    def test_leaves_nothing_at_work_where_the_dag_has_ceased_to_write(self, run):
        start(run)
        run.dag.outlets.all().delete()
        corrections.mark(run, State.FAILED, deed=ALICE, at=NOW)
        assert part("out", "k").state == "missing"

    def test_says_in_the_journal_from_what_to_what(self, run):
        corrections.mark(run, State.FAILED, deed=ALICE, at=NOW)
        assert deeds("run marked") == [("alice", run.run_id, {"was": "queued", "state": "failed"})]


class TestDelete:
    def test_takes_the_run_and_its_log_off_the_record(self, run):
        LogLine.objects.create(run=run, attempt=1, at=NOW, text="hello")
        corrections.delete(run, deed=ALICE, at=NOW)
        assert not DagRun.objects.exists()
        assert not LogLine.objects.exists()
        assert [run_id for _, run_id, _ in deeds("run deleted")] == [run.run_id]

    def test_the_events_of_the_run_stay(self, run):
        finish(start(run), "out")
        corrections.delete(run, deed=ALICE, at=NOW)
        assert part("out", "k").last_event.source_run is None
        assert part("out", "k").state == "materialized"

    def test_what_had_arrived_stays_on_record(self):
        consumer("copy", {"out": IDENTITY})
        emit("out", "k")
        turn()
        run = DagRun.objects.get()
        corrections.delete(run, deed=ALICE, at=NOW)
        row = HeldRun.objects.get()
        assert (row.state, row.run, row.received.count(), row.consumed.count()) == ("superseded", None, 1, 1)

    def test_the_next_event_opens_the_next_round(self):
        consumer("copy", {"out": IDENTITY})
        emit("out", "k")
        turn()
        corrections.delete(DagRun.objects.get(), deed=ALICE, at=NOW)
        emit("out", "k")
        turn()
        assert DagRun.objects.get().held_runs.get().round == 2

    def test_what_it_had_consumed_has_come_anew_for_the_round_that_is_open(self):
        consumer("regions", {"out": REGIONS})
        for minute in range(2):
            emit("out", "tw", "jp", "us", at=NOW + minute * MINUTE)
            turn(NOW + minute * MINUTE)
        emit("out", "tw", at=NOW + 2 * MINUTE)
        turn(NOW + 2 * MINUTE)
        row = held("regions", "all")
        assert row.received.filter(is_fresh=True).count() == 1
        corrections.delete(DagRun.objects.latest("pk"), deed=ALICE, at=NOW + 3 * MINUTE)
        assert row.received.filter(is_fresh=True).count() == 3
        turn(NOW + 3 * MINUTE)
        assert DagRun.objects.latest("pk").held_runs.get() == row

    def test_a_partition_says_again_how_the_attempt_before_ended(self, run):
        finish(start(run), "out")
        second = runs.trigger(run.dag, Ask("k"), deed=ALICE, at=NOW)
        claims.fail(start(second), "boom", at=NOW)
        assert part("out", "k").state == "failed"
        corrections.delete(second, deed=ALICE, at=NOW)
        assert part("out", "k").state == "materialized"

    def test_not_while_it_is_running(self, run):
        start(run)
        with pytest.raises(NotRunnable, match="cancel it before"):
            corrections.delete(run, deed=ALICE, at=NOW)
        assert DagRun.objects.exists()

    def test_a_held_run_of_another_key_is_left_alone(self, run):
        consumer("both", {"out": IDENTITY, "other": IDENTITY})
        emit("out", "k")
        turn()
        corrections.delete(run, deed=ALICE, at=NOW)
        assert held("both", "k").state == "held"

    def test_what_a_round_since_has_consumed_newer_has_not(self):
        consumer("regions", {"out": REGIONS})
        for minute in range(2):
            emit("out", "tw", "jp", "us", at=NOW + minute * MINUTE)
            turn(NOW + minute * MINUTE)
        emit("out", "tw", at=NOW + 2 * MINUTE)
        turn(NOW + 2 * MINUTE)
        corrections.delete(DagRun.objects.earliest("pk"), deed=ALICE, at=NOW + 3 * MINUTE)
        fresh = held("regions", "all").received.filter(is_fresh=True)
        assert list(fresh.values_list("key", flat=True)) == ["tw"]


class TestForgetKeys:
    def test_blanks_the_partition_of_runs(self, run):
        corrections.forget_keys([run], deed=ALICE, at=NOW)
        run.refresh_from_db()
        assert (run.partition_key, run.partition_date, run.state) == (None, None, "queued")
        assert JournalEntry.objects.get(event="run key cleared").partition_key == "k"

    def test_of_one_that_runs_leaves_its_partition_as_it_was(self, run):
        start(run)
        corrections.forget_keys([run], deed=ALICE, at=NOW)
        assert part("out", "k").state == "missing"
        claims.fail(DagRun.objects.get(), "boom", at=NOW + MINUTE)
        assert part("out", "k").state == "missing"

    @pytest.mark.parametrize("end", ["succeed", "fail"])
    def test_of_one_that_runs_counts_also_for_its_worker(self, run, end):
        """The worker has read the run before, with its key."""
        started = start(run)
        corrections.forget_keys([run], deed=ALICE, at=NOW)
        finish(started, "out") if end == "succeed" else claims.fail(started, "boom", at=NOW)
        assert (part("out", "k").data_at, part("out", "k").attempt) == (None, "")
        assert list(run.produced.values_list("partition_key", flat=True)) == [None] * (end == "succeed")

    def test_blanks_the_keys_of_a_ranged_run(self, run):
        [several] = newruns.create([newruns.NewRun(run.dag, runs.Type.BACKFILL, partition_keys="kl")], at=NOW)
        claims.fail(start(several), "boom", at=NOW)
        assert part("out", "l").state == "failed"
        corrections.forget_keys([several], deed=ALICE, at=NOW)
        several.refresh_from_db()
        assert (several.keys, several.partition_keys) == ([], None)
        assert {part("out", key).state for key in "kl"} == {"missing"}
        assert deeds("run key cleared") == [("alice", several.run_id, {"keys": 2})]

    def test_of_a_ranged_run_at_work_leaves_none_of_its_partitions_so(self, run):
        new = newruns.NewRun(run.dag, runs.Type.BACKFILL, partition_keys="kl")
        started = start(newruns.create([new], at=NOW)[0])
        corrections.forget_keys([started], deed=ALICE, at=NOW)
        assert {part("out", key).state for key in "kl"} == {"missing"}
        claims.succeed(started, [], at=NOW, failed_keys={"k": "no file"})
        assert {part("out", key).state for key in "kl"} == {"missing"}
        assert DagRun.objects.get(pk=started.pk).failed_keys == {}

    def test_of_some_that_failed_leaves_the_failure_before(self, run):
        failed = [run, *(runs.trigger(run.dag, Ask("k"), deed=ALICE, at=NOW) for _ in range(2))]
        for number, each in enumerate(failed):
            claims.fail(start(each, at=NOW + number * MINUTE), "boom", at=NOW + number * MINUTE)
        assert part("out", "k").attempt_run == failed[2]
        corrections.forget_keys(failed[1:], deed=ALICE, at=NOW + 3 * MINUTE)
        assert (part("out", "k").state, part("out", "k").attempt_run) == ("failed", run)

    def test_of_a_success_leaves_its_data(self, run):
        finish(start(run), "out")
        corrections.forget_keys([run], deed=ALICE, at=NOW)
        assert part("out", "k").state == "materialized"
