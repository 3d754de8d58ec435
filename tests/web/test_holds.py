"""The list of held runs, and the page of one."""

import pytest
from django.utils import timezone

from core.models import DagRun, HeldRun
from scheduling import claims
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY, IDENTITY, NOW, REGIONS, asset, consumer, emit, hours, turn
from tests.web.reading import read

pytestmark = pytest.mark.django_db


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

    def test_what_nobody_makes_is_told_with_what_comes_next_by_itself(self, visitor):
        hourly = {"type": "CronPartitionTimetable", "cron": "0 * * * *", "key_format": "%Y-%m-%dT%H:%M:%S"}
        now = timezone.now().replace(minute=0, second=0, microsecond=0)
        day, nine = f"{now:%Y-%m-%d}", f"{now:%Y-%m-%d}T23:00:00"
        world.dag("ingest", hourly, writes=["hourly"], start_date=now.replace(hour=23))
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", f"{day}T01:00:00")
        turn()
        page = read(visitor.get("/held"))
        assert f"{day}T00:00:00 its tick passed before ingest began" in page.text
        assert page.links["all such keys"] == f"/held/{HeldRun.objects.get().pk}"
        assert f"Next by itself: {nine} expected" in page.text

    def test_verdicts_are_counted_and_narrow_the_list(self, visitor, day):
        page = read(visitor.get("/held"))
        assert page.links["1 waiting"] == "?verdict=waiting"
        assert "1 waiting" not in read(visitor.get("/held?dag=sum")).links
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
        assert [len(each) for each in keys] == [40, 22]
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
        back = f"&back=%2Fheld%2F{day.pk}"
        assert triggers[0] == f"/trigger?dag=ingest&key=2026-03-10T09%3A00%3A00{back}"
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
