from datetime import UTC, datetime, timedelta

import pytest
from django.db import OperationalError

from core.models import DagRun, Pulse
from scheduling import claims, tasks, ticks
from tests.engine.world import IDENTITY, consumer, dag, emit, fired

pytestmark = pytest.mark.django_db


def test_a_part_of_the_sweep_that_fails_keeps_none_of_the_others_from_theirs(monkeypatch):
    def fail(**_):
        raise OperationalError("deadlock detected")

    monkeypatch.setattr(claims, "take_over_lost", fail)
    consumer("copy", {"a": IDENTITY})
    emit("a", "k")
    tasks.repair()
    assert fired("copy") == ["k"]
    assert not Pulse.objects.filter(kind=Pulse.Kind.SWEEP).exists()
    monkeypatch.undo()
    tasks.repair()
    assert Pulse.objects.filter(kind=Pulse.Kind.SWEEP).exists()


def test_dags_that_are_due_at_once_get_their_runs_at_once(monkeypatch):
    """One look takes some of them; the next beat need not come for the others."""
    looks, look = [], ticks.advance
    monkeypatch.setattr(ticks, "advance", lambda *, now: looks.append(now) or look(now=now, limit=2))
    cron = {"type": "CronPartitionTimetable", "cron": "* * * * *"}
    for number in range(5):
        dag(f"d{number}", cron, ticked_until=datetime.now(UTC) - timedelta(seconds=61), catchup="last")
    tasks.advance_ticks()
    assert DagRun.objects.values("dag").distinct().count() == 5
    assert len(looks) == 4
    tasks.advance_ticks()
    assert len(looks) == 5
