import pytest

from core.models import Asset
from scheduling import drawings
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY, IDENTITY, consumer, emit, turn
from tests.web.reading import read

pytestmark = pytest.mark.django_db
DAYS = {"type": "TimePartitions", "cadence": "day", "start": "2026-03-01", "end": "2026-03-11"}


class TestEvents:
    def test_are_listed_newest_first_and_linked(self, visitor):
        emit("sales", "2026-03-01", "2026-03-02", None)
        page = read(visitor.get("/assets/sales?tab=events"))
        keys = [text for text in page.links if text.startswith("2026-03")]
        assert keys == ["2026-03-02", "2026-03-01"]
        assert page.links["2026-03-01"] == "/assets/sales?key=2026-03-01"
        assert "no key: no partition-aware Dag counts it" in page.text

    def test_that_wait_to_be_counted_say_so(self, visitor):
        emit("sales", "2026-03-01")
        assert "not counted yet" in read(visitor.get("/assets/sales?tab=events")).text
        turn()
        assert "not counted yet" not in read(visitor.get("/assets/sales?tab=events")).text

    def test_are_narrowed_and_paged(self, visitor):
        emit("sales", *(f"k{number:02}" for number in range(60)))
        page = read(visitor.get("/assets/sales?tab=events"))
        assert "k09" not in page.links
        older = read(visitor.get(f"/assets/sales{page.links['Older']}"))
        assert "k09" in older.links
        narrowed = read(visitor.get("/assets/sales?tab=events&contains=09"))
        assert "k09" in narrowed.links
        assert "k10" not in narrowed.links
        assert "No event matches" in read(visitor.get("/assets/sales?tab=events&contains=none")).text

    def test_are_polled_alone(self, visitor):
        emit("sales", "k")
        page = read(visitor.part("/assets/sales?tab=events", "events"))
        assert page.elements[0].attributes["id"] == "events"

    def test_none_yet_teaches(self, visitor):
        world.asset("sales")
        assert (
            "An event says that a partition has changed" in read(visitor.get("/assets/sales?tab=events")).text
        )


class TestDefinition:
    def test_is_told_in_words_with_its_ends(self, visitor):
        world.asset("sales", partitions=DAYS)
        page = read(visitor.get("/assets/sales?tab=definition"))
        assert page.links["2026-03-01"] == "?key=2026-03-01"
        assert page.links["2026-03-10"] == "?key=2026-03-10"
        assert "Keys now 10" in page.text

    def test_names_who_writes_and_who_reads_it(self, visitor):
        world.dag("make", writes=["hourly"])
        consumer("sum", {"hourly": HOURS_TO_DAY})
        page = read(visitor.get("/assets/hourly?tab=definition"))
        assert page.links["make"] == "/dags/make"
        assert "sum through RollupMapper" in page.text

    def test_without_one_says_what_counts(self, visitor):
        world.asset("sales")
        page = read(visitor.get("/assets/sales?tab=definition"))
        assert "It has no definition of its own" in page.text
        assert "no Dag here: its events come from outside" in page.text

    def test_that_cannot_be_read_is_shown(self, visitor):
        world.asset("sales")
        Asset.objects.update(partitions={"type": "Gone"})
        assert "Gone" in read(visitor.get("/assets/sales?tab=definition")).text


def test_an_unknown_tab_is_the_first(visitor):
    world.asset("sales")
    page = read(visitor.get("/assets/sales?tab=nonsense"))
    assert page.all("a", **{"aria-current": "page"})[-1].text == "Partitions"


class TestLineage:
    def test_leads_to_each_asset_and_dag_and_tells_how_it_stands(self, visitor):
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        emit("hourly", "2026-03-10T01:00:00", "2026-03-10T02:00:00")
        page = read(visitor.get("/assets/daily?tab=lineage"))
        cards = [each for each in page.all("a") if "card" in each.attributes.get("class", "")]
        assert {each.attributes["aria-label"]: each.attributes["href"] for each in cards} == {
            "hourly: 2 materialized; from 2026-03-10T01 to 2026-03-10T02": "/assets/hourly?tab=lineage",
            "Dag sum": "/dags/sum",
            "daily: no partitions": "/assets/daily?tab=lineage",
        }
        assert [each.attributes["aria-label"] for each in cards if "aria-current" in each.attributes] == [
            "daily: no partitions"
        ]
        assert len(page.all("path", class_="line")) == 2
        assert visitor.part("/assets/daily?tab=lineage", "lineage").status_code == 200

    def test_of_what_stands_alone_says_so(self, visitor):
        emit("alone", "k")
        text = read(visitor.get("/assets/alone?tab=lineage")).text
        assert "No Dag here writes alone or listens to it." in text

    def test_says_where_it_goes_on_and_leads_there(self, visitor):
        for number in range(1, 10):
            consumer(f"make {number}", {f"a{number - 1}": IDENTITY}, writes=[f"a{number}"])
        page = read(visitor.get("/assets/a4?tab=lineage"))
        onwards = {
            each.attributes["aria-label"]: each.attributes["href"] for each in page.all("a", class_="onwards")
        }
        assert onwards == {
            "upstream of a1 it goes on": "/assets/a1?tab=lineage",
            "downstream of a7 it goes on": "/assets/a7?tab=lineage",
        }

    def test_of_too_many_beside_it_leads_to_a_list(self, visitor, monkeypatch):
        monkeypatch.setattr("scheduling.board.lineages.MOST_NODES", 2)
        for number in range(3):
            consumer(f"read {number}", {"a": IDENTITY}, writes=[f"b{number}"])
        page = read(visitor.get("/assets/a?tab=lineage"))
        assert [each.attributes["href"] for each in page.all("a", class_="onwards")] == [
            "/assets/a?tab=definition",
            "/dags/read%200",
        ]

    def test_of_what_is_being_drawn_says_so(self, visitor, monkeypatch):
        monkeypatch.setattr("scheduling.board.drawn.MOST_READ", 1)
        emit("hourly", "2026-03-10T01:00:00", "2026-03-10T02:00:00")
        page = read(visitor.get("/assets/hourly?tab=lineage"))
        [card] = page.all("a", class_="card on")
        assert card.attributes["aria-label"] == "hourly: being drawn"
        assert "being drawn" in card.text

    def test_and_of_what_shows_less_than_there_is(self, visitor, monkeypatch):
        monkeypatch.setattr("scheduling.board.drawn.MOST_PATCHES", 1)
        emit("hourly", "2026-03-10T01:00:00")
        drawings.draw(now=world.NOW)
        emit("hourly", "2026-03-10T02:00:00", "2026-03-10T03:00:00")
        [card] = read(visitor.get("/assets/hourly?tab=lineage")).all("a", class_="card on")
        assert card.attributes["aria-label"].endswith("; older than the data, being drawn")
