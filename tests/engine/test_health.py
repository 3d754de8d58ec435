from datetime import timedelta

import pytest

from core.models import DagRun, Pulse
from scheduling import health, runs, turns
from scheduling.runs import Ask
from tests.engine.world import ALICE, MINUTE, NOW, dag, finish, start

pytestmark = pytest.mark.django_db
LATER = NOW + health.patience() + timedelta(seconds=1)


@pytest.fixture
def alive():
    """Everybody has been seen at `LATER`."""
    for kind in Pulse.Kind:
        health.pulse(str(kind), kind, now=LATER)


@pytest.fixture
def waiting():
    """A run that a message was sent for, at NOW."""
    run = runs.trigger(
        dag("ingest", {"type": "PartitionedAtRuntime"}, writes=["out"]), Ask("k"), deed=ALICE, at=NOW
    )
    turns.dispatch(now=NOW)
    return run


def reasons(at=LATER):
    return [reason.partition(":")[0] for reason in health.report(at).reasons()]


class TestPulses:
    def test_all_is_well_when_everybody_was_seen(self, alive):
        assert health.report(LATER).ok
        assert reasons() == []

    def test_before_anything_was_started_it_says_how_to(self):
        assert reasons() == ["beat", "workers", "sweeps"]
        assert "python manage.py beat" in health.report(NOW).reasons()[0]

    @pytest.mark.parametrize("kind", Pulse.Kind)
    def test_silence_shows_after_three_intervals(self, alive, kind):
        Pulse.objects.filter(kind=kind).update(at=LATER - health.patience() - timedelta(seconds=1))
        [sentence] = health.report(LATER).reasons()
        assert "silent for 16 seconds" in sentence

    def test_a_sweep_that_never_ends_is_seen_though_everybody_is_alive(self, alive):
        Pulse.objects.filter(kind=Pulse.Kind.SWEEP).update(at=NOW - MINUTE)
        assert reasons() == ["sweeps"]

    def test_one_of_several_workers_is_enough(self, alive):
        health.pulse("another", Pulse.Kind.WORKER, now=NOW - MINUTE)
        report = health.report(LATER)
        assert (report.workers.alive, report.ok) == (1, True)

    def test_processes_gone_for_an_hour_are_forgotten(self):
        health.pulse("old", Pulse.Kind.WORKER, now=NOW)
        health.pulse("new", Pulse.Kind.WORKER, now=NOW + timedelta(hours=1, seconds=1))
        assert [pulse.name for pulse in Pulse.objects.all()] == ["new"]


class TestRunsThatNobodyTakes:
    def test_shows_after_three_intervals(self, alive, waiting):
        assert reasons(NOW) == []
        assert reasons() == ["runs"]
        assert "queue `work`" in health.report(LATER).reasons()[0]

    def test_not_while_any_run_is_running(self, alive, waiting):
        start(runs.trigger(dag("other", {"type": "PartitionedAtRuntime"}), Ask("k"), deed=ALICE, at=NOW))
        assert reasons() == []

    def test_nor_when_one_has_just_ended(self, alive, waiting):
        other = runs.trigger(dag("other", {"type": "PartitionedAtRuntime"}), Ask("k"), deed=ALICE, at=NOW)
        finish(start(other), at=LATER)
        assert reasons() == []

    def test_nor_for_runs_of_a_paused_dag(self, alive, waiting):
        waiting.dag.is_paused = True
        waiting.dag.save()
        assert reasons() == []

    def test_nor_for_one_that_is_for_later(self, alive, waiting):
        DagRun.objects.update(run_after=LATER)
        assert reasons() == []
