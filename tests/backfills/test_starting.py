"""A backfill starts with what was shown, once, or not at all."""

from datetime import timedelta

import pytest

from core.models import Backfill, BackfillPartition, Dag, DagRun, JournalEntry, Outlet, Partition
from scheduling import backfills, claims, runs
from scheduling.backfills import NothingToBackfill, Order, StalePlan
from scheduling.runs import Ask as RunAsk
from tests.backfills.play import SECOND, ask, begin, counts, daily, drive, item, plan, producer, states
from tests.engine.world import ALICE, NOW, start

pytestmark = pytest.mark.django_db


HOSTILE = (
    "0001-01-01T00:00:00+23:59~3~x",  # no instant in UTC
    "9999-12-31T23:59:59-23:59~3~x",
    "2026-03-01~3~x",  # no zone
    f"2026-03-01T00:00:00+00:00~{'9' * 5000}~x",  # no number that Python reads
)


class TestStart:
    def test_records_a_partition_for_each_key_and_the_skipped_ones_with_their_reason(self):
        made = producer()
        drive(begin(made, keys=("2026-03-01",)))
        backfill = begin(made, selection="[2026-03-01...2026-03-03]", title="repair", max_active_runs=3)
        assert counts(backfill) == {"planned": 3, "skipped": 1, "open": 2}
        assert item(backfill, "2026-03-01").reason == "it has data"
        assert (backfill.title, backfill.words) == ("repair", "[2026-03-01...2026-03-03]")
        assert (backfill.created_by, backfill.created_at, backfill.max_active_runs) == ("alice", NOW, 3)

    def test_is_in_the_journal(self):
        backfill = begin(producer(), selection="[2026-03-01...2026-03-03]")
        entry = JournalEntry.objects.get(event="backfill started")
        assert (entry.by, entry.via, entry.dag_id) == ("alice", "web", "load")
        assert entry.extra == {
            "backfill": backfill.pk,
            "keys": "[2026-03-01...2026-03-03]",
            "partitions": {"load": 3},
            "skipped": 0,
        }

    def test_of_nothing_is_refused_with_the_reasons_and_writes_nothing(self):
        made = producer()
        drive(begin(made, selection="[2026-03-01...2026-03-02]"))
        before = Backfill.objects.count()
        with pytest.raises(NothingToBackfill, match=r"all 2 keys are left out \(2: it has data\)"):
            begin(made, selection="[2026-03-01...2026-03-02]")
        assert Backfill.objects.count() == before

    def test_twice_is_one_backfill(self):
        """TC-35, TC-44: whoever clicks twice finds the keys in progress."""
        made = producer()
        begin(made)
        with pytest.raises(NothingToBackfill, match="in progress"):
            begin(made)
        assert Backfill.objects.count() == 1


class TestTheShownPlan:
    """TC-17: what was shown is what starts, or nothing."""

    def setup_method(self):
        self.text = {"selection": "[2025-04-01...2025-04-04]"}

    def start(self, made, shown, at=NOW + timedelta(minutes=1)):
        return backfills.start(ask(made, **self.text), deed=ALICE, at=at, shown=shown)

    def made(self):
        return producer(writes=daily(start="2025-04-01").name)

    def test_starts_as_it_was_shown(self):
        made = self.made()
        shown = plan(made, **self.text)
        assert shown.count == 4
        backfill = self.start(made, shown.token())
        assert [key for _, key in states(backfill)] == [f"2025-04-0{n}" for n in (1, 2, 3, 4)]

    def test_or_is_refused_with_what_has_changed_and_nothing_is_written(self):
        made = self.made()
        shown = plan(made, **self.text)
        run = runs.trigger(made, RunAsk("2025-04-02"), deed=ALICE, at=NOW + SECOND)
        with pytest.raises(StalePlan) as refusal:
            self.start(made, shown.token())
        assert str(refusal.value) == (
            "the plan has changed since it was shown: 4 partitions would have run, now 3: "
            f"run {run.run_id} of 2025-04-02 was queued"
        )
        assert not BackfillPartition.objects.exists()
        assert DagRun.objects.count() == 1

    def test_a_partition_that_came_meanwhile_is_named(self):
        made = self.made()
        shown = plan(made, **self.text)
        run = start(runs.trigger(made, RunAsk("2025-04-03"), deed=ALICE, at=NOW), at=NOW)
        claims.succeed(run, [claims.Output(Outlet.objects.get().asset)], at=NOW + SECOND)
        with pytest.raises(StalePlan, match="2025-04-03 is materialized now"):
            self.start(made, shown.token())

    def test_a_dag_that_was_changed_is_named(self):
        made = self.made()
        shown = plan(made, **self.text)
        Partition.objects.all().delete()
        Outlet.objects.get().asset.__class__.objects.update(
            partitions={"type": "TimePartitions", "cadence": "day", "start": "2025-04-02"}
        )
        Dag.objects.update(updated_at=NOW + SECOND)
        self.text = {}
        with pytest.raises(StalePlan, match="Dag load was changed"):
            self.start(Dag.objects.get(), shown.token())

    def test_other_options_are_another_plan_only_if_other_keys_run(self):
        made = self.made()
        shown = plan(made, **self.text)
        other = ask(made, **self.text, order=Order.NEWEST)
        with pytest.raises(StalePlan, match="others would run, or in another order"):
            backfills.start(other, deed=ALICE, at=NOW, shown=shown.token())

    @pytest.mark.parametrize("token", ["", "x", "~~", "2026~9~abc", *HOSTILE])
    def test_a_token_that_is_none_starts_nothing(self, token):
        with pytest.raises(StalePlan):
            self.start(self.made(), token)
