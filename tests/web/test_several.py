"""Several runs, and several held runs, are acted on at once: asked once, done to each, told of each."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from core.models import DagRun, HeldRun, JournalEntry
from partitions_site import roles
from partitions_site.web import selecting
from tests.api.groups import MARK, OURS, THEIRS, build, granted
from tests.engine.world import HOURS_TO_DAY, NOW, consumer, emit, turn
from tests.web.reading import read
from tests.web.selected import ask, fail, numbers, send, states, trigger

pytestmark = pytest.mark.django_db


@pytest.fixture
def days(db):
    """Three days that wait for hours."""
    consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
    emit("hourly", *(f"2026-03-0{day}T0{hour}:00:00" for day in (1, 2, 3) for hour in (1, 2)))
    turn()
    return list(HeldRun.objects.order_by("pk"))


class TestSelection:
    def test_a_list_offers_to_select_all_on_its_page(self, visitor, failed):
        page = read(visitor.get("/runs"))
        assert [each.attributes["value"] for each in page.all("input", form="selected")] == [
            str(run.pk) for run in reversed(failed)
        ]
        link = page.links["select all 3 on this page"]
        chosen = read(visitor.get(f"/runs{link}"))
        assert "3 runs selected : nightly 2026-03-01, 2026-03-02; report 2026-03" in chosen.text
        assert all("checked" in each.attributes for each in chosen.all("input", form="selected"))
        assert "that match" not in chosen.text

    def test_of_a_list_that_goes_on_all_that_match_are_offered(self, visitor, failed, monkeypatch):
        monkeypatch.setattr("scheduling.board.lists.PAGE", 2)
        monkeypatch.setattr("scheduling.board.lists.runs.__kwdefaults__", {"after": 0, "size": 2})
        page = read(visitor.get(f"/runs?state=failed&sel={numbers(failed[1:])}"))
        chosen = read(visitor.get(f"/runs{page.links['Select all 3 runs that match']}"))
        assert "All 3 runs that match selected" in chosen.text

    def test_no_more_than_so_many_are_selected_and_it_says_so(self, visitor, failed, monkeypatch):
        monkeypatch.setattr(selecting, "MOST", 2)
        page = read(visitor.get("/runs?sel=all"))
        assert "The first 2 runs that match selected" in page.text
        assert "More match; no more than 2 are selected at once." in page.text

    def test_the_deeds_say_to_how_many(self, visitor, queued, failed):
        page = read(visitor.get("/runs?sel=all"))
        assert "3 can run again, 1 can be cancelled" in page.text
        page = read(visitor.get(f"/runs?sel={queued.pk}"))
        [barred] = [each for each in page.all("button") if each.text == "Run again…"]
        assert barred.attributes["title"] == "None of them has ended."
        page = read(visitor.get(f"/runs?sel={numbers(failed)}"))
        [barred] = [each for each in page.all("button") if each.text == "Cancel…"]
        assert barred.attributes["title"] == "All of them have ended: there is nothing to cancel."

    def test_another_filter_selects_nothing(self, visitor, failed):
        page = read(visitor.get(f"/runs?sel={numbers(failed)}"))
        assert [link for link in page.links.values() if "state=" in link and "sel=" in link] == []

    def test_several_boxes_of_a_form_are_a_selection(self, visitor, failed):
        """So does a browser without scripts send them."""
        page = read(visitor.get(f"/runs?sel={failed[0].pk}&sel={failed[2].pk}"))
        assert "2 runs selected : nightly 2026-03-01; report 2026-03" in page.text

    @pytest.mark.parametrize("sel", ["", "x", ",,", "0", "-1", "99999999999999999999", "1;2"])
    def test_what_names_no_row_selects_none(self, visitor, failed, sel):
        assert "selected" not in read(visitor.get("/runs", {"sel": sel})).all("form", id="selected")[0].text

    def test_a_viewer_is_told_what_it_takes(self, visitor_of, failed):
        page = read(visitor_of(roles.VIEWER).get("/runs?sel=all"))
        [barred] = [each for each in page.all("button") if each.text == "Mark…"]
        assert "cancel runs, run them again and mark them" in barred.attributes["title"]

    def test_a_list_of_held_runs_does_the_same(self, visitor, days):
        page = read(visitor.get("/held"))
        page = read(visitor.get(f"/held{page.links['select all 3 on this page']}"))
        assert "3 held runs selected : sum 2026-03-01, 2026-03-02, 2026-03-03" in page.text
        assert page.links["Fire now…"].startswith("/held/several/fire?sel=")

    def test_very_many_that_are_selected_make_no_heavy_page(self, visitor):
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        days = [NOW.date() - timedelta(days=number) for number in range(60)]
        emit("hourly", *(f"{day}T01:00:00" for day in days))
        turn()
        sel = ",".join(map(str, range(1_000_000, 1_000_940))) + "," + numbers(HeldRun.objects.all())
        answer = visitor.get(f"/held?sel={sel}")
        assert "60 held runs selected" in read(answer).text
        assert len(answer.content) < 200_000

    def test_what_is_selected_costs_as_many_queries_whatever_it_is(self, visitor, failed):
        def queries():
            visitor.get("/runs?sel=all")
            with CaptureQueriesContext(connection) as found:
                visitor.get("/runs?sel=all")
            return len(found)

        few = queries()
        fail(*trigger("nightly", *(f"2026-04-{day}" for day in range(10, 25))))
        assert queries() == few <= 13


class TestHeld:
    def test_fire_says_first_without_what_each_fires(self, visitor, days):
        page = ask(visitor, "held/several/fire", numbers(days[:2]))
        assert "Fire 2 held runs now?" in page.text
        assert "2026-03-01 without hourly: 22 of 24: hours 00, 03–23" in page.text
        assert DagRun.objects.count() == 0

    def test_fire_makes_a_run_of_each(self, visitor, days):
        page = ask(visitor, "held/several/fire", "all")
        answer = send(visitor, page, "held/several/fire", reason="the boss waits")
        assert answer["Location"] == "/held"
        assert [key for key, _ in states()] == ["2026-03-01", "2026-03-02", "2026-03-03"]
        entries = JournalEntry.objects.filter(event="held run fired by hand", reason="the boss waits")
        assert entries.count() == 3

    @pytest.mark.parametrize("deed", ["fire", "cancel"])
    def test_what_cannot_be_done_at_once_is_done_to_each(self, visitor, days, deed, monkeypatch):
        def refused(*_, **__):
            raise IntegrityError("one is bad")

        page = ask(visitor, f"held/several/{deed}", "all")
        monkeypatch.setattr("scheduling.at_once._lock_open", refused)
        send(visitor, page, f"held/several/{deed}")
        assert not HeldRun.objects.held().exists()
        assert JournalEntry.objects.filter(event__startswith="held run", by="operator").count() == 3

    def test_a_second_click_makes_no_second_run(self, visitor, days):
        page = ask(visitor, "held/several/fire", "all")
        send(visitor, page, "held/several/fire")
        told = read(send(visitor, page, "held/several/fire"))
        assert told.text.count("it is not held any more: fired by operator") == 3
        assert DagRun.objects.count() == 3

    def test_cancel_closes_each(self, visitor, days):
        page = ask(visitor, "held/several/cancel", numbers(days[1:]))
        send(visitor, page, "held/several/cancel", reason="not needed")
        assert list(HeldRun.objects.held().values_list("partition_key", flat=True)) == ["2026-03-01"]
        assert JournalEntry.objects.filter(event="held run cancelled", reason="not needed").count() == 2

    def test_what_each_lacks_is_told_of_so_many(self, visitor, days, monkeypatch):
        monkeypatch.setattr("partitions_site.web.many_holds.NAMED", 1)
        page = ask(visitor, "held/several/fire", "all")
        assert page.text.count("without hourly") == 1
        assert "And of sum: 2 held runs 2026-03-02 2026-03-03" in page.text


class TestWhoMay:
    def test_somebody_with_a_role_for_one_group_acts_on_that_alone(self):
        ours, theirs = build(OURS), build(MARK)
        client = Client()
        client.force_login(granted(roles.OPERATOR))
        page = ask(client, "held/several/cancel", f"{ours['held_run_id']},{theirs['held_run_id']}")
        assert "Cancel 1 held run?" in page.text
        forged = page.fields | {"these": f"{ours['held_run_id']}.held.0 {theirs['held_run_id']}.held.0"}
        told = read(client.post("/held/several/cancel", forged))
        assert told.all("h1")[0].text == "1 held run cancelled"
        assert "1 held run not there any more" in told.text
        assert HeldRun.objects.get(pk=theirs["held_run_id"]).state == "held"
        assert HeldRun.objects.get(pk=ours["held_run_id"]).state == "cancelled"

    def test_one_that_may_be_seen_and_not_touched_is_left_out_with_the_reason(self):
        ours, theirs = build(OURS), build(MARK)
        client = Client()
        granted(roles.VIEWER, THEIRS)
        client.force_login(granted(roles.OPERATOR))
        page = ask(client, "held/several/cancel", f"{ours['held_run_id']},{theirs['held_run_id']}")
        assert "Left out: 1 held run" in page.text
        assert "may look but not do this" in page.text
        send(client, page, "held/several/cancel")
        assert HeldRun.objects.get(pk=theirs["held_run_id"]).state == "held"
