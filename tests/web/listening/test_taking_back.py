"""A change of a Dag's schedule is taken back on its page."""

import re

import pytest
from django.utils import timezone

from core.models import HeldRun, JournalEntry, ScheduleOverride
from scheduling import holds
from tests.configuration.changing import BOB, change
from tests.engine import world
from tests.sdk.writing import LATER, Directory
from tests.web.listening.forms import URL, text, tolerant
from tests.web.reading import read

pytestmark = pytest.mark.django_db


def first(page, name):
    """What stands in the first field of that name: that of the form, not of the history below it."""
    return page.all("input", name=name)[0].attributes["value"]


class TestTakingBack:
    @pytest.mark.parametrize("act", ["back", "revert"])
    def test_shows_what_it_does_before_it_does_it(self, admin, row, days, act):
        assert admin.post(URL, tolerant(row, act="save")).status_code == 302
        row.refresh_from_db()
        change(row, late="hold")
        while holds.judge_due(now=timezone.now()):
            pass
        world.emit("a", *world.hours("2026-03-12", *range(22)))
        world.turn()
        row.refresh_from_db()
        page = read(admin.get(URL))
        form = {
            "act": act,
            "revision": row.revision,
            "version": first(page, "version"),
            "reason": "takes back",
        }
        entries = JournalEntry.objects.count()
        shown = read(admin.post(URL, form))
        told = 'late: "hold" → not set' if act == "revert" else "default_mapper.wait_policy"
        assert told in shown.text
        assert "1 held run: each stays as it is." in shown.text
        assert (JournalEntry.objects.count(), ScheduleOverride.objects.count()) == (entries, 1)
        again = {name: first(shown, name) for name in ("revision", "version", "seen", "reason")}
        assert again["reason"] == "takes back"
        assert admin.post(URL, again | {"act": act}).status_code == 302
        row.refresh_from_db()
        assert "late" not in row.schedule
        assert ("wait_policy" in row.schedule["default_mapper"]) == (act == "revert")
        assert JournalEntry.objects.count() == entries + 1

    def test_back_to_what_the_file_says(self, admin, row):
        said = row.schedule
        change(row, late="hold")
        assert "Code says" in text(admin.get(URL))
        back = {"act": "back", "reason": "enough", "revision": row.revision, "seen": "yes"}
        assert "listens as its file says" in text(admin.post(URL, back, follow=True))
        row.refresh_from_db()
        assert row.schedule == said

    def test_back_to_before_one_change(self, admin, row):
        change(row, late="hold")
        change(row, late="restart")
        body = admin.get(URL).content.decode()
        version = re.search(r'name="version" value="(\d+)"', body)[1]
        reason = re.search(r'name="reason" value="(takes back[^"]*)"', body)[1]
        back = {
            "act": "revert",
            "version": version,
            "reason": reason,
            "revision": row.revision,
            "seen": "yes",
        }
        assert admin.post(URL, back).status_code == 302
        row.refresh_from_db()
        assert row.schedule["late"] == "hold"
        assert JournalEntry.objects.filter(event="schedule changed").count() == 3

    def test_of_what_somebody_else_has_changed_since_is_refused(self, admin, row):
        change(row, late="hold")
        seen = row.revision
        change(row, late="restart")
        answer = admin.post(URL, {"act": "back", "reason": "x", "revision": seen, "seen": "yes"})
        assert answer.status_code == 409
        row.refresh_from_db()
        assert row.schedule["late"] == "restart"

    @pytest.mark.parametrize("act", ["back", "revert"])
    def test_that_is_refused_is_asked_again_with_what_was_typed(self, admin, row, act):
        change(row, late="hold")
        page = read(admin.get(URL))
        form = {"act": act, "version": first(page, "version"), "seen": "yes"}
        seen = row.revision
        change(row, late="restart")
        for reason, status in (("enough of it", 409), (" ", 422)):
            answer = admin.post(URL, form | {"reason": reason, "revision": seen})
            assert answer.status_code == status
            shown = read(answer)
            again = {name: first(shown, name) for name in ("revision", "version", "seen", "reason")}
            assert again == {
                "revision": str(row.revision),
                "version": form["version"],
                "seen": "yes",
                "reason": reason,
            }
            assert "Look at the effect" not in shown.text
            seen = row.revision
        assert "say why the schedule of c changes" in shown.text
        assert admin.post(URL, again | {"act": act, "reason": "enough of it"}).status_code == 302
        row.refresh_from_db()
        assert "late" not in row.schedule

    def test_to_a_file_that_gives_no_schedule_says_what_becomes_of_what_is_held(self, admin, row, days):
        change(row, late="hold")
        ScheduleOverride.objects.update(code=None)
        while holds.judge_due(now=timezone.now()):
            pass
        form = {"act": "back", "reason": "enough", "revision": row.revision}
        shown = text(admin.post(URL, form))
        assert "Its file gives it no schedule any more: it would listen to nothing." in shown
        assert "3 held runs stay open and never fire by themselves" in shown
        assert "and needs there" not in shown
        assert "No key of what it listens to" not in shown
        assert admin.post(URL, form | {"seen": "yes"}).status_code == 302
        while holds.judge_due(now=timezone.now()):
            pass
        held = HeldRun.objects.held().order_by("pk")
        assert list(held.values_list("verdict", flat=True)) == ["broken"] * 3
        holds.fire_now(held[0], deed=BOB, at=timezone.now())
        holds.cancel(held[1], deed=BOB, at=timezone.now())
        assert HeldRun.objects.held().count() == 1

    def test_of_a_change_that_is_gone_is_refused(self, admin, row):
        change(row, late="hold")
        answer = admin.post(
            URL, {"act": "revert", "version": "999999", "reason": "x", "revision": row.revision}
        )
        assert answer.status_code == 422
        assert "does not hold that change any more" in text(answer)

    def test_shows_what_the_file_says_by_now(self, admin, row, tmp_path):
        change(row, late="hold")
        directory = Directory(tmp_path)
        directory.write(
            "c", 'DAG("c", schedule=PartitionedAssetTimetable(assets=Asset("a"), late="restart"))'
        )
        directory.sync(LATER)
        page = text(admin.get(URL))
        assert 'late: "restart" → "hold"' in page
        assert "in its file, beside the override" in page
