"""What pages say of held runs that are late, and of who owes what they lack."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from core.models import DagRun
from scheduling import runs
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY, IDENTITY, NOW, REGIONS, consumer, emit, hours, turn
from tests.web.reading import read

pytestmark = pytest.mark.django_db


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
        pk = world.held("meet", "tw").pk
        page = read(visitor.get(f"/held/{pk}"))
        assert "Any key that maps here will do" in page.text
        assert page.links["Trigger prepare…"] == f"/trigger?dag=prepare&key=tw&back=%2Fheld%2F{pk}"

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
        assert "sum 2026-03-10 is waiting on 2 of 24: hours 09, 22; was due" in text

    def test_health_counts_them(self, visitor, late):
        assert "1 held run : a key that should have come is missing" in read(visitor.get("/health")).text


@pytest.mark.parametrize(("then", "does"), [("fire", "fires"), ("cancel", "is cancelled")])
def test_what_a_deadline_ends_says_when(visitor, then, does):
    deadline = {"wait_policy": {"type": "Deadline", "after": 6 * 3600, "then": then}}
    consumer("all", {"regional": REGIONS | deadline})
    now = timezone.now()
    emit("regional", "tw", at=now)
    turn(now)
    row = world.held("all", "all")
    end = f"{row.opened_at + timedelta(hours=6):%Y-%m-%d %H:%M:%S} UTC"
    for page in ("/held", f"/held?run={row.pk}", f"/held/{row.pk}"):
        words = f"waiting on 2 of 3: keys jp, us; {does} at {end} if nothing more comes"
        assert words in read(visitor.get(page)).text
