"""What comes for a key after a backfill has made it, by a run of its own or by one for a range."""

from datetime import timedelta

import pytest

from core.models import Dag, DagRun
from scheduling import corrections, inlets
from scheduling.algebra import specs
from scheduling.sdk import DayWindow, FanOutMapper, StartOfDayMapper
from tests.backfills.play import begin, days, drive, turn
from tests.engine.world import ALICE, HOURS_TO_DAY, NOW, consumer, emit, hours, part

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(hours=1)
TO_ITS_HOURS = specs.dump(FanOutMapper(StartOfDayMapper(input_format="%Y-%m-%d"), DayWindow()))


@pytest.mark.parametrize("keys_per_run", [1, 2])
class TestAKeyThatComesAnewAfterItsBackfill:
    """Whether a run of its own made a day or one for a range: what comes later for it is late."""

    def made(self, keys_per_run, **options):
        for key in days(1, 2):
            emit("hours", *hours(key, *range(24)))
        dag = consumer("day", {"hours": HOURS_TO_DAY}, writes=["daily"], **options)
        Dag.objects.update(max_keys_per_run=None)
        dag.refresh_from_db()
        drive(begin(dag, selection="[2026-03-01...2026-03-02]", keys_per_run=keys_per_run))
        return DagRun.objects.count()

    def corrected(self):
        emit("hours", *hours("2026-03-01", 5), at=LATER)
        turn(LATER)

    @pytest.mark.parametrize("late", ["settle", "hold", "mark_stale"])
    def test_runs_not_at_once_and_is_stale(self, keys_per_run, late):
        before = self.made(keys_per_run, late=late)
        self.corrected()
        assert DagRun.objects.count() == before
        assert part("daily", "2026-03-01").is_stale
        assert not part("daily", "2026-03-02").is_stale

    def test_costs_one_run_when_it_has_settled(self, keys_per_run):
        before = self.made(keys_per_run)
        self.corrected()
        turn(LATER + timedelta(minutes=30))
        [run] = DagRun.objects.order_by("pk")[before:]
        assert run.partition_key == "2026-03-01"

    def test_is_fresh_when_the_run_is_off_the_record(self, keys_per_run):
        before = self.made(keys_per_run, late="hold")
        self.corrected()
        run = DagRun.objects.order_by("pk").first()
        corrections.delete(run, deed=ALICE, at=LATER)
        turn(LATER)
        assert DagRun.objects.count() == before
        assert DagRun.objects.latest("pk").partition_key == "2026-03-01"


def test_an_event_that_counts_for_several_keys_of_a_range_is_consumed_once():
    dag = consumer("hour", {"days": TO_ITS_HOURS})
    Dag.objects.update(max_keys_per_run=None)
    dag.refresh_from_db()
    emit("days", "2026-03-01")
    drive(begin(dag, keys=("2026-03-01T03", "2026-03-01T04"), keys_per_run=2))
    run = DagRun.objects.get(run_type="backfill")
    assert run.keys == ["2026-03-01T03", "2026-03-01T04"]
    assert [event.partition_key for event in inlets.triggering_events(run)["days"]] == ["2026-03-01"]
