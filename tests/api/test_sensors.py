"""Sensors over the API."""

from datetime import timedelta

import pytest

from core.models import JournalEntry, Sensor, SensorLook
from partitions_site import roles
from tests.engine import world
from tests.engine.world import NOW

pytestmark = pytest.mark.django_db
URL = "/api/v2/sensors"
EVERY = timedelta(seconds=30)


@pytest.fixture
def api(api_of):
    return api_of(roles.OPERATOR)


def sensor(name, **fields):
    return world.sensor(name, **{"every": EVERY, "timeout": EVERY} | fields)


class TestList:
    def test_tells_of_each_what_it_found(self, api):
        sensor("b", outcome="found", sentence="2 events", cursor="z", looked_at=NOW)
        sensor("a")
        answer = api.get(URL).json()
        assert [each["name"] for each in answer["sensors"]] == ["a", "b"]
        assert answer["total_entries"] == 2
        assert answer["sensors"][1] == {
            "name": "b",
            "description": "",
            "every_seconds": 30.0,
            "timeout_seconds": 30.0,
            "is_paused": False,
            "is_active": True,
            "problem": "",
            "cursor": "z",
            "outcome": "found",
            "sentence": "2 events",
            "failures": 0,
            "looked_at": "2026-03-11T09:10:00Z",
            "next_look_at": "2026-03-11T09:10:00Z",
            "created_at": "2026-03-11T09:10:00Z",
            "updated_at": "2026-03-11T09:10:00Z",
        }

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ("outcome=failed", ["bad"]),
            ("paused=true", ["idle"]),
            ("name_pattern=ba", ["bad"]),
            ("only_active=false", ["bad", "gone", "idle"]),
            ("order_by=-name", ["idle", "bad"]),
        ],
    )
    def test_is_narrowed(self, api, query, names):
        sensor("bad", outcome="failed")
        sensor("idle", is_paused=True)
        sensor("gone", is_active=False)
        assert [each["name"] for each in api.get(f"{URL}?{query}").json()["sensors"]] == names


class TestOne:
    def test_is_paused_and_goes_on(self, api):
        sensor("s")
        assert api.patch(f"{URL}/s", {"is_paused": True, "reason": "too loud"}).json()["is_paused"]
        assert not api.patch(f"{URL}/s", {"is_paused": False}).json()["is_paused"]
        entry = JournalEntry.objects.get(event="sensor paused")
        assert (entry.reason, entry.via, entry.extra) == ("too loud", "api", {"sensor": "s"})

    def test_gets_another_cursor(self, api):
        sensor("s", cursor="a")
        assert api.patch(f"{URL}/s", {"cursor": ""}).json()["cursor"] == ""
        assert Sensor.objects.get().cursor == ""

    def test_refuses_a_cursor_that_is_too_long(self, api):
        sensor("s")
        answer = api.patch(f"{URL}/s", {"cursor": "x" * 100_001})
        assert answer.status_code == 400
        assert answer.json()["detail"].startswith("a cursor is text of at most 100000 characters")

    def test_refuses_what_it_does_not_know(self, api):
        sensor("s")
        assert api.patch(f"{URL}/s", {"every": 3}).status_code == 422

    def test_that_is_not_there_is_not_found(self, api):
        assert api.get(f"{URL}/none").json() == {"detail": "The Sensor with name: `none` was not found"}

    def test_of_a_strange_name_is_found(self, api):
        sensor("a/b ü?")
        assert api.get(f"{URL}/a%2Fb%20%C3%BC%3F").json()["name"] == "a/b ü?"


class TestLooking:
    def test_is_asked_for(self, api):
        sensor("s", next_look_at=NOW + timedelta(days=3000))
        assert api.post(f"{URL}/s/look").status_code == 200
        assert Sensor.objects.get().next_look_at < NOW + timedelta(days=3000)

    def test_is_refused_while_it_is_paused(self, api):
        sensor("s", is_paused=True)
        answer = api.post(f"{URL}/s/look")
        assert (answer.status_code, answer.json()) == (
            409,
            {"detail": "sensor s does not look: it is paused"},
        )

    def test_is_told_newest_first(self, api):
        row = sensor("s")
        for number in range(2):
            SensorLook.objects.create(
                sensor=row, at=NOW, took=EVERY, outcome="found", sentence=f"{number} events", cursor="c"
            )
        looks = api.get(f"{URL}/s/looks").json()["looks"]
        assert [each["sentence"] for each in looks] == ["1 events", "0 events"]
        assert (looks[0]["took_seconds"], looks[0]["cursor"], looks[0]["error"]) == (30.0, "c", "")
