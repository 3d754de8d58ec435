"""What a backfill adopts or starts may be deleted at the same moment, which only PostgreSQL lets happen."""

import pytest

from core.models import BackfillPartition
from scheduling import backfills, corrections, runs
from tests.backfills.play import begin, drive, producer
from tests.engine.meeting import meet
from tests.engine.world import ALICE, NOW, fired

pytestmark = [pytest.mark.pg, pytest.mark.django_db(transaction=True)]


def test_a_run_that_is_adopted_costs_the_backfill_no_time():
    made = producer()
    backfill = begin(made, keys=("2026-03-01", "2026-03-02"))
    other = runs.trigger(made, runs.Ask("2026-03-01"), deed=ALICE, at=NOW)
    meet(
        lambda: corrections.delete(other, deed=ALICE, at=NOW),
        lambda: backfills.advance(now=NOW),
    )
    assert set(BackfillPartition.objects.values_list("state", flat=True)) == {"started"}
    drive(backfill)
    assert sorted(fired("load")) == ["2026-03-01", "2026-03-02"]
