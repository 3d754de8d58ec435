"""What people do with sensors: pause them, set them back, have them look now."""

from datetime import timedelta

import pytest

from core.models import JournalEntry
from scheduling import definitions, sensors
from scheduling.configuration import set_cursor, set_sensor_paused
from scheduling.configuration.sensors import InvalidCursor
from scheduling.sensors import NotLooking
from tests.engine.world import ALICE
from tests.sdk.watching import INBOX, keys, one, sync, turn
from tests.sdk.writing import LATER, NOW

pytestmark = pytest.mark.django_db


class TestSteering:
    def test_pausing_stops_it_and_unpausing_lets_it_look_at_once(self, directory):
        sync(directory, INBOX)
        assert set_sensor_paused(one(), True, deed=ALICE, at=NOW)
        assert turn() == []
        assert not set_sensor_paused(one(), True, deed=ALICE, at=NOW)
        set_sensor_paused(one(), False, deed=ALICE, at=LATER)
        assert len(turn(LATER)) == 1
        told = JournalEntry.objects.filter(by="alice").order_by("pk").values_list("event", flat=True)
        assert list(told) == ["sensor paused", "sensor unpaused"]

    def test_a_cursor_can_be_set_back(self, directory):
        sync(directory, INBOX.replace(", idempotency_key=name", ""))
        turn()
        set_cursor(one(), "a", deed=ALICE, at=NOW)
        turn()
        assert keys() == ["a", "b", "b"]
        entry = JournalEntry.objects.get(event="sensor cursor set")
        assert entry.extra == {"sensor": "new_files", "was": "b", "now": "a"}

    def test_a_look_under_way_does_not_undo_a_cursor_that_was_set(self, directory):
        sync(directory, INBOX)
        [(pk, number)] = sensors.dispatch(now=NOW)
        set_cursor(one(), "z", deed=ALICE, at=NOW)
        sensors.look(pk, number, clock=lambda: NOW)
        assert (one().cursor, keys()) == ("z", [])
        assert len(turn()) == 1

    def test_a_cursor_set_during_a_look_lets_it_end_first(self, directory):
        text = "@sensor\ndef s(look):\n    during()\n    look.cursor = 'seen'"
        sync(directory, text)

        def during():
            set_cursor(one("s"), "a", deed=ALICE, at=NOW)
            assert sensors.dispatch(now=NOW) == []

        definitions.authored_sensor(one("s")).function.__globals__["during"] = during
        turn()
        assert (one("s").cursor, one("s").lease_until) == ("a", None)
        assert len(sensors.dispatch(now=NOW)) == 1

    @pytest.mark.parametrize("cursor", ["a\0b", "x" * 100_001])
    def test_a_cursor_that_cannot_be_kept_is_refused(self, directory, cursor):
        sync(directory, INBOX)
        with pytest.raises(InvalidCursor, match="a cursor is text of at most 100000 characters"):
            set_cursor(one(), cursor, deed=ALICE, at=NOW)

    def test_it_can_be_asked_to_look_now(self, directory):
        sync(directory, INBOX)
        turn()
        sensors.look_now(one(), deed=ALICE, at=NOW + timedelta(seconds=5))
        assert len(turn(NOW + timedelta(seconds=5))) == 1

    def test_it_is_said_why_it_cannot_look(self, directory):
        sync(directory, INBOX)
        set_sensor_paused(one(), True, deed=ALICE, at=NOW)
        with pytest.raises(NotLooking, match="sensor new_files does not look: it is paused"):
            sensors.look_now(one(), deed=ALICE, at=NOW)
