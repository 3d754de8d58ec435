"""A chained backfill: each key after the one before, until one fails."""

import pytest

from core.models import DagRun
from scheduling.backfills import Reprocess
from tests.backfills.play import (
    begin,
    counts,
    days,
    drive,
    flat,
    item,
    of_dag,
    producer,
    turn,
)

MONTHLY = {"type": "CronPartitionTimetable", "cron": "0 0 1 * *", "key_format": "%Y-%m"}
pytestmark = pytest.mark.django_db


class TestChains:
    """TC-40: each key after the one before; a failure stops the chain and says so."""

    def test_run_one_after_another_whatever_the_limit(self):
        backfill = begin(producer(), is_chained=True, max_active_runs=5)
        turn()
        assert DagRun.objects.count() == 1
        assert flat(drive(backfill)) == days(1, 10)
        assert counts(backfill) == {"planned": 10, "done": 10}

    def test_stop_at_a_failure(self):
        backfill = begin(producer(), is_chained=True)
        drive(backfill, fail=["2026-03-04"])
        assert counts(backfill) == {"planned": 10, "done": 3, "failed": 7}
        assert item(backfill, "2026-03-05").state == "blocked"
        assert item(backfill, "2026-03-05").reason == "the chain stopped at 2026-03-04, which failed"

    def test_stop_at_a_key_that_is_none_any_more(self):
        backfill = begin(producer(), keys=tuple(days(1, 3)), is_chained=True)
        changed = backfill.targets.get().dag
        changed.schedule, changed.revision = MONTHLY, changed.revision + 1
        changed.save()
        drive(backfill)
        assert counts(backfill) == {"planned": 3, "failed": 3}
        assert item(backfill, "2026-03-02").reason == "the chain stopped at 2026-03-01, which failed"

    def test_stop_at_a_key_that_could_not_run(self, copies):
        """Its upstream has written nothing, which ends the chain of the Dag that needs it."""
        backfill = begin(copies, keys=tuple(days(1, 3)), with_downstream=True, is_chained=True)
        drive(backfill, silent=["2026-03-02"])
        assert of_dag(backfill, "first") == dict(zip(days(1, 3), ["done", "skipped", "done"], strict=True))
        ends = ["done", "blocked", "blocked"]
        assert of_dag(backfill, "second") == dict(zip(days(1, 3), ends, strict=True))

    def test_do_not_stop_where_there_was_nothing_to_write(self):
        backfill = begin(producer(), is_chained=True)
        drive(backfill, silent=["2026-03-04"])
        assert counts(backfill) == {"planned": 10, "done": 9, "skipped": 1}

    def test_pass_over_what_is_done(self):
        made = producer()
        drive(begin(made, keys=("2026-03-02",)))
        backfill = begin(made, is_chained=True, reprocess=Reprocess.NONE)
        assert "2026-03-02" not in flat(drive(backfill))
