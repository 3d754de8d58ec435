"""Several runs are run again, cancelled, or marked at once: asked once, done to each, told of each."""

import json

import pytest
from django.utils import timezone

from core.models import DagRun, JournalEntry
from scheduling import claims
from tests.engine import world
from tests.web.reading import read
from tests.web.selected import ask, numbers, send, states, trigger

pytestmark = pytest.mark.django_db


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

    def test_those_that_are_refused_stay_selected(self, visitor, failed):
        deed = self.DEED + "?back=/runs%3Fstate%3Dfailed"
        page = ask(visitor, self.DEED, numbers(failed), back="/runs?state=failed")
        world.Dag.objects.filter(dag_id="report").update(is_active=False)
        answer = visitor.post(f"/{deed}", page.fields)
        assert read(answer).links["Close"] == f"/runs?state=failed&sel={failed[2].pk}"

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
        assert json.loads(told["HX-Trigger-After-Swap"]) == {"changed": {}}
        page = read(told)
        assert page.all("h2")[0].text == "2 runs queued again"
        assert page.all("div", class_="dialog", data_kept=str(failed[2].pk))


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
