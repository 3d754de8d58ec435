import pytest
from django.db import OperationalError

from core.models import Pulse
from scheduling import claims, tasks
from tests.engine.world import IDENTITY, consumer, emit, fired

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
