"""A Dag's schedule is changed on its page, and taken back."""

import re
from dataclasses import dataclass

import pytest
from django.utils import timezone

from core.models import DagRun, HeldRun, JournalEntry, ScheduleOverride
from partitions_site import roles
from scheduling import holds
from scheduling.algebra import registry
from scheduling.algebra.mappers import Mapper
from tests.configuration.changing import BOB, change
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY
from tests.sdk.writing import LATER, Directory
from tests.web.listening.forms import NAME, URL, filled, text, tolerant
from tests.web.reading import read

pytestmark = pytest.mark.django_db
TOLERANT = {"type": "MinimumCount", "n": -1}


class TestSaving:
    def test_changes_how_it_listens_and_fires_what_may(self, admin, row, days):
        answer = admin.post(URL, tolerant(row, act="save"), follow=True)
        assert "c listens as you said from now on." in text(answer)
        assert "admin said so" in text(answer)
        while holds.judge_due(now=timezone.now()):
            pass
        assert DagRun.objects.count() == 3
        entry = JournalEntry.objects.get(event="schedule changed")
        assert (entry.by, entry.via, entry.reason) == ("admin", "web", "Sundays")
        row.refresh_from_db()
        assert row.schedule["default_mapper"] == HOURS_TO_DAY | {"wait_policy": TOLERANT}

    def test_needs_a_reason(self, admin, row):
        answer = admin.post(URL, tolerant(row, act="save", reason=" "))
        assert answer.status_code == 422
        assert "say why the schedule of c changes" in text(answer)
        assert ScheduleOverride.objects.count() == 0

    def test_of_what_cannot_be_keeps_what_was_typed(self, admin, row):
        asked = filled(row, act="save", **{"spec.default_mapper.upstream_mapper.timezone": "Mars"})
        answer = admin.post(URL, asked)
        assert answer.status_code == 422
        assert 'value="Mars"' in answer.content.decode()
        assert 'value="Sundays"' in answer.content.decode()

    def test_of_no_change_says_so(self, admin, row):
        answer = admin.post(URL, filled(row, act="save"), follow=True)
        assert "listens so already: nothing was changed" in text(answer)

    def test_keeps_json_that_was_changed_and_does_not_count(self, admin, row):
        shown = read(admin.get(URL))
        raw = {"raw": shown.all("textarea", name="raw")[0].words[0], "raw_name": shown.fields["raw_name"]}
        answer = admin.post(URL, filled(row, act="save", **raw), follow=True)
        assert "listens so already: nothing was changed" in text(answer)
        changed = raw | {"raw": raw["raw"].replace("\n", "\r\n") + " "}
        for act in ("look", "save"):
            answer = admin.post(URL, tolerant(row, act=act, **changed))
            assert read(answer).all("textarea", name="raw")[0].words[0].endswith("} ")
            assert "It counts for nothing until the form is filled with it" in text(answer)
        assert answer.status_code == 422
        assert "the JSON was changed, and the form was not: fill the form with it first" in text(answer)
        assert ScheduleOverride.objects.count() == 0

    def test_is_not_for_others(self, visitor_of, row):
        assert visitor_of(roles.EDITOR).post(URL, tolerant(row, act="save")).status_code == 403
        assert ScheduleOverride.objects.count() == 0


def first(page, name):
    """What stands in the first field of that name: that of the form, not of the history below it."""
    return page.all("input", name=name)[0].attributes["value"]


class TestTwoAtOnce:
    def test_the_second_is_told_what_the_first_changed_and_loses_nothing(self, admin, row):
        mine = tolerant(row, act="save", reason="mine")
        change(row, late="hold")
        answer = admin.post(URL, mine)
        assert answer.status_code == 409
        assert 'bob changed late: not set → "hold"' in text(answer)
        body = answer.content.decode()
        assert f'name="{NAME}.n" value="-1"' in body
        assert 'value="mine"' in body
        row.refresh_from_db()
        assert (row.schedule["late"], "wait_policy" in row.schedule["default_mapper"]) == ("hold", False)

    def test_who_then_saves_again_has_seen_it(self, admin, row):
        mine = tolerant(row, act="save")
        change(row, late="hold")
        body = admin.post(URL, mine).content.decode()
        seen = re.search(r'name="revision" value="(\d+)"', body)[1]
        assert admin.post(URL, mine | {"revision": seen}).status_code == 302
        row.refresh_from_db()
        assert row.schedule["default_mapper"]["wait_policy"] == TOLERANT


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


class TestAPlugin:
    def test_has_a_form_a_try_out_and_a_way_back(self, admin, row, monkeypatch):
        @dataclass(frozen=True)
        class StoreMapper(Mapper):
            """The store of a key: what stands before the dash.

            :param dash: what stands between.
            """

            dash: str = "-"

            def to_downstream(self, key: str) -> tuple[str, ...]:
                return (key.split(self.dash)[0],)

        monkeypatch.setitem(registry._KNOWN["mapper"], "StoreMapper", StoreMapper)
        asked = filled(
            row,
            **{"spec.default_mapper.type": "StoreMapper", "spec.default_mapper.dash": "/"},
            keys="tw/2026-03-10",
        )
        page = admin.post(URL, asked)
        assert "The store of a key: what stands before the dash." in text(page)
        assert "What stands between." in text(page)
        assert "tw/2026-03-10 a tw any one key" in text(page)
        assert admin.post(URL, asked | {"act": "save"}).status_code == 302
        row.refresh_from_db()
        assert row.schedule["default_mapper"] == {"type": "StoreMapper", "dash": "/"}
        assert 'name="spec.default_mapper.dash" value="/"' in admin.get(URL).content.decode()
        world.emit("a", "jp/1")
        world.turn(LATER)
        assert world.fired("c") == ["jp"]
