"""The page on which a Dag's schedule is read, and on which a change is tried."""

import html
import json
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import Dag, HeldRun, ScheduleOverride
from partitions_site import roles
from scheduling import configuration
from tests.configuration.changing import BOB, change
from tests.engine import world
from tests.engine.world import NOW
from tests.web.listening.forms import NAME, URL, filled, text, tolerant
from tests.web.reading import read

pytestmark = pytest.mark.django_db


def test_it_is_shown_without_a_look_at_every_other_dag(admin, row):
    with CaptureQueriesContext(connection) as found:
        assert admin.get(URL).status_code == 200
    assert not [each["sql"] for each in found if "core_outlet" in each["sql"]]


class TestReading:
    def test_shows_what_counts_and_who_says_so(self, visitor, row):
        page = visitor.get(URL)
        assert page.status_code == 200
        assert "How c listens" in text(page)
        assert "To change this takes the right to change how Dags listen" in text(page)
        body = page.content.decode()
        assert "disabled" in re.search(r'<fieldset class="body spec"[^>]*>', body)[0]
        assert 'value="save"' not in body

    def test_tries_recent_keys(self, visitor, row, days):
        assert "2026-03-10T22:00:00 a 2026-03-10 24 keys" in text(visitor.get(URL))

    def test_tries_keys_of_the_address(self, visitor, row):
        page = text(visitor.get(f"{URL}&keys=2026-03-01T05:00:00%0Atw"))
        assert "2026-03-01T05:00:00 a 2026-03-01 24 keys" in page
        assert "'tw' is not a key" in page

    def test_says_of_a_time_that_clocks_skip_that_it_does_not_count(self, admin, row):
        zone = {"spec.default_mapper.upstream_mapper.timezone": "America/Los_Angeles"}
        skipped, real = "2010-03-14T02:00:00", "2010-03-14T03:00:00"
        table = read(admin.post(URL, filled(row, **zone, keys=f"{skipped}\n{real}"))).text
        told = "This one does not count: 02:00 never was on 2010-03-14 in America/Los_Angeles"
        needs = "a 2010-03-14 23 keys: 2010-03-14T00:00:00 …"
        assert f"{skipped} {needs} {told}: the clocks went forward. {real} {needs} As JSON" in table

    @pytest.mark.parametrize(
        ("policy", "asks"),
        [
            ({"type": "WaitForAll"}, "24 keys: 2026"),
            ({"type": "MinimumCount", "n": 5}, "5 of 24 keys: 2026"),
            ({"type": "MinimumCount", "n": -1}, "23 of 24 keys: 2026"),
            ({"type": "MinimumCount", "n": -30}, "1 of 24 keys: 2026"),
            (
                {"type": "Deadline", "after": "6h", "then": "fire"},
                "24 keys; after 6 hours whatever has come: 2026",
            ),
            (
                {"type": "Deadline", "after": "6h", "then": "cancel"},
                "24 keys; after 6 hours it is cancelled: 2026",
            ),
            (
                {"type": "Deadline", "after": "6h", "then": {"type": "MinimumCount", "n": 20}},
                "24 keys; after 6 hours 20 of 24 keys: 2026",
            ),
        ],
    )
    def test_says_how_many_are_needed_by_the_policy_that_is_tried(self, admin, row, days, policy, asks):
        mapper = row.schedule["default_mapper"] | {"wait_policy": policy}
        raw = json.dumps(row.schedule | {"default_mapper": mapper})
        assert f"a 2026-03-10 {asks}" in text(admin.post(URL, filled(row, use="raw", raw=raw)))

    @pytest.mark.parametrize(
        ("window", "upstream", "asks"),
        [
            ("HourWindow", "StartOfHourMapper", "5 of 60 keys"),
            ("DayWindow", "StartOfHourMapper", "5 of 24 keys"),
            ("WeekWindow", "StartOfWeekMapper", "5 of 7 keys"),
            ("MonthWindow", "StartOfMonthMapper", "5 of 31 keys"),
            ("QuarterWindow", "StartOfQuarterMapper", "5 of 90 keys"),
            ("YearWindow", "StartOfYearMapper", "5 of 365 keys"),
        ],
    )
    def test_says_it_of_each_window(self, admin, row, window, upstream, asks):
        policy = {f"{NAME}.type": "MinimumCount", f"{NAME}.n": "5"}
        parts = {
            "spec.default_mapper.window.type": window,
            "spec.default_mapper.upstream_mapper.type": upstream,
        }
        page = text(admin.post(URL, filled(row, **policy, **parts, keys="2026-03-01T00:00:00")))
        assert f" {asks}: 2026-0" in page

    def test_says_of_a_key_that_is_not_needed_that_it_does_not_count(self, visitor, row):
        page = text(visitor.get(f"{URL}&keys=2026-03-01T05:30:00"))
        assert "2026-03-01T05:30:00 a 2026-03-01 24 keys" in page
        assert "This one does not count: it is none of the keys that are needed." in page

    def test_of_a_dag_that_listens_to_nothing_says_so(self, visitor, row):
        assert "said in its file, and changed there" in text(visitor.get("/listening?dag=tick"))

    def test_of_no_dag_is_not_found(self, visitor, row):
        assert visitor.get("/listening?dag=nothing").status_code == 404

    def test_is_a_click_from_the_dag(self, visitor, row):
        body = visitor.get("/dags/c").content.decode()
        assert 'href="/listening?dag=c"' in body
        assert "overridden" not in body
        change(row, late="hold")
        page = read(visitor.get("/dags/c"))
        assert "overridden" in page.text
        assert page.links["listens otherwise than its file says"] == "/listening?dag=c"

    def test_an_override_is_told_in_the_list_of_dags(self, visitor, row):
        assert "overridden" not in read(visitor.get("/dags")).links
        change(row, late="hold")
        assert read(visitor.get("/dags")).links["overridden"] == "/listening?dag=c"

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
        assert "default_mapper.wait_policy: not set → MinimumCount(n=-1)" in text(page)
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

    def test_of_what_cannot_be_names_the_field_to_scripts(self, admin, row):
        headers = {"HX-Request": "true", "HX-Target": "proposal"}
        asked = filled(row, **{"spec.default_mapper.upstream_mapper.timezone": "Mars"})
        [trouble] = read(admin.post(URL, asked, headers=headers)).all("div", role="alert")
        assert trouble.attributes["data-at"] == "spec-default_mapper-upstream_mapper-timezone"
        [nowhere] = read(admin.post(URL, headers=headers)).all("div", role="alert")
        assert nowhere.attributes["data-at"] == ""

    def test_of_a_form_without_fields_says_what_is_missing(self, admin, row):
        page = admin.post(URL)
        assert page.status_code == 200
        assert "type" in text(page)

    def test_takes_json_for_the_form(self, admin, row):
        spec = row.schedule | {"late": "hold"}
        page = admin.post(URL, filled(row, use="raw", raw=json.dumps(spec)))
        assert '<option value="hold" selected>' in page.content.decode()
        for raw in ("{", "[]", "5", '"text"', "null", "[" * 100_000, '{"type": 1}', '{"type": "\\u0000"}'):
            assert admin.post(URL, filled(row, use="raw", raw=raw)).status_code == 200

    def test_is_not_for_others(self, visitor_of, row):
        for role in (roles.VIEWER, roles.OPERATOR, roles.EDITOR):
            assert visitor_of(role).post(URL, tolerant(row)).status_code == 403


def test_costs_as_much_however_much_is_held(admin, row, django_assert_max_num_queries):
    for day in range(1, 9):
        world.emit("a", *world.hours(f"2026-03-{day:02}", 1, 2))
    world.turn(NOW)
    with django_assert_max_num_queries(45):
        admin.post(URL, tolerant(row))
    assert configuration.told(row).history == []
    assert BOB.reason
