"""Held runs that have become late are noted once, and told once."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import Alert, Bell, Dag, HeldRun, JournalEntry
from scheduling import holds, overdue
from tests.engine.overdue_day import DAY, HALF, again, at
from tests.engine.world import ALICE, emit, hours, turn

pytestmark = pytest.mark.django_db


class TestNote:
    def test_sleeps_until_then(self, day):
        assert overdue.note_late(now=at(9, 29)) == 0
        with CaptureQueriesContext(connection) as queries:
            overdue.note_late(now=at(9, 29))
        assert len([each for each in queries if each["sql"].startswith("SELECT")]) == 1

    def test_is_noted_once_in_the_journal(self, day):
        assert overdue.note_late(now=at(9, 30)) == 1
        assert overdue.note_late(now=at(9, 31)) == 0
        entry = JournalEntry.objects.get(event="held run late")
        assert (entry.dag_id, entry.partition_key) == ("sum", DAY)
        assert entry.extra["sentence"] == "waiting on 2 of 24: hours 09, 22"
        assert again(day).late_noted_at == at(9, 30)

    def test_late_again_for_another_key_is_not_told_twice(self, day):
        overdue.note_late(now=at(9, 30))
        emit("hourly", *hours(DAY, 9), at=at(10))
        turn(at(10))
        assert not HeldRun.objects.late(at(10)).exists()
        assert overdue.note_late(now=at(23)) == 0
        assert HeldRun.objects.late(at(23)).count() == 1

    def test_looks_again_whether_it_is_late_by_what_is_true_now(self, day):
        schedule = {"type": "CronPartitionTimetable", "cron": "0 * * * *", "run_offset": -1}
        Dag.objects.filter(dag_id="ingest").update(schedule=schedule, revision=2)
        assert overdue.note_late(now=at(9, 30)) == 1
        row = again(day)
        assert (row.late_noted_at, row.late_at) == (None, at(10) + HALF)

    def test_what_has_fired_or_was_cancelled_is_not_late(self, day):
        holds.cancel(day, deed=ALICE, at=at(9))
        assert overdue.note_late(now=at(12)) == 0
        assert HeldRun.objects.late(at(12)).count() == 0

    def test_takes_no_more_than_it_is_told_to(self, day):
        emit("hourly", *hours("2026-03-09", 1), at=at(8))
        turn(at(8))
        assert overdue.note_late(now=at(12), limit=1) == 1
        assert overdue.note_late(now=at(12), limit=9) == 1


class TestAlert:
    def test_none_is_left_where_nobody_listens(self, day):
        overdue.note_late(now=at(9, 30))
        assert not Alert.objects.exists()

    def test_tells_what_is_missing_and_who_owes_it(self, day, settings):
        settings.ALERT_URL, settings.SITE_URL = "https://pager.example/", "https://partita.example/"
        overdue.note_late(now=at(9, 30))
        alert = Alert.objects.get()
        assert alert.send_after == at(9, 30)
        assert alert.body == {
            "event": "held_run_late",
            "id": day.pk,
            "dag_id": "sum",
            "partition_key": DAY,
            "round": 1,
            "held_since": at(8).isoformat(),
            "late_at": (at(9) + HALF).isoformat(),
            "sentence": "waiting on 2 of 24: hours 09, 22",
            "missing": [
                {
                    "asset": "hourly",
                    "partition_key": key,
                    "expected_at": at(int(key[11:13])).isoformat(),
                    "owed_by": ["ingest"],
                    "sensors": [],
                }
                for key in hours(DAY, 9, 22)
            ],
            "url": f"https://partita.example/held/{day.pk}",
        }

    def test_rings_for_whoever_sends_it(self, day, settings, django_capture_on_commit_callbacks):
        settings.ALERT_URL = "https://pager.example/"
        Bell.objects.all().delete()
        with django_capture_on_commit_callbacks(execute=True):
            overdue.note_late(now=at(9, 30))
        assert Bell.objects.filter(name="send_alerts").count() == (1 if settings.EMBEDDED else 0)
