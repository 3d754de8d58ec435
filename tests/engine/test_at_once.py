"""What is done to many at once leaves what it leaves when it is done to each alone."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import Bell, Dag, DagRun, HeldRun, JournalEntry
from scheduling import at_once, backfills, corrections, holds, runs
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, NOW, consumer, emit, turn

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(hours=1)


@pytest.fixture
def days():
    """Four days that wait for hours."""
    consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
    emit("hourly", *(f"2026-03-0{day}T0{hour}:00:00" for day in (1, 2, 3, 4) for hour in (1, day)))
    turn()
    return list(HeldRun.objects.order_by("partition_key"))


@pytest.fixture
def made():
    dag = world.dag("nightly", {"type": "PartitionedAtRuntime"}, writes=["nights"])
    return [runs.trigger(dag, Ask(f"2026-03-0{day}"), deed=ALICE, at=NOW) for day in (1, 2, 3, 4)]


def ended(made):
    for run in made:
        corrections.mark(run, DagRun.State.FAILED, deed=ALICE, at=NOW)
    return list(DagRun.objects.order_by("pk"))


def left(rows, *but):
    """All columns of two rows without those in which any two differ."""
    names = {each.name for each in rows[0]._meta.concrete_fields} - {"id", *but}
    return [{name: getattr(row, name) for name in names} for row in rows]


def entries(event):
    """In the order of keys; of the run, whether it is that of the key."""
    names = ("at", "by", "via", "reason", "dag_id", "asset_name", "extra", "run_id", "partition_key")
    keys = dict(DagRun.objects.values_list("run_id", "partition_key"))
    found = list(JournalEntry.objects.filter(event=event).order_by("partition_key").values(*names))
    for each in found:
        each["run_id"] = each["run_id"] and keys.get(each["run_id"]) == each["partition_key"]
    return found


def as_one(event, rows):
    """What the journal says of `event`, once of each of `rows`, if it is the same but for their keys."""
    told = entries(event)
    assert [each.pop("partition_key") for each in told] == [row.partition_key for row in rows]
    one, *others = told
    assert others == [one] * len(others)
    return one


OF_ROUND = ("partition_key", "partition_date", "run", "last_event_at", "sentence", "received_count")


class TestHeld:
    def test_those_that_fire_do_as_one_does(self, days):
        alone = holds.fire_now(days[1], deed=ALICE, at=LATER)
        assert at_once.fire_now(days[2:], deed=ALICE, at=LATER) == {row.pk for row in days[2:]}
        one, *others = left(HeldRun.objects.filter(pk__in=[row.pk for row in days[1:]]), *OF_ROUND)
        assert others == [one, one]
        assert one["state"] == "fired"
        of_run = ("run_id", "partition_key", "partition_date", "missing_keys")
        one, *others = left([alone, *DagRun.objects.exclude(pk=alone.pk)], *of_run)
        assert others == [one, one]
        by_key = {run.partition_key: run for run in DagRun.objects.all()}
        for row in HeldRun.objects.filter(state="fired"):
            assert row.run == by_key[row.partition_key]
            assert row.run.missing_keys[0]["asset"] == "hourly"
            assert len(row.run.missing_keys[0]["keys"]) == 22
        told = entries("held run fired by hand")
        assert [each["extra"]["was"] for each in told] == [row.sentence for row in days[1:]]
        assert [each["partition_key"] for each in told] == [row.partition_key for row in days[1:]]
        assert [each["run_id"] for each in told] == [True] * 3
        alike = [each | {"extra": {}, "partition_key": ""} for each in told]
        assert alike == alike[:1] * 3

    def test_those_that_are_cancelled_are_as_one_is(self, days):
        holds.cancel(days[1], deed=ALICE, at=LATER)
        assert at_once.cancel_held(days[2:], deed=ALICE, at=LATER) == {row.pk for row in days[2:]}
        one, *others = left(HeldRun.objects.filter(pk__in=[row.pk for row in days[1:]]), *OF_ROUND)
        assert others == [one, one]
        told = entries("held run cancelled")
        assert [each["extra"]["was"] for each in told] == [row.sentence for row in days[1:]]
        assert [each["partition_key"] for each in told] == [row.partition_key for row in days[1:]]
        alike = [each | {"extra": {}, "partition_key": ""} for each in told]
        assert alike == alike[:1] * 3
        assert [row.pk for row in HeldRun.objects.held()] == [days[0].pk]

    @pytest.mark.parametrize("deed", [at_once.fire_now, at_once.cancel_held])
    def test_those_that_are_over_are_left_to_be_refused(self, days, deed):
        holds.cancel(days[0], deed=ALICE, at=NOW)
        before = JournalEntry.objects.count()
        assert deed(days[:2], deed=ALICE, at=LATER) == {days[1].pk}
        assert JournalEntry.objects.count() == before + 1
        assert deed(days[:2], deed=ALICE, at=LATER) == set()

    @pytest.mark.parametrize("deed", [at_once.fire_now, at_once.cancel_held])
    def test_more_cost_no_more_queries(self, days, deed):
        counts = []
        for some in (days[:1], days[1:]):
            with CaptureQueriesContext(connection) as found:
                deed(some, deed=ALICE, at=LATER)
            counts.append(len(found))
        assert counts[0] == counts[1]


class TestRuns:
    def test_those_that_are_queued_are_cancelled_as_one_is(self, made):
        runs.cancel(made[0], deed=ALICE, at=LATER)
        assert at_once.cancel_queued(made[1:], deed=ALICE, at=LATER) == {run.pk for run in made[1:]}
        one, *others = left(DagRun.objects.order_by("pk"), "run_id", "partition_key")
        assert others == [one, one, one]
        assert as_one("run cancelled", made)["run_id"] is True

    @pytest.mark.parametrize(
        "now",
        [{"state": "running", "lease_until": LATER}, {"state": "success"}, {"cancel_requested": True}],
        ids=str,
    )
    def test_what_is_not_simply_queued_is_left_to_be_cancelled_alone(self, made, now):
        DagRun.objects.filter(pk=made[0].pk).update(**now)
        assert at_once.cancel_queued(made[:2], deed=ALICE, at=LATER) == {made[1].pk}

    def test_those_that_have_ended_are_queued_again_as_one_is(self, made):
        some = ended(made)
        corrections.retry(some[0], deed=ALICE, at=LATER)
        seen = {run.pk: (run.state, run.attempt) for run in some}
        assert at_once.retry(some[1:], seen, deed=ALICE, at=LATER) == {run.pk for run in some[1:]}
        one, *others = left(DagRun.objects.order_by("pk"), "run_id", "partition_key")
        assert others == [one, one, one]
        assert one["state"] == "queued"
        assert as_one("run retried", some)["run_id"] is True

    def test_what_has_gone_on_or_lost_its_dag_is_left_to_be_refused(self, made):
        some = ended(made)
        seen = {run.pk: (run.state, run.attempt) for run in some}
        assert at_once.retry(some[:1], {some[0].pk: ("failed", 7)}, deed=ALICE, at=LATER) == set()
        assert at_once.retry(some[:1], {some[0].pk: ("success", 0)}, deed=ALICE, at=LATER) == set()
        Dag.objects.update(is_active=False)
        assert at_once.retry(some, seen, deed=ALICE, at=LATER) == set()
        assert not entries("run retried")

    def test_one_of_a_backfill_is_left_to_be_retried_alone(self, made):
        ask = backfills.Ask((made[0].dag,), keys=("2026-04-01",))
        backfills.start(ask, deed=ALICE, at=NOW)
        backfills.advance(now=NOW)
        some = ended(list(DagRun.objects.filter(partition_key="2026-04-01")))
        seen = {run.pk: (run.state, run.attempt) for run in some}
        [of_backfill] = DagRun.objects.filter(partition_key="2026-04-01")
        assert at_once.retry([of_backfill], seen, deed=ALICE, at=LATER) == set()

    def test_whoever_starts_runs_hears_of_it_once(self, made, django_capture_on_commit_callbacks):
        Bell.objects.all().delete()
        with django_capture_on_commit_callbacks() as rung:
            at_once.cancel_queued(made, deed=ALICE, at=LATER)
        assert len(rung) + Bell.objects.count() == 2
