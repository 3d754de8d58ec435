"""`partita sensors`."""

from datetime import timedelta

import pytest
from django.utils import timezone

from core.models import JournalEntry, Sensor, SensorLook
from partitions_site.cli import completion, program

pytestmark = pytest.mark.django_db


@pytest.fixture
def inbox(db):
    """A sensor that has found something, some minutes ago, and looks again in an hour."""
    at, every = timezone.now() - timedelta(minutes=5), timedelta(hours=1)
    times = {"next_look_at": at + every, "looked_at": at, "created_at": at, "updated_at": at}
    said = {"outcome": "found", "sentence": "2 events", "cursor": "file-7"}
    row = Sensor.objects.create(name="inbox", every=every, timeout=timedelta(minutes=1), **times, **said)
    for outcome, sentence, error in (("failed", "OSError: gone", "Traceback"), ("found", "2 events", "")):
        SensorLook.objects.create(
            sensor=row, at=at, took=timedelta(seconds=2), outcome=outcome, sentence=sentence, error=error
        )
    return row


class TestLooking:
    def test_the_list_says_what_each_found(self, partita, inbox):
        [row] = partita("sensors", as_json=True)
        assert (row["name"], row["outcome"], row["every_seconds"]) == ("inbox", "found", 3600)
        assert "2 events" in partita("sensors", "--match", "BOX")
        assert partita("sensors", "--match", "nothing") == "There are no such sensors.\n"

    def test_those_that_are_gone_only_if_asked(self, partita, inbox):
        Sensor.objects.update(is_active=False)
        assert partita("sensors", as_json=True) == []
        assert [row["is_active"] for row in partita("sensors", "--all", as_json=True)] == [False]

    def test_one_with_its_cursor(self, partita, inbox):
        row = partita("sensors", "show", "inbox", as_json=True)
        assert (row["cursor"], row["timeout_seconds"], row["problem"]) == ("file-7", 60, "")

    def test_looks_come_newest_first(self, partita, inbox):
        rows = partita("sensors", "looks", "inbox", as_json=True)
        assert [(row["outcome"], row["error"]) for row in rows] == [("found", ""), ("failed", "Traceback")]
        assert len(partita("sensors", "looks", "inbox", "--limit", "1", as_json=True)) == 1
        SensorLook.objects.all().delete()
        assert partita("sensors", "looks", "inbox").startswith("inbox has found nothing")

    def test_one_that_is_not_there(self, refused, db):
        assert refused("sensors", "show", "nope") == (
            "partita: no sensor is called nope: `partita sensors` lists them\n"
        )


class TestDeeds:
    def test_paused_and_resumed_once(self, partita, inbox):
        assert partita("sensors", "pause", "inbox", "--by", "ann", "--reason", "noisy") == (
            "inbox looks no more\n"
        )
        entry = JournalEntry.objects.get()
        assert (entry.event, entry.by, entry.via, entry.reason) == ("sensor paused", "ann", "cli", "noisy")
        assert partita("sensors", "pause", "inbox") == "inbox looks no more, as before\n"
        assert partita("sensors", "resume", "inbox", as_json=True)["is_paused"] is False

    def test_looks_now(self, partita, inbox):
        partita("sensors", "look", "inbox", "--by", "ann")
        inbox.refresh_from_db()
        assert inbox.next_look_at <= timezone.now()
        assert JournalEntry.objects.get().event == "sensor asked to look"

    def test_one_that_is_paused_does_not_look(self, partita, refused, inbox):
        partita("sensors", "pause", "inbox")
        assert "it is paused" in refused("sensors", "look", "inbox")

    def test_goes_on_from_elsewhere(self, partita, inbox):
        assert partita("sensors", "rewind", "inbox", "file-3") == "inbox goes on from 'file-3'\n"
        inbox.refresh_from_db()
        assert inbox.cursor == "file-3"

    def test_are_completed(self):
        words = completion.tree(program.build())["/sensors"]
        assert {"show", "looks", "look", "pause", "resume", "rewind", "--json"} <= set(words)
