"""What the database refuses about backfills, whoever writes it."""

import pytest
from django.db import IntegrityError, transaction

from core.models import Backfill, BackfillPartition, BackfillTarget, DagRun
from tests.engine.world import MINUTE, NOW, dag

pytestmark = pytest.mark.django_db
State = BackfillPartition.State


@pytest.fixture
def target():
    backfill = Backfill.objects.create(created_at=NOW, updated_at=NOW)
    return BackfillTarget.objects.create(backfill=backfill, dag=dag("d"), planned=3)


def item(target, key, state=State.READY, run=None):
    return BackfillPartition.objects.create(target=target, key=key, position=0, state=state, run=run)


def run_of(target, state, **fields):
    fields = {"run_id": f"r{DagRun.objects.count()}", "run_type": "backfill", "dag": target.dag} | fields
    return DagRun.objects.create(state=state, queued_at=NOW, run_after=NOW, updated_at=NOW, **fields)


class TestConstraints:
    @pytest.mark.parametrize(
        ("name", "break_it"),
        [
            ("a_key_is_planned_once_per_target", lambda target: (item(target, "k"), item(target, "k"))),
            ("a_planned_key_is_never_empty", lambda target: item(target, "")),
            (
                "no_more_partitions_end_than_were_planned",
                lambda target: BackfillTarget.objects.update(done=2, failed=1, skipped=1),
            ),
            (
                "a_dag_is_a_target_once_per_backfill",
                lambda target: BackfillTarget.objects.create(
                    backfill=target.backfill, dag=target.dag, planned=1
                ),
            ),
            (
                "a_completed_backfill_sleeps",
                lambda target: Backfill.objects.update(completed_at=NOW, advance_after=NOW),
            ),
            (
                "a_run_of_a_backfill_takes_a_key_or_more",
                lambda target: Backfill.objects.update(keys_per_run=0),
            ),
            (
                "a_backfill_may_have_a_run_at_a_time",
                lambda target: Backfill.objects.update(max_active_runs=0),
            ),
            (
                "a_run_has_one_key_or_a_range_of_them",
                lambda target: run_of(target, "queued", partition_key="a", partition_keys=["a", "b"]),
            ),
        ],
    )
    def test_is_kept(self, target, name, break_it):
        with pytest.raises(IntegrityError) as refusal, transaction.atomic():
            break_it(target)
        assert name in str(refusal.value) or "UNIQUE constraint failed" in str(refusal.value)


class TestCounts:
    def test_what_has_not_ended_is_open(self, target):
        target.done, target.skipped = 1, 1
        assert target.open == 1


class TestDue:
    def due(self):
        return list(Backfill.objects.due(NOW))

    def test_one_that_sleeps_while_its_runs_go_on_is_not_looked_at(self, target):
        item(target, "a", State.STARTED, run_of(target, "queued"))
        assert self.due() == []

    @pytest.mark.parametrize("state", ["success", "failed", "cancelled", "skipped"])
    def test_an_ended_run_wakes_it(self, target, state):
        item(target, "a", State.STARTED, run_of(target, "queued"))
        item(target, "b", State.STARTED, run_of(target, state))
        assert self.due() == [target.backfill]

    def test_a_deleted_run_wakes_it(self, target):
        run = run_of(target, "queued")
        item(target, "a", State.STARTED, run)
        run.delete()
        assert self.due() == [target.backfill]

    def test_it_is_looked_at_when_somebody_asked_for_it_and_not_before(self, target):
        Backfill.objects.update(advance_after=NOW)
        assert self.due() == [target.backfill]
        Backfill.objects.update(advance_after=NOW + MINUTE)
        assert self.due() == []

    def test_a_completed_one_is_never_looked_at(self, target):
        item(target, "a", State.STARTED, run_of(target, "success"))
        Backfill.objects.update(completed_at=NOW)
        assert self.due() == []

    def test_a_run_outlives_its_backfill(self, target):
        run = run_of(target, "success", backfill=target.backfill)
        item(target, "a", State.DONE, run)
        target.backfill.delete()
        run.refresh_from_db()
        assert run.backfill is None
