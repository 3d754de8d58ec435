"""A Dag's schedule is changed on its page, and taken back."""

import re
from dataclasses import dataclass

import pytest
from django.utils import timezone

from core.models import DagRun, JournalEntry, ScheduleOverride
from partitions_site import roles
from scheduling import holds
from scheduling.algebra import registry
from scheduling.algebra.mappers import Mapper
from tests.configuration.changing import change
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY
from tests.sdk.writing import LATER
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
