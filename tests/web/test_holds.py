from datetime import UTC, datetime

import pytest

from core.models import DagRun, HeldRun, JournalEntry
from scheduling import claims, runs
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY, IDENTITY, NOW, REGIONS, asset, consumer, emit, hours, turn
from tests.web.reading import read

pytestmark = pytest.mark.django_db


@pytest.fixture
def day(db):
    """A day that waits for hours 09, 11 and 22."""
    consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
    emit("hourly", *hours("2026-03-10", *(n for n in range(24) if n not in (9, 11, 22))))
    turn()
    return world.held("sum", "2026-03-10")


class TestList:
    def test_names_what_is_missing_in_words(self, visitor, day):
        page = read(visitor.get("/held"))
        assert "waiting on 3 of 24: hours 09, 11, 22" in page.text
        assert "21 of 24" in page.text
        assert page.links["2026-03-10"] == f"/held/{day.pk}"

    def test_judges_anew_rather_than_trusting_what_was_stored(self, visitor, day):
        HeldRun.objects.update(sentence="something old")
        page = read(visitor.get("/held"))
        assert "something old" not in page.text
        assert "hours 09, 11, 22" in page.text

    def test_tells_keys_that_were_not_expected(self, visitor, day):
        emit("hourly", "2026-03-10T07:30:00")
        turn()
        assert "1 unexpected key" in read(visitor.get("/held")).text

    def test_several_assets_are_each_counted(self, visitor):
        consumer("meet", {"hourly": HOURS_TO_DAY, "prices": IDENTITY})
        emit("hourly", *hours("2026-03-10", 1))
        turn()
        text = read(visitor.get("/held")).text
        assert "1 of 24 hourly" in text
        assert "0 of 1 prices" in text

    def test_verdicts_are_counted_and_narrow_the_list(self, visitor, day):
        page = read(visitor.get("/held"))
        assert page.links["1 waiting"] == "?verdict=waiting"
        assert "2026-03-10" not in read(visitor.get("/held?verdict=broken")).links

    def test_is_narrowed_to_those_that_wait_for_an_asset(self, visitor, day):
        consumer("meet", {"prices": HOURS_TO_DAY})
        emit("prices", *hours("2026-03-09", 1))
        turn()
        page = read(visitor.get("/held?asset=prices"))
        assert "2026-03-09" in page.links
        assert "2026-03-10" not in page.links
        chosen = [each.text for each in page.all("option") if "selected" in each.attributes]
        assert chosen == ["prices"]
        assert {each.text for each in page.all("option")} >= {"Every asset", "hourly", "prices"}

    def test_a_filter_can_be_taken_back(self, visitor, day):
        page = read(visitor.get("/held?key=nothing"))
        assert page.links["Show all held runs"] == "/held"

    def test_an_empty_list_teaches(self, visitor):
        assert (
            "A held run appears when the first partition of several arrives"
            in read(visitor.get("/held")).text
        )

    def test_pages_lead_on_and_back(self, visitor):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", *(f"2026-{month:02}-{d:02}T01:00:00" for month in (1, 3) for d in range(1, 32)))
        turn()
        first = read(visitor.get("/held"))
        second = read(visitor.get("/held" + first.links["Next page"]))
        keys = [{text for text in page.links if text.startswith("2026-")} for page in (first, second)]
        assert [len(each) for each in keys] == [50, 12]
        assert not keys[0] & keys[1]
        assert second.links["First page"] == "?"

    def test_a_broken_definition_is_shown_and_hides_no_other(self, visitor, day):
        world.Dag.objects.create(
            dag_id="broken", schedule={"type": "Nonsense"}, created_at=NOW, updated_at=NOW
        )
        HeldRun.objects.create(
            dag=world.Dag.objects.get(dag_id="broken"), partition_key="x", opened_at=NOW, last_event_at=NOW
        )
        text = read(visitor.get("/held")).text
        assert "hours 09, 11, 22" in text
        assert "Nonsense" in text


class TestDetail:
    def test_each_missing_key_has_its_row_with_what_one_can_do(self, visitor, day):
        world.dag("ingest", {"type": "PartitionedAtRuntime"}, writes=["hourly"])
        page = read(visitor.get(f"/held/{day.pk}"))
        assert "Missing 3" in page.text
        assert page.links["2026-03-10T09:00:00"] == "/assets/hourly?key=2026-03-10T09%3A00%3A00"
        triggers = [each.attributes["href"] for each in page.all("a") if each.text == "Trigger ingest…"]
        assert triggers[0] == "/trigger?dag=ingest&key=2026-03-10T09%3A00%3A00"
        assert len(triggers) == 3

    def test_keys_that_are_owed_alike_are_one_row(self, visitor):
        world.dag("ingest", {"type": "PartitionedAtRuntime"}, writes=["hourly"])
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        emit("hourly", *hours("2026-03-10", 5, 6))
        turn()
        page = read(visitor.get(f"/held/{world.held('sum', '2026-03-10').pk}"))
        assert "22 keys : hours 00–04, 07–23" in page.text
        assert page.links["Backfill ingest…"].startswith("/backfills/new?dag=ingest&selection=2026-03-10T00")
        assert "Trigger ingest…" not in page.links
        assert page.links["2026-03-10T09:00:00"] == "/assets/hourly?key=2026-03-10T09%3A00%3A00"

    def test_required_received_and_unexpected_are_told(self, visitor, day):
        emit("hourly", "2026-03-10T07:30:00")
        turn()
        text = read(visitor.get(f"/held/{day.pk}")).text
        assert "21 of 24 hours" in text
        assert "Received 21" in text
        assert "Unexpected 1" in text

    def test_says_how_many_are_enough(self, visitor):
        consumer("sum", {"hourly": HOURS_TO_DAY | {"wait_policy": {"type": "MinimumCount", "n": 20}}})
        emit("hourly", *hours("2026-03-10", 1))
        turn()
        assert "20 are enough" in read(visitor.get(f"/held/{world.held('sum', '2026-03-10').pk}")).text

    def test_an_asset_that_nothing_defines_is_told(self, visitor):
        consumer("regions", {"orders": REGIONS})
        emit("orders", "tw")
        turn()
        world.Dependency.objects.update(asset=None)
        page = read(visitor.get(f"/held/{HeldRun.objects.get().pk}"))
        assert "nothing defines it" in page.text

    def test_follows_until_the_run_it_became_has_ended(self, visitor, day):
        emit("hourly", *hours("2026-03-10", 9, 11, 22))
        turn()
        page = read(visitor.part(f"/held/{day.pk}", "now"))
        assert page.elements[0].attributes["data-live"] == "3"
        run = DagRun.objects.get()
        assert page.links["Its run: queued"] == f"/runs/{run.pk}"
        world.finish(world.start(run), "daily")
        page = read(visitor.part(f"/held/{day.pk}", "now"))
        assert "data-live" not in page.elements[0].attributes
        assert page.links["Its run: success"]

    def test_other_rounds_of_the_key_are_linked(self, visitor, day):
        world.holds.cancel(day, deed=world.ALICE, at=NOW)
        emit("hourly", *hours("2026-03-10", 9))
        turn()
        page = read(visitor.get(f"/held/{world.held('sum', '2026-03-10').pk}"))
        assert page.links["1 cancelled"] == f"/held/{day.pk}"


class TestLate:
    @pytest.fixture
    def late(self, db):
        """Hours 09 and 22 are not there; 09 was expected a day ago, of a Dag that failed."""
        hourly = {"type": "CronPartitionTimetable", "cron": "0 * * * *"}
        began = datetime(2026, 3, 1, tzinfo=UTC)
        ingest = world.dag("ingest", hourly, writes=["hourly"], start_date=began, is_paused=True)
        consumer("sum", {"hourly": HOURS_TO_DAY}, late_after=1800)
        emit("hourly", *hours("2026-03-10", *(n for n in range(24) if n not in (9, 22))))
        turn()
        run = runs.trigger(ingest, Ask("2026-03-10T09:00:00"), deed=world.ALICE, at=NOW)
        DagRun.objects.filter(pk=run.pk).update(state="failed")
        return world.held("sum", "2026-03-10"), run

    def test_the_list_says_what_was_expected_first_and_of_whom(self, visitor, late):
        _, run = late
        page = read(visitor.get("/held"))
        assert "2026-03-10T09:00:00 expected 2026-03-10 09:00:00 UTC" in page.text
        assert page.links["ingest"] == "/dags/ingest"
        assert page.links["failed"] == f"/runs/{run.pk}"
        assert page.links["1 late"] == "?late=yes"
        assert [each.text for each in page.all("span", class_="tag late")] == ["late"]

    def test_late_ones_can_be_shown_alone(self, visitor, late):
        consumer("meet", {"a": IDENTITY, "b": IDENTITY})
        emit("a", "2026-03-10")
        turn()
        assert "meet" not in read(visitor.part("/held?late=yes", "rows")).text
        assert "meet" in read(visitor.part("/held", "rows")).text

    def test_each_missing_key_says_when_it_was_expected_and_who_owes_it(self, visitor, late):
        row, _ = late
        page = read(visitor.get(f"/held/{row.pk}"))
        [nine, twenty_two] = [each.text for each in page.all("p", class_="owed")]
        assert nine.startswith("expected 2026-03-10 09:00:00 UTC , ")
        assert nine.endswith("made by ingest paused : failed")
        assert twenty_two.startswith("expected 2026-03-10 22:00:00 UTC , ")
        assert twenty_two.endswith("made by ingest paused : not tried yet")
        assert "Late since 2026-03-10 09:30:00 UTC" in page.text
        assert "Missing 2 of 24: hours 09, 22" in page.text

    def test_a_key_that_nobody_makes_says_so(self, visitor, day):
        [first, *_] = read(visitor.get(f"/held/{day.pk}")).all("p", class_="owed")
        assert first.text == "no expected time · no Dag writes hourly: whoever reports it owes it"

    def test_a_key_whose_tick_passed_before_its_dag_began_says_that_nobody_makes_it(self, visitor):
        cron = {"type": "CronPartitionTimetable", "cron": "0 * * * *"}
        began = datetime(2026, 3, 10, 5, 29, tzinfo=UTC)
        made = world.dag("ingest", cron, writes=["hourly"], start_date=began)
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours("2026-03-10", *range(6, 24)))
        turn()
        sentence = "its tick passed before ingest began at 2026-03-10 05:29:00 UTC : nobody makes it unless"
        for page in (f"/held/{world.held('sum', '2026-03-10').pk}", "/dags/sum?why=2026-03-10"):
            [line] = read(visitor.get(page)).all("p", class_="owed")
            assert line.text.startswith(sentence)
        runs.trigger(made, Ask(partition_key="2026-03-10T05:00:00"), deed=world.ALICE, at=world.NOW)
        lines = [each.text for each in read(visitor.get(page)).all("p", class_="owed")]
        assert [each.startswith("its tick passed") for each in lines] == [True, False]

    def test_a_key_of_an_asset_that_takes_any_can_be_made_too(self, visitor):
        world.dag("prepare", {"type": "PartitionedAtRuntime"}, writes=["b"])
        consumer("meet", {"a": IDENTITY, "b": IDENTITY})
        emit("a", "tw")
        turn()
        page = read(visitor.get(f"/held/{world.held('meet', 'tw').pk}"))
        assert "Any key that maps here will do" in page.text
        assert page.links["Trigger prepare…"] == "/trigger?dag=prepare&key=tw"

    def test_the_one_that_owes_a_key_may_be_held_itself(self, visitor):
        consumer("first", {"x": IDENTITY, "y": IDENTITY}, writes=["b"])
        consumer("second", {"a": IDENTITY, "b": IDENTITY})
        emit("x", "tw")
        emit("a", "tw")
        turn()
        page = read(visitor.get(f"/held/{world.held('second', 'tw').pk}"))
        assert page.links["held"] == f"/held/{world.held('first', 'tw').pk}"

    def test_the_first_page_begins_with_what_is_late(self, visitor, late):
        text = read(visitor.get("/")).text
        assert "sum 2026-03-10 is waiting on 2 of 24: hours 09, 22, late" in text

    def test_health_counts_them(self, visitor, late):
        assert "1 held run : a key that should have come is missing" in read(visitor.get("/health")).text


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

    def test_the_run_says_without_what_by_whom_and_why(self, visitor, day):
        visitor.post(f"/held/{day.pk}/fire", {"reason": "the boss waits"})
        text = read(visitor.get(f"/runs/{DagRun.objects.get().pk}")).text
        assert "Fired by hand without 3 keys of hourly: hours 09, 11, 22" in text
        assert "Type asset triggered, fired by hand by operator" in text
        assert "Reason the boss waits" in text
        assert "21 keys: 00–08, 10, 12–21, 23" in text
        assert "Attempt" not in text

    def test_keys_that_its_schedule_requires_no_more_are_named_one_by_one(self, visitor, day):
        visitor.post(f"/held/{day.pk}/fire")
        DagRun.objects.update(missing_keys=[{"asset": "hourly", "keys": ["09", "11"]}])
        text = read(visitor.get(f"/runs/{DagRun.objects.get().pk}")).text
        assert "Fired by hand without 2 keys of hourly: 09, 11" in text

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

    def test_asks_first(self, visitor, day):
        page = read(visitor.part(f"/held/{day.pk}/cancel", "dialog"))
        assert page.all("h2")[0].text == "Cancel this held run?"
        assert page.links["No, go back"] == f"/held/{day.pk}"
        day.refresh_from_db()
        assert day.state == "held"


def test_the_walk_of_the_issue(visitor):
    """23 of 24 hours: the page names the missing one; it comes; the row fires; the day is materialized."""
    consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
    emit("hourly", *hours("2026-03-10", *(n for n in range(24) if n != 9)))
    turn()
    assert "waiting on 1 of 24: hour 09" in read(visitor.get("/held")).text
    visitor.post("/record", {"asset": "hourly", "key": "2026-03-10T09:00:00"})
    turn()
    assert "2026-03-10" not in read(visitor.get("/held")).links
    claims.succeed(world.start(DagRun.objects.get()), [claims.Output(asset("daily"))], at=NOW)
    assert "materialized" in read(visitor.part("/assets/daily?key=2026-03-10", "panel")).text


@pytest.mark.parametrize("after", ["²", "1.²", "x", "0.", "9.9.9", "-1.2"])
def test_an_address_that_says_nonsense_shows_the_first_page(visitor, day, after):
    assert "2026-03-10" in read(visitor.get("/held", {"after": after})).text
