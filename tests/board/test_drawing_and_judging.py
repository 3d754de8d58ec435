"""Whoever judges passes over a held run that is being drawn; it must not wait for a sweep because of that."""

import pytest

from core.models import Bell, DagRun
from scheduling import drawings, holds
from tests.engine.world import IDENTITY, NOW, consumer, emit, fired

pytestmark = pytest.mark.django_db
JUDGE = "judge_held_runs"


@pytest.fixture
def rung(settings, django_capture_on_commit_callbacks):
    """The bells that are rung while something is done, wherever this suite runs."""
    settings.EMBEDDED = True

    def rung(work):
        Bell.objects.all().delete()
        with django_capture_on_commit_callbacks(execute=True):
            work()
        return set(Bell.objects.values_list("name", flat=True))

    return rung


def draw():
    drawings.draw(now=NOW)


def test_drawing_one_that_is_to_be_judged_rings(rung):
    consumer("copy", {"a": IDENTITY}, writes=["b"])
    emit("a", "k")
    holds.route_pending(now=NOW, at_once=0)
    assert JUDGE in rung(draw)
    holds.judge_due(now=NOW)
    assert fired("copy") == ["k"]


def test_drawing_one_that_sleeps_rings_nothing(rung):
    consumer("joined", {"a": IDENTITY, "b": IDENTITY}, writes=["c"])
    emit("a", "k")
    holds.route_pending(now=NOW)
    holds.judge_due(now=NOW)
    assert not DagRun.objects.exists()
    assert JUDGE not in rung(draw)
