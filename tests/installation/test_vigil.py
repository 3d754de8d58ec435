"""A worker does the work of beat while beat is silent, and says that it is alive itself."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.utils import timezone

from core.models import AssetEvent, DagRun, Pulse
from partitions_site import vigil
from partitions_site.celery import app
from scheduling import health, tasks
from tests.engine.world import IDENTITY, consumer, dag, emit, fired

SILENCE = health.patience() + timedelta(seconds=1)


@pytest.fixture
def watcher(db):
    app.loader.import_default_modules()
    return vigil.Vigil(app, "host:1 engine")


def beat(ago=timedelta(0)):
    health.pulse("beat", Pulse.Kind.BEAT, now=timezone.now() - ago)


class TestLook:
    def test_leaves_a_pulse_of_this_worker(self, watcher):
        beat()
        watcher.look()
        assert Pulse.objects.get(kind=Pulse.Kind.WORKER).name == "host:1 engine"

    def test_touches_the_file_that_health_checks_look_at(self, watcher, settings, tmp_path):
        settings.ALIVE_FILE = str(tmp_path / "alive")
        beat()
        watcher.look()
        assert (tmp_path / "alive").exists()

    def test_does_not_while_the_database_is_away(self, watcher, settings, tmp_path, monkeypatch):
        def away(*_, **__):
            raise OperationalError("the database is away")

        settings.ALIVE_FILE = str(tmp_path / "alive")
        monkeypatch.setattr(health, "pulse", away)
        with pytest.raises(OperationalError):
            watcher.look()
        assert not (tmp_path / "alive").exists()

    def test_does_nothing_while_beat_is_seen(self, watcher):
        beat(ago=health.patience() - timedelta(seconds=2))
        consumer("copy", {"a": IDENTITY})
        emit("a", "k")
        watcher.look()
        assert AssetEvent.objects.unrouted().exists()
        assert not watcher.is_doing_beats_work

    def test_maps_judges_and_starts_when_it_is_not(self, watcher):
        beat(ago=SILENCE)
        consumer("copy", {"a": IDENTITY})
        emit("a", "k")
        watcher.look()
        assert fired("copy") == ["k"]
        assert DagRun.objects.get().dispatched_at is not None

    def test_asks_timetables(self, watcher):
        now = datetime.now(UTC)
        dag(
            "minutely", {"type": "CronPartitionTimetable", "cron": "* * * * *"}, created_at=now - SILENCE * 10
        )
        watcher.look()
        assert DagRun.objects.exists()

    def test_takes_over_from_dead_workers(self, watcher):
        consumer("copy", {"a": IDENTITY})
        emit("a", "k")
        watcher.look()
        DagRun.objects.update(
            state="running", attempt=1, lease_until=timezone.now() - SILENCE, started_at=timezone.now()
        )
        watcher.look()
        assert DagRun.objects.get().state == "queued"

    def test_stops_when_beat_is_back(self, watcher, caplog):
        watcher.look()
        beat()
        watcher.look()
        watcher.look()
        assert [record.message for record in caplog.records if record.name == "partitions_site.vigil"] == [
            "No beat: looking for work myself",
            "Beat is back",
        ]


class TestKeep:
    def test_goes_on_after_a_look_that_failed(self, settings):
        settings.SWEEP_SECONDS = 0.01
        stop, looks = threading.Event(), []

        def look():
            looks.append(1)
            if len(looks) == 3:
                stop.set()
            raise ValueError("once more")

        vigil._keep(look, stop)
        assert len(looks) == 3


@pytest.mark.django_db
class TestBeatsSweep:
    def sweep(self, age):
        expires = timezone.now() - age + timedelta(seconds=settings.SWEEP_EXPIRES)
        tasks.sweep.push_request(expires=expires.isoformat())
        try:
            tasks.sweep.run()
        finally:
            tasks.sweep.pop_request()

    def test_says_when_beat_sent_it_and_not_when_it_was_taken(self):
        self.sweep(timedelta(seconds=4))
        age = timezone.now() - Pulse.objects.get(kind=Pulse.Kind.BEAT).at
        assert timedelta(seconds=4) <= age < timedelta(seconds=6)

    def test_an_old_message_is_no_sign_of_life(self):
        self.sweep(SILENCE)
        assert health.is_silent(Pulse.Kind.BEAT, timezone.now())

    def test_leaves_a_pulse_when_it_has_come_to_its_end(self):
        self.sweep(timedelta(0))
        assert not health.is_silent(Pulse.Kind.SWEEP, timezone.now())

    def test_and_none_when_something_keeps_it_from_that(self):
        """Here a table of the database that does not answer."""

        def stumble(execute, sql, *arguments):
            if "core_heldrun" in sql:
                raise OperationalError("this table is broken")
            return execute(sql, *arguments)

        with connection.execute_wrapper(stumble):
            self.sweep(timedelta(0))
        assert health.is_silent(Pulse.Kind.SWEEP, timezone.now())
