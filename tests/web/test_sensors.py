from datetime import timedelta

import pytest

from core.models import JournalEntry, Sensor, SensorLook
from partitions_site import roles
from tests.engine import world
from tests.engine.world import NOW
from tests.web.reading import read

pytestmark = pytest.mark.django_db
EVERY = timedelta(minutes=5)


def sensor(name="new files", **fields):
    return world.sensor(name, **{"every": EVERY, "timeout": EVERY} | fields)


class TestList:
    def test_an_empty_one_teaches(self, visitor):
        assert "A sensor is a function that looks somewhere" in read(visitor.get("/sensors")).text

    def test_puts_trouble_first(self, visitor):
        sensor("a", outcome="found", sentence="3 events")
        sensor("z", outcome="failed", sentence="OSError: no such directory", failures=2)
        page = read(visitor.get("/sensors"))
        names = [name for name in page.links if name in ("a", "z")]
        assert names == ["z", "a"]
        assert "OSError: no such directory" in page.text
        assert "every 5 min" in page.text

    def test_what_is_said_stays_text(self, visitor):
        sensor(outcome="failed", failures=1, sentence="<img src=x onerror=alert(1)>")
        assert b"<img src=x" not in visitor.get("/sensors").content


class TestOne:
    def test_shows_its_looks_and_its_cursor(self, visitor):
        row = sensor(cursor="b.csv", outcome="failed", failures=1, sentence="boom")
        SensorLook.objects.create(
            sensor=row, at=NOW, took=EVERY, outcome="failed", sentence="boom", error="Traceback…"
        )
        page = read(visitor.get("/sensors/new%20files"))
        assert "b.csv" in page.text
        assert "1 look in a row failed." in page.text
        assert "Traceback…" in page.text

    def test_is_paused_and_goes_on(self, visitor):
        sensor()
        visitor.post("/pause-sensor", {"sensor": "new files", "paused": "yes"})
        assert Sensor.objects.get().is_paused
        assert "it does not look" in read(visitor.get("/sensors/new%20files")).text
        visitor.post("/pause-sensor", {"sensor": "new files", "paused": "no"})
        assert JournalEntry.objects.filter(event="sensor unpaused", via="web").exists()

    def test_is_asked_to_look(self, visitor):
        sensor(next_look_at=NOW + timedelta(days=3000))
        assert "looks at once" in read(visitor.get("/look?sensor=new%20files")).text
        visitor.post("/look?sensor=new%20files")
        assert Sensor.objects.get().next_look_at < NOW + timedelta(days=3000)

    def test_says_why_it_cannot_look(self, visitor):
        sensor(is_paused=True)
        answer = visitor.post("/look?sensor=new%20files")
        assert answer.status_code == 409
        assert "it is paused" in read(answer).text

    @pytest.mark.parametrize("address", ["/pause-sensor", "/look?sensor=new%20files"])
    def test_a_viewer_only_reads(self, visitor_of, address):
        sensor()
        viewer = visitor_of(roles.VIEWER)
        assert viewer.post(address, {"sensor": "new files", "paused": "yes"}).status_code == 403
        assert "Pausing takes the right to steer sensors" in read(viewer.get("/sensors/new%20files")).text

    def test_in_trouble_needs_a_person(self, visitor):
        sensor(outcome="failed", failures=1, sentence="boom")
        page = read(visitor.get("/"))
        assert page.links["Its looks"] == "/sensors/new%20files"
