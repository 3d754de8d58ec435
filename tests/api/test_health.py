"""Is it up? Asked by people, by Airflow's clients, and by what starts and stops processes."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.db import OperationalError
from django.utils import timezone

from core.models import Pulse
from partitions_site.api import health as faces
from scheduling import health

HEALTH = "/api/v2/monitor/health"


@pytest.fixture
def engine(db):
    for name, kind in (("beat", Pulse.Kind.BEAT), ("w1", Pulse.Kind.WORKER), ("sweep", Pulse.Kind.SWEEP)):
        health.pulse(name, kind, now=timezone.now())


@pytest.fixture
def no_database(monkeypatch):
    """The database is gone: connecting to it fails, as it does when its server has stopped."""

    def refuse():
        raise OperationalError("connection refused")

    monkeypatch.setattr(faces.connection, "ensure_connection", refuse)


@pytest.mark.django_db
class TestHealth:
    def test_of_an_engine_that_runs(self, anyone, engine):
        found = anyone.get(HEALTH).json()
        assert found["metadatabase"]["status"] == "healthy"
        assert found["scheduler"]["status"] == "healthy"
        assert found["scheduler"]["latest_scheduler_heartbeat"].endswith("+00:00")
        assert found["workers"]["alive"] == 1

    def test_of_an_engine_that_was_silent_too_long(self, anyone, engine):
        Pulse.objects.update(at=timezone.now() - health.patience() - timedelta(seconds=1))
        assert anyone.get(HEALTH).json()["scheduler"]["status"] == "unhealthy"

    def test_without_a_database_is_still_an_answer(self, anyone, no_database):
        answer = anyone.get(HEALTH)
        assert answer.status_code == 200
        assert answer.json()["metadatabase"]["status"] == "unhealthy"


@pytest.mark.django_db
class TestReady:
    def test_with_a_database_and_an_engine(self, anyone, engine):
        answer = anyone.get("/readyz")
        assert (answer.status_code, answer.json()) == (200, {"status": "ok", "reasons": []})

    def test_says_who_is_missing(self, anyone, engine):
        Pulse.objects.filter(kind=Pulse.Kind.WORKER).delete()
        answer = anyone.get("/readyz")
        assert answer.status_code == 503
        assert [reason.partition(":")[0] for reason in answer.json()["reasons"]] == ["workers"]

    def test_not_without_a_database(self, anyone, no_database):
        answer = anyone.get("/readyz")
        assert (answer.status_code, answer.json()["reasons"]) == (503, ["database: does not answer"])


class TestAlive:
    def test_needs_nothing(self, anyone):
        """No database here: this test may not touch one."""
        assert anyone.get("/livez").status_code == 200
        assert anyone.get("/api/v2/version").json() == {"version": settings.VERSION, "git_version": None}

    def test_credentials_are_not_looked_at(self, anyone):
        anyone.credentials(HTTP_AUTHORIZATION="Bearer nonsense")
        assert anyone.get("/livez").status_code == 200
