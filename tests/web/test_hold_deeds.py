"""Held runs are fired and cancelled by hand."""

from datetime import timedelta

import pytest

from core.models import Dag, DagRun, Dependency, HeldRun, JournalEntry
from scheduling import runs
from tests.engine.world import ALICE, NOW, asset, consumer, dag, emit, hours, turn
from tests.web.reading import read

pytestmark = pytest.mark.django_db


class TestFire:
    def test_says_first_what_it_fires_without(self, visitor, day):
        page = read(visitor.get(f"/held/{day.pk}/fire"))
        assert "It runs without hourly: 3 of 24: hours 09, 11, 22" in page.text
        assert DagRun.objects.count() == 0

    def test_makes_the_run_and_keeps_the_reason(self, visitor, day):
        response = visitor.post(f"/held/{day.pk}/fire", {"reason": "the boss waits"})
        run = DagRun.objects.get()
        assert response["Location"] == f"/runs/{run.pk}"
        assert [each["keys"] for each in run.missing_keys] == [hours("2026-03-10", 9, 11, 22)]
        entry = JournalEntry.objects.get(event="held run fired by hand")
        assert (entry.by, entry.via, entry.reason) == ("operator", "web", "the boss waits")
        assert "fired without some keys" in read(visitor.get("/runs")).text
        DagRun.objects.update(is_fired_short=False)
        assert "fired without some keys" not in read(visitor.get("/runs")).text

    def test_the_run_says_without_what_by_whom_and_why(self, visitor, day):
        visitor.post(f"/held/{day.pk}/fire", {"reason": "the boss waits"})
        text = read(visitor.get(f"/runs/{DagRun.objects.get().pk}")).text
        assert "Fired by hand without 3 keys of hourly: hours 09, 11, 22" in text
        assert "Type asset triggered, fired by hand by operator" in text
        assert "Reason the boss waits" in text
        assert "21 keys: 00–08, 10, 12–21, 23" in text
        assert "Attempt" not in text

    def test_a_run_that_no_held_run_became_was_not_fired(self, visitor, day):
        run = runs.trigger(day.dag, runs.Ask(day.partition_key), deed=ALICE, at=NOW)
        text = read(visitor.get(f"/runs/{run.pk}")).text
        assert "Made without 3 keys of hourly: hours 09, 11, 22" in text
        assert "Fired" not in text

    def test_keys_that_its_schedule_requires_no_more_are_named_one_by_one(self, visitor, day):
        visitor.post(f"/held/{day.pk}/fire")
        DagRun.objects.update(missing_keys=[{"asset": "hourly", "keys": ["09", "11"]}])
        text = read(visitor.get(f"/runs/{DagRun.objects.get().pk}")).text
        assert "Fired by hand without 2 keys of hourly: 09, 11" in text

    def test_says_what_the_run_will_wait_for(self, visitor, day):
        Dag.objects.update(is_paused=True)
        text = read(visitor.get(f"/held/{day.pk}/fire")).text
        assert f"{day.dag} is paused: its runs wait until somebody unpauses it." in text

    def test_a_second_click_makes_no_second_run(self, visitor, day):
        visitor.post(f"/held/{day.pk}/fire")
        response = visitor.post(f"/held/{day.pk}/fire")
        assert response.status_code == 409
        page = read(response)
        assert "is not held any more" in page.text
        assert "fired by operator" in page.text
        assert "as soon as a worker is free" not in page.text
        assert page.links["Its run: queued"] == f"/runs/{DagRun.objects.get().pk}"
        assert "Fire now" not in [each.text for each in page.all("button")]

    def test_of_one_that_has_fired_there_is_nothing_to_ask(self, visitor, day):
        visitor.post(f"/held/{day.pk}/fire")
        for deed in ("fire", "cancel"):
            page = read(visitor.part(f"/held/{day.pk}/{deed}", "dialog"))
            assert page.all("h2")[0].text == "It is not held any more"
            assert page.all("button") == []

    def test_what_fired_by_itself_meanwhile_is_told(self, visitor, day):
        emit("hourly", *hours("2026-03-10", 9, 11, 22))
        turn()
        assert visitor.post(f"/held/{day.pk}/fire").status_code == 409


class TestCancel:
    def test_closes_it_without_a_run(self, visitor, day):
        response = visitor.post(f"/held/{day.pk}/cancel", {"reason": "not needed"})
        assert response["Location"] == f"/held/{day.pk}"
        day.refresh_from_db()
        assert (day.state, day.closed_by) == ("cancelled", "operator")
        assert DagRun.objects.count() == 0
        assert "cancelled" in read(visitor.get(f"/held/{day.pk}")).text

    def test_its_page_says_why_and_leads_to_the_journal(self, visitor, day):
        visitor.post(f"/held/{day.pk}/cancel", {"reason": "a test"})
        page = read(visitor.get(f"/held/{day.pk}"))
        assert "Reason a test" in page.text
        assert page.links["what was done to it"] == "/journal?dag=sum&key=2026-03-10"

    def test_its_page_says_from_when_until_when_it_was_held(self, visitor, day):
        assert "Held since" in read(visitor.get(f"/held/{day.pk}")).text
        HeldRun.objects.update(opened_at=NOW)
        visitor.post(f"/held/{day.pk}/cancel")
        HeldRun.objects.update(closed_at=NOW + timedelta(minutes=5))
        text = read(visitor.get(f"/held/{day.pk}")).text
        assert "Held from 2026-03-11 09:10:00 UTC Until 2026-03-11 09:15:00 UTC 5 min" in text
        assert "Held since" not in text

    def test_asks_first(self, visitor, day):
        page = read(visitor.part(f"/held/{day.pk}/cancel", "dialog"))
        assert page.all("h2")[0].text == "Cancel this held run?"
        assert page.links["No, go back"] == f"/held/{day.pk}"
        day.refresh_from_db()
        assert day.state == "held"


class TestWithoutAKey:
    """A Dag that is not partitioned, and waits for two assets: what is said of it names no key."""

    @pytest.fixture
    def plain(self):
        made = dag("plain", {"type": "AssetTimetable", "assets": {"all": [{"asset": "p"}, {"asset": "q"}]}})
        for name in "pq":
            Dependency.objects.create(dag=made, asset=asset(name), leaf={"asset": name}, created_at=NOW)
        emit("p", None)
        turn()
        return HeldRun.objects.get()

    def test_fire_says_of_which_asset_nothing_has_come(self, visitor, plain):
        text = read(visitor.get(f"/held/{plain.pk}/fire")).text
        assert "plain runs as soon as a worker is free. It runs without q, of which nothing has come." in text

    def test_fired_is_said_without_a_hole(self, visitor, plain):
        assert "Fired: plain runs." in read(visitor.post(f"/held/{plain.pk}/fire", follow=True)).text

    def test_cancel_asks_and_tells_without_a_hole(self, visitor, plain):
        text = read(visitor.get(f"/held/{plain.pk}/cancel")).text
        assert "plain will not run with what has arrived so far. The next event opens a new round" in text
        text = read(visitor.post(f"/held/{plain.pk}/cancel", follow=True)).text
        assert "Cancelled: plain is not held any more." in text
        assert "plain: cancelled by operator." in read(visitor.get(f"/held/{plain.pk}/fire")).text


def test_an_asset_that_any_key_will_do_of_is_named_as_well(visitor):
    """`a & b`, key by key, and b has not come."""
    consumer("both", {"a": {"type": "IdentityMapper"}, "b": {"type": "IdentityMapper"}})
    emit("a", "k")
    turn()
    text = read(visitor.get(f"/held/{HeldRun.objects.get().pk}/fire")).text
    assert (
        "both runs for k as soon as a worker is free. It runs without b, of which nothing has come." in text
    )
