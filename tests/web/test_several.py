"""Several runs, and several held runs, are acted on at once: asked once, done to each, told of each."""

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core.models import DagRun, HeldRun, JournalEntry
from partitions_site import roles
from partitions_site.web import selecting
from scheduling import claims, runs, several
from scheduling.runs import Ask, NotRunnable
from tests.api.groups import MARK, OURS, THEIRS, build, granted
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, NOW, RUNTIME, consumer, emit, turn
from tests.web.reading import read

pytestmark = pytest.mark.django_db


def trigger(name, *keys):
    made = world.Dag.objects.filter(dag_id=name).first() or world.dag(
        name, RUNTIME, writes=[f"out of {name}"]
    )
    return [runs.trigger(made, Ask(key), deed=ALICE, at=NOW) for key in keys]


def fail(*rows):
    for run in rows:
        claims.fail(world.start(run), "boom", at=NOW)
    return rows


@pytest.fixture
def failed(db):
    """Two failed runs of one Dag and one of another."""
    return fail(*trigger("nightly", "2026-03-01", "2026-03-02"), *trigger("report", "2026-03"))


@pytest.fixture
def queued(failed):
    return trigger("nightly", "2026-03-03")[0]


@pytest.fixture
def days(db):
    """Three days that wait for hours."""
    consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
    emit("hourly", *(f"2026-03-0{day}T0{hour}:00:00" for day in (1, 2, 3) for hour in (1, 2)))
    turn()
    return list(HeldRun.objects.order_by("pk"))


def numbers(rows):
    return ",".join(str(row.pk) for row in rows)


def ask(visitor, deed, sel, **query):
    return read(visitor.get(f"/{deed}", {"sel": sel, **query}))


def send(visitor, page, deed, **answers):
    return visitor.post(f"/{deed}", page.fields | answers)


def states():
    return sorted(DagRun.objects.values_list("partition_key", "state"))


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
        assert "cancel, repeat and mark runs" in barred.attributes["title"]

    def test_a_list_of_held_runs_does_the_same(self, visitor, days):
        page = read(visitor.get("/held"))
        page = read(visitor.get(f"/held{page.links['select all 3 on this page']}"))
        assert "3 held runs selected : sum 2026-03-01, 2026-03-02, 2026-03-03" in page.text
        assert page.links["Fire now…"].startswith("/held/several/fire?sel=")

    def test_what_is_selected_costs_as_many_queries_whatever_it_is(self, visitor, failed):
        def queries():
            visitor.get("/runs?sel=all")
            with CaptureQueriesContext(connection) as found:
                visitor.get("/runs?sel=all")
            return len(found)

        few = queries()
        fail(*trigger("nightly", *(f"2026-04-{day}" for day in range(10, 25))))
        assert queries() == few <= 13


class TestRetry:
    DEED = "runs/several/retry"

    def test_says_first_which_and_leaves_out_what_has_not_ended(self, visitor, failed, queued):
        page = ask(visitor, self.DEED, "all")
        assert page.all("h1")[0].text == "Run 3 runs again?"
        assert "nightly: 2 runs 2026-03-01 2026-03-02" in page.text
        assert "Left out: 1 run nightly 2026-03-03: it is queued" in page.text
        assert not JournalEntry.objects.filter(event="run retried").exists()

    def test_queues_each_again_with_one_entry_for_each(self, visitor, failed):
        page = ask(visitor, self.DEED, numbers(failed), back="/runs?state=failed")
        answer = send(visitor, page, self.DEED + "?back=/runs%3Fstate%3Dfailed", reason="the disk is back")
        assert answer["Location"] == "/runs?state=failed"
        assert {state for _, state in states()} == {"queued"}
        entries = JournalEntry.objects.filter(event="run retried")
        assert {(each.by, each.via, each.reason) for each in entries} == {
            ("operator", "web", "the disk is back")
        }
        assert sorted(entries.values_list("run_id", flat=True)) == sorted(run.run_id for run in failed)
        assert entries.values("request_id").distinct().count() == 1
        assert "3 runs queued again." in read(visitor.get("/runs")).text

    def test_one_that_is_refused_holds_up_no_other_and_is_told(self, visitor, failed):
        page = ask(visitor, self.DEED, numbers(failed))
        world.Dag.objects.filter(dag_id="report").update(is_active=False)
        told = read(send(visitor, page, self.DEED))
        assert told.all("h1")[0].text == "2 runs queued again"
        assert "1 run refused, and left as it is." in told.text
        assert "report 2026-03 Dag report is not defined any more" in told.text
        assert told.links["report 2026-03"] == f"/runs/{failed[2].pk}"
        done = read(visitor.get(told.links["What was done, in the journal"]))
        assert len(done.all("a", class_="key")) >= 2
        assert states() == [("2026-03", "failed"), ("2026-03-01", "queued"), ("2026-03-02", "queued")]

    def test_a_second_click_does_nothing_more(self, visitor, failed):
        page = ask(visitor, self.DEED, numbers(failed))
        send(visitor, page, self.DEED)
        told = read(send(visitor, page, self.DEED))
        assert told.all("h1")[0].text == "0 runs queued again"
        assert "it was failed when you looked, and has gone on since: it is queued" not in told.text
        assert "it is queued: it can be cancelled, not run again" in told.text
        assert JournalEntry.objects.filter(event="run retried").count() == 3

    def test_one_that_ran_and_failed_anew_since_it_was_shown_is_left(self, visitor, failed):
        page = ask(visitor, self.DEED, numbers(failed))
        send(visitor, page, self.DEED)
        later = timezone.now()
        claims.fail(world.start(DagRun.objects.get(pk=failed[0].pk), at=later), "boom", at=later)
        told = read(send(visitor, page, self.DEED))
        assert (
            "nightly 2026-03-01 it was failed when you looked, and has gone on since: it is failed"
            in told.text
        )

    def test_one_that_was_deleted_meanwhile_is_counted(self, visitor, failed):
        page = ask(visitor, self.DEED, numbers(failed))
        world.Partition.objects.all().delete()
        DagRun.objects.filter(pk=failed[2].pk).delete()
        assert (
            "1 run refused, and left as it is. 1 run not there any more."
            in read(send(visitor, page, self.DEED)).text
        )

    def test_nothing_that_was_not_asked_about_is_done(self, visitor, failed):
        page = ask(visitor, self.DEED, str(failed[0].pk))
        send(visitor, page, f"{self.DEED}?sel=all")
        assert JournalEntry.objects.filter(event="run retried").count() == 1

    @pytest.mark.parametrize("these", ["", "x", "1.failed", "1", "1.failed.x"])
    def test_an_answer_about_nothing_is_refused(self, visitor, failed, these):
        answer = visitor.post(f"/{self.DEED}", {"these": these})
        assert answer.status_code == 422
        assert "Nothing is selected" in read(answer).text

    def test_nothing_to_do_has_no_button(self, visitor, queued):
        page = ask(visitor, self.DEED, str(queued.pk))
        assert page.all("h1")[0].text == "There is nothing to do"
        assert [each.text for each in page.all("button") if "again" in each.text] == []

    def test_where_it_was_shown_beside_the_list_is_looked_at_anew(self, visitor, failed):
        page = ask(visitor, self.DEED, numbers(failed))
        headers = {"HX-Request": "true", "HX-Target": "dialog"}
        world.Dag.objects.filter(dag_id="report").update(is_active=False)
        told = visitor.post(f"/{self.DEED}", page.fields, headers=headers)
        assert told["HX-Trigger"] == '{"changed": {}}'
        assert read(told).all("h2")[0].text == "2 runs queued again"


class TestCancel:
    DEED = "runs/several/cancel"

    def test_ends_the_queued_and_asks_the_running_to_stop_once(self, visitor, queued):
        running = world.start(trigger("nightly", "2026-03-04")[0])
        page = ask(visitor, self.DEED, "all")
        assert "Cancel 2 runs?" in page.text
        assert "Left out: 3 runs" in page.text
        send(visitor, page, self.DEED)
        told = read(send(visitor, page, self.DEED))
        assert told.all("h1")[0].text == "0 runs cancelled, or asked to stop"
        assert "nightly 2026-03-04 somebody has asked it to stop already" in told.text
        running.refresh_from_db()
        queued.refresh_from_db()
        assert (running.cancel_requested, queued.state) == (True, "cancelled")
        assert JournalEntry.objects.filter(event="run cancelled").count() == 2


class TestMark:
    DEED = "runs/several/mark"

    def test_says_how_they_ended(self, visitor, failed):
        page = ask(visitor, self.DEED, numbers(failed))
        assert [each.attributes["value"] for each in page.all("input", name="as")] == ["success", "failed"]
        send(visitor, page, self.DEED, **{"as": "success"})
        assert {state for _, state in states()} == {"success"}
        assert JournalEntry.objects.filter(event="run marked").count() == 3

    def test_those_that_are_so_already_are_left(self, visitor, failed, queued):
        page = ask(visitor, self.DEED, "all")
        assert "Whatever a worker still does" in page.text
        told = read(send(visitor, page, self.DEED, **{"as": "failed"}))
        assert told.all("h1")[0].text == "1 run marked as failed"
        assert told.text.count("it is failed already") == 3

    @pytest.mark.parametrize("state", ["", "queued", "running"])
    def test_as_nothing_that_was_not_offered(self, visitor, failed, state):
        page = ask(visitor, self.DEED, numbers(failed))
        assert "nobody said how it ended" in read(send(visitor, page, self.DEED, **{"as": state})).text
        assert not JournalEntry.objects.filter(event="run marked").exists()


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


class TestOneByOne:
    def test_a_refusal_holds_up_no_other(self):
        def do(number):
            if number % 2:
                raise NotRunnable(f"{number} is odd")

        outcome = several.one_by_one(range(4), do)
        assert outcome.done == [0, 2]
        assert outcome.refused == [(1, "1 is odd"), (3, "3 is odd")]

    @pytest.mark.parametrize(
        ("times", "done"), [(several.MOST_UNDONE - 1, True), (several.MOST_UNDONE, False)]
    )
    def test_what_the_database_undid_is_begun_anew_so_often(self, times, done):
        class Undone(Exception):
            sqlstate = "40P01"

        tried = []

        def do(row):
            tried.append(row)
            if len(tried) <= times:
                raise OperationalError from Undone()

        if done:
            assert several.one_by_one(["k"], do).done == ["k"]
        else:
            with pytest.raises(OperationalError):
                several.one_by_one(["k"], do)
        assert len(tried) == several.MOST_UNDONE
