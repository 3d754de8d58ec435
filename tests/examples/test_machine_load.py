from datetime import UTC, datetime, timedelta

import pytest

from core.models import AssetEvent, Dag, DagRun, HeldRun, Partition
from scheduling import demo, events
from scheduling.events import EventReport
from tests.engine import world

START = datetime(2026, 3, 11, 9, 0, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)

pytestmark = pytest.mark.django_db


class Watch:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


def live(watch: Watch, minutes: int) -> None:
    """Let so many minutes pass, with an engine that does everything at once."""
    for _ in range(minutes):
        watch.now += MINUTE
        world.ticks.advance(now=watch.now)
        while demo.turn(worker="test", clock=watch):
            pass


@pytest.fixture
def watch(examples) -> Watch:
    Dag.objects.filter(dag_id="machine_load").update(created_at=START)
    return Watch()


def test_something_moves_within_a_minute(watch):
    live(watch, 1)
    run = DagRun.objects.get(dag__dag_id="machine_load")
    assert (run.state, run.partition_key) == ("success", "2026-03-11T09:01")
    part = Partition.objects.get(asset__name="machine_load")
    assert part.state == "materialized"
    assert part.extra["load"] >= 0
    held = world.held("hourly_load", "2026-03-11T09")
    assert (held.received_count, held.required_count) == (1, 60)


def test_the_hour_so_far_is_summed_up_with_every_fifth_minute(watch):
    live(watch, 4)
    assert world.fired("hourly_load") == []
    live(watch, 1)
    assert world.fired("hourly_load") == ["2026-03-11T09"]
    live(watch, 4)
    assert len(world.fired("hourly_load")) == 1
    live(watch, 1)
    assert world.fired("hourly_load") == ["2026-03-11T09"] * 2
    loads = [part.extra["load"] for part in Partition.objects.filter(asset__name="machine_load")]
    part = Partition.objects.get(asset__name="hourly_load")
    assert part.extra["max"] == max(loads)
    assert part.extra["mean"] == pytest.approx(sum(loads) / len(loads), abs=0.01)


def test_a_report_without_a_key_is_passed_over(watch):
    live(watch, 4)
    report = EventReport(world.asset("machine_load"), None, {"load": 1000})
    events.register_events([report], source=AssetEvent.Source.API, deed=world.ALICE, at=watch.now)
    live(watch, 1)
    assert DagRun.objects.get(dag__dag_id="hourly_load").state == "success"
    assert Partition.objects.get(asset__name="hourly_load").extra["max"] < 1000


def test_hours_are_kept_apart(watch):
    live(watch, 70)
    assert set(world.fired("hourly_load")) == {"2026-03-11T09", "2026-03-11T10"}
    assert not DagRun.objects.exclude(state="success").exists()


def test_an_hour_of_which_few_minutes_came_is_summed_up_nevertheless(watch):
    """An engine that starts at three minutes to ten: no more of that hour will ever come."""
    watch.now = START + 56 * MINUTE
    live(watch, 20)
    assert world.fired("machine_load")[:3] == [f"2026-03-11T09:{minute}" for minute in (57, 58, 59)]
    assert world.fired("hourly_load")[0] == "2026-03-11T09"
    assert not HeldRun.objects.held().filter(partition_key="2026-03-11T09").exists()


def test_time_without_an_engine_is_not_made_up(watch):
    live(watch, 1)
    watch.now += 30 * MINUTE
    live(watch, 1)
    assert world.fired("machine_load") == ["2026-03-11T09:01", "2026-03-11T09:32"]
