"""The page on which a Dag's schedule is read, tried, changed and taken back."""

import html
import json
import re
from dataclasses import dataclass

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core.models import Dag, DagRun, HeldRun, JournalEntry, ScheduleOverride
from partitions_site import roles
from partitions_site.web import specforms
from scheduling import configuration, holds
from scheduling.algebra import registry
from scheduling.algebra.mappers import Mapper
from tests.configuration.changing import BOB, change
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY, NOW
from tests.sdk.writing import LATER, Directory, dag
from tests.web.test_specforms import sent

pytestmark = pytest.mark.django_db
URL = "/listening?dag=c"
TOLERANT = {"type": "MinimumCount", "n": -1}
NAME = "spec.default_mapper.wait_policy"


@pytest.fixture
def row(tmp_path) -> Dag:
    """A Dag that waits for all hours of a day."""
    directory = Directory(tmp_path)
    directory.write(
        "c",
        """
        rollup = RollupMapper(StartOfDayMapper(), DayWindow())
        DAG("c", schedule=PartitionedAssetTimetable(assets=Asset("a"), partition_mapper=rollup))
        DAG("tick", schedule=CronPartitionTimetable("0 0 * * *"))
        """,
    )
    assert directory.sync().ok
    return dag("c")


def test_it_is_shown_without_a_look_at_every_other_dag(admin, row):
    with CaptureQueriesContext(connection) as found:
        assert admin.get(URL).status_code == 200
    assert not [each["sql"] for each in found if "core_outlet" in each["sql"]]


@pytest.fixture
def admin(visitor_of):
    return visitor_of(roles.ADMIN)


@pytest.fixture
def days(row):
    """Three days of which one hour each is missing."""
    for day in (8, 9, 10):
        world.emit("a", *world.hours(f"2026-03-{day:02}", *range(23)))
    world.turn()


def filled(row, **changes):
    """What a browser sends of the form of `row` after somebody has changed some fields, by their paths."""
    row.refresh_from_db()
    form = dict(sent(specforms.draw(row.schedule)))
    return form | {"revision": row.revision, "reason": "Sundays", "act": "look"} | changes


def tolerant(row, **changes):
    return filled(row, **{f"{NAME}.type": "MinimumCount", f"{NAME}.n": "-1"}, **changes)


def text(answer):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


class TestReading:
    def test_shows_what_counts_and_who_says_so(self, visitor, row):
        page = visitor.get(URL)
        assert page.status_code == 200
        assert "How c listens" in text(page)
        assert "To change this needs the role admin." in text(page)
        body = page.content.decode()
        assert "disabled" in re.search(r'<fieldset class="body spec"[^>]*>', body)[0]
        assert 'value="save"' not in body

    def test_tries_recent_keys(self, visitor, row, days):
        assert "2026-03-10T22:00:00 a 2026-03-10 24 keys" in text(visitor.get(URL))

    def test_tries_keys_of_the_address(self, visitor, row):
        page = text(visitor.get(f"{URL}&keys=2026-03-01T05:00:00%0Atw"))
        assert "2026-03-01T05:00:00 a 2026-03-01 24 keys" in page
        assert "'tw' is not a key" in page

    def test_of_a_dag_that_listens_to_nothing_says_so(self, visitor, row):
        assert "said in its file, and changed there" in text(visitor.get("/listening?dag=tick"))

    def test_of_no_dag_is_not_found(self, visitor, row):
        assert visitor.get("/listening?dag=nothing").status_code == 404

    def test_is_a_click_from_the_dag(self, visitor, row):
        body = visitor.get("/dags/c").content.decode()
        assert 'href="/listening?dag=c"' in body
        assert "overridden" not in body
        change(row, late="hold")
        assert "overridden" in visitor.get("/dags/c").content.decode()

    def test_of_a_schedule_that_cannot_be_read_says_why(self, admin, row):
        change(row, late="hold")
        gone = row.schedule | {"default_mapper": {"type": "GoneMapper"}}
        Dag.objects.filter(pk=row.pk).update(schedule=gone, revision=9)
        page = text(admin.get(URL))
        assert "'GoneMapper' is no known mapper" in page
        assert "Back to code" in page


class TestAssets:
    """The condition is shown and typed as text."""

    def test_are_shown_as_they_are_typed(self, visitor, row):
        change(row, assets={"all": [{"asset": "a"}, {"any": [{"asset": "b"}, {"ref_uri": "s3://lab/c"}]}]})
        page = html.unescape(visitor.get(URL).content.decode())
        assert ">a & (b | uri(s3://lab/c))</textarea>" in page
        assert '<option value="uri(s3://lab/c)">' in page

    def test_that_were_typed_are_what_it_would_listen_to(self, admin, row):
        page = text(admin.post(URL, filled(row, **{"spec.assets": "a & (b | c)"})))
        assert "assets: a → a & (b | c) " in page

    def test_that_cannot_be_read_are_pointed_at(self, admin, row):
        page = html.unescape(admin.post(URL, filled(row, **{"spec.assets": "a & (b"})).content.decode())
        assert "assets: the bracket that opens here has no end, at character 5 of 'a & (b'" in page
        assert '<pre class="pointed">a & (b\n    ^</pre>' in page

    def test_of_another_kind_than_text_are_taken_as_json(self, admin, row):
        page = text(admin.post(URL, filled(row, **{"spec.assets": '{"asset": "b"}'})))
        assert "assets: a → b " in page


class TestLooking:
    def test_says_what_saving_does_and_does_nothing(self, admin, row, days):
        page = admin.post(URL, tolerant(row))
        assert page.status_code == 200
        assert "3 held runs will fire 2026-03-08 2026-03-09 2026-03-10" in text(page)
        assert 'default_mapper.wait_policy: not set → {"type": "MinimumCount", "n": -1}' in text(page)
        assert HeldRun.objects.held().count() == 3
        assert ScheduleOverride.objects.count() == 0

    def test_is_a_part_of_the_page_for_htmx(self, admin, row, days):
        headers = {"HX-Request": "true", "HX-Target": "proposal"}
        part = admin.post(URL, tolerant(row), headers=headers)
        assert part.content.decode().lstrip().startswith('<div id="proposal"')
        assert "3 held runs will fire" in text(part)

    def test_of_another_kind_draws_its_fields(self, admin, row):
        headers = {"HX-Request": "true", "HX-Target": "editor"}
        asked = filled(row, **{"spec.default_mapper.type": "SlidingWindowMapper"})
        body = admin.post(URL, asked, headers=headers).content.decode()
        assert 'name="spec.default_mapper.before"' in body
        assert "Downstream period D needs the <code>before</code> upstream periods" in body

    def test_tries_typed_keys_with_the_proposal(self, admin, row):
        asked = filled(row, **{"spec.default_mapper.type": "StartOfHourMapper"}, keys="2026-03-01T05:00:00")
        assert "2026-03-01T05:00:00 a 2026-03-01T05 any one key" in text(admin.post(URL, asked))

    def test_of_what_cannot_be_says_where(self, admin, row):
        asked = filled(row, **{"spec.default_mapper.upstream_mapper.timezone": "Mars"})
        page = admin.post(URL, asked)
        assert page.status_code == 200
        at = page.content.decode().index('name="spec.default_mapper.upstream_mapper.timezone" value="Mars"')
        assert "Mars" in page.content.decode()[at + 60 : at + 600]

    def test_takes_json_for_the_form(self, admin, row):
        spec = row.schedule | {"late": "hold"}
        page = admin.post(URL, filled(row, use="raw", raw=json.dumps(spec)))
        assert '<option value="hold" selected>' in page.content.decode()
        for raw in ("{", "[]", "5", '"text"', "null", "[" * 100_000, '{"type": 1}', '{"type": "\\u0000"}'):
            assert admin.post(URL, filled(row, use="raw", raw=raw)).status_code == 200

    def test_is_not_for_others(self, visitor_of, row):
        for role in (roles.VIEWER, roles.OPERATOR, roles.EDITOR):
            assert visitor_of(role).post(URL, tolerant(row)).status_code == 403


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


class TestTakingBack:
    def test_back_to_what_the_file_says(self, admin, row):
        said = row.schedule
        change(row, late="hold")
        assert "Code says" in text(admin.get(URL))
        back = {"act": "back", "reason": "enough", "revision": row.revision}
        assert "listens as its file says" in text(admin.post(URL, back, follow=True))
        row.refresh_from_db()
        assert row.schedule == said

    def test_back_to_before_one_change(self, admin, row):
        change(row, late="hold")
        change(row, late="restart")
        body = admin.get(URL).content.decode()
        version = re.search(r'name="version" value="(\d+)"', body)[1]
        reason = re.search(r'name="reason" value="(takes back[^"]*)"', body)[1]
        back = {"act": "revert", "version": version, "reason": reason, "revision": row.revision}
        assert admin.post(URL, back).status_code == 302
        row.refresh_from_db()
        assert row.schedule["late"] == "hold"
        assert JournalEntry.objects.filter(event="schedule changed").count() == 3

    def test_of_what_somebody_else_has_changed_since_is_refused(self, admin, row):
        change(row, late="hold")
        seen = row.revision
        change(row, late="restart")
        answer = admin.post(URL, {"act": "back", "reason": "x", "revision": seen})
        assert answer.status_code == 409
        row.refresh_from_db()
        assert row.schedule["late"] == "restart"

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


def test_costs_as_much_however_much_is_held(admin, row, django_assert_max_num_queries):
    for day in range(1, 9):
        world.emit("a", *world.hours(f"2026-03-{day:02}", 1, 2))
    world.turn(NOW)
    with django_assert_max_num_queries(45):
        admin.post(URL, tolerant(row))
    assert configuration.told(row).history == []
    assert BOB.reason
