"""The pages of Dags: when each runs, how it went, what it reads and writes."""

from datetime import timedelta

import pytest
from django.utils import timezone

from core.models import JournalEntry, Pool
from scheduling import claims, runs, ticks
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, LOCAL_DAY, NOW, consumer, emit, hours, turn
from tests.web.reading import read

pytestmark = pytest.mark.django_db


class TestList:
    def test_says_when_each_runs_and_how_it_went(self, visitor):
        made = consumer("sum", {"hourly": HOURS_TO_DAY})
        runs.trigger(made, Ask("2026-03-09"), deed=ALICE, at=NOW)
        page = read(visitor.get("/dags"))
        assert "when all hours of hourly have arrived" in page.text
        assert page.links["sum"] == "/dags/sum"
        [square] = [each for each in page.all("a") if each.attributes.get("class") == "c u"]
        assert square.attributes["aria-label"] == "2026-03-09: queued"

    def test_is_filtered_by_name(self, visitor):
        world.dag("nightly")
        world.dag("hourly")
        assert "nightly" not in read(visitor.get("/dags?q=hour")).links

    def test_is_narrowed_to_a_tag_which_its_rows_show(self, visitor):
        world.dag("nightly", tags=["sales", "slow"])
        world.dag("report", tags=["sales"])
        page = read(visitor.get("/dags?tag=slow"))
        assert "nightly" in page.links
        assert "report" not in page.links
        assert page.links["sales"] == "/dags?tag=sales"
        assert "No Dag tagged quick" in read(visitor.get("/dags?tag=quick")).text

    def test_is_narrowed_to_those_that_are_paused_or_failing(self, visitor):
        world.dag("asleep", is_paused=True)
        broken, mended = world.dag("broken"), world.dag("mended")
        for made in (broken, mended):
            claims.fail(world.start(runs.trigger(made, Ask(), deed=ALICE, at=NOW)), "no paper", at=NOW)
        world.finish(world.start(runs.trigger(mended, Ask(), deed=ALICE, at=NOW)))
        runs.trigger(broken, Ask(), deed=ALICE, at=NOW)
        for show, name in (("paused", "asleep"), ("failing", "broken")):
            links = read(visitor.get(f"/dags?show={show}")).links
            assert {"asleep", "broken", "mended"} & set(links) == {name}

    def test_an_empty_list_teaches(self, visitor):
        assert "No Dags yet" in read(visitor.get("/dags")).text

    def test_a_dag_that_is_gone_is_left_out_but_has_a_page(self, visitor):
        world.dag("old", is_active=False)
        assert "old" not in read(visitor.get("/dags")).links
        assert "not defined any more" in read(visitor.get("/dags/old")).text


class TestDag:
    def test_tells_its_next_ticks_with_their_keys(self, visitor):
        world.dag("nightly", LOCAL_DAY)
        page = read(visitor.get("/dags/nightly"))
        keys = [each.text for each in page.all("span", class_="key")]
        assert len(keys) == len(set(keys)) == 5

    def test_leads_to_the_plan_of_a_backfill_if_its_runs_have_keys(self, visitor):
        world.dag("nightly", LOCAL_DAY)
        world.dag("report")
        assert read(visitor.get("/dags/nightly")).links["Backfill…"] == "/backfills/new?dag=nightly"
        assert "Backfill…" not in read(visitor.get("/dags/report")).links

    def test_tells_who_does_the_work_how_often_and_for_how_long(self, visitor):
        pool = Pool.objects.create(name="sftp", slots=4, created_at=NOW, updated_at=NOW)
        world.dag(
            "load",
            pool=pool,
            pool_slots=2,
            retries=3,
            retry_delay=timedelta(minutes=10),
            run_timeout=timedelta(hours=2),
            executor="webhook",
            executor_terms={"url": "https://etl.example.org/load"},
        )
        text = read(visitor.get("/dags/load")).text
        assert "sftp 2 of 4 slots for each run" in text
        assert "by https://etl.example.org/load" in text
        assert "3 more attempts, the first 10 min later" in text
        assert "Takes at most 2 h" in text
        world.dag("train", executor="external")
        assert "by whoever claims its runs" in read(visitor.get("/dags/train")).text

    def test_tells_what_it_holds_and_for_what(self, visitor):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours("2026-03-10", *range(23)))
        turn()
        page = read(visitor.get("/dags/sum"))
        assert "waiting on 1 of 24: hour 23" in page.text
        assert page.links["1"] == "/held?dag=sum"

    def test_tells_problems_of_its_definition(self, visitor):
        problem = {"code": "x", "level": "warning", "sentence": "two hours have one name"}
        world.dag("nightly", LOCAL_DAY, problems=[problem])
        assert "Warning: two hours have one name" in read(visitor.get("/dags/nightly")).text

    def test_tells_what_it_reads_and_writes(self, visitor):
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        page = read(visitor.get("/dags/sum"))
        assert page.links["hourly"] == "/assets/hourly"
        assert page.links["daily"] == "/assets/daily"
        assert "through RollupMapper" in page.text

    def test_tells_what_nobody_writes_or_has_reported(self, visitor):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        words = "no Dag writes it; no event has come"
        assert words in read(visitor.get("/dags/sum")).text
        world.dag("ingest", {"type": "PartitionedAtRuntime"}, writes=["hourly"], is_active=False)
        assert words in read(visitor.get("/dags/sum")).text
        emit("hourly", *hours("2026-03-10", 1))
        assert words not in read(visitor.get("/dags/sum")).text

    def test_one_whose_definition_is_broken_has_a_page(self, visitor):
        world.dag("broken", {"type": "Nonsense"})
        page = read(visitor.get("/dags/broken"))
        assert "Nonsense" in page.text
        assert "Its runs have no partition key" in page.text


class TestPause:
    def test_pauses_and_runs_again(self, visitor):
        made = world.dag("nightly", LOCAL_DAY)
        visitor.post("/pause", {"dag": "nightly", "paused": "yes"})
        made.refresh_from_db()
        assert made.is_paused
        assert "Unpause" in read(visitor.get("/dags/nightly")).text
        visitor.post("/pause", {"dag": "nightly", "paused": "no"})
        made.refresh_from_db()
        assert not made.is_paused
        assert list(JournalEntry.objects.order_by("pk").values_list("event", "by", "via")) == [
            ("dag paused", "operator", "web"),
            ("dag unpaused", "operator", "web"),
        ]

    def test_a_link_cannot_do_it(self, visitor):
        world.dag("nightly", LOCAL_DAY)
        assert visitor.get("/pause?dag=nightly").status_code == 405


class TestMakingUp:
    @pytest.fixture
    def paused(self, db):
        hourly = {"type": "CronPartitionTimetable", "cron": "0 * * * *"}
        since = timezone.now() - timedelta(hours=3)
        return world.dag("ingest", hourly, is_paused=True, ticked_until=since, start_date=since)

    def test_the_page_offers_it_with_the_number_of_runs(self, visitor, paused):
        assert "Make up 3 missed runs: " in read(visitor.get("/dags/ingest")).text

    def test_nothing_is_offered_where_nothing_was_missed(self, visitor, paused):
        world.Dag.objects.update(ticked_until=timezone.now())
        assert "Make up" not in read(visitor.get("/dags/ingest")).text

    @pytest.mark.parametrize("asked", [True, False])
    def test_is_done_if_it_is_asked_for(self, visitor, paused, asked):
        more = {"make_up": "yes"} if asked else {}
        visitor.post("/pause", {"dag": "ingest", "paused": "no", **more})
        ticks.advance(now=timezone.now())
        assert paused.runs.count() == (3 if asked else 0)
        entry = JournalEntry.objects.get(event="dag unpaused")
        assert entry.extra == {"ticks_made_up" if asked else "ticks_passed_over": 3}
