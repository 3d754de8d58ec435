"""The page of an asset: its partitions in squares."""

import pytest

from core.models import HeldRun
from scheduling import drawings, holds
from scheduling.algebra import specs
from scheduling.board import drawn
from scheduling.sdk import (
    DailyPartitions,
    DayWindow,
    IdentityMapper,
    MultiPartitions,
    ProductMapper,
    RollupMapper,
    StartOfDayMapper,
    StaticPartitions,
)
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, NOW, asset, consumer, emit, hours, turn
from tests.web.reading import read, squares

pytestmark = pytest.mark.django_db
BY_CITY_AND_DAY = specs.dump(
    ProductMapper(
        IdentityMapper(), RollupMapper(StartOfDayMapper(timezone="America/Los_Angeles"), DayWindow())
    )
)


class TestDrawing:
    """No page waits for the drawing of very many partitions."""

    def test_what_is_not_drawn_is_said_to_be_and_looked_for_again(self, visitor, monkeypatch):
        monkeypatch.setattr(drawn, "MOST_READ", 1)
        emit("daily", "2026-03-09", "2026-03-10")
        page = read(visitor.get("/assets/daily?zoom=2026-03&sel=*&state=failed&key=2026-03-09"))
        assert "Being drawn" in page.text
        assert "No partitions yet" not in page.text
        assert page.all("section", id="board")[0].attributes["data-live"] == "5"
        drawings.draw(now=NOW)
        assert squares(read(visitor.get("/assets/daily?zoom=2026-03")))["2026-03-09: materialized"]

    def test_many_changes_are_said_beside_what_was_drawn(self, visitor, monkeypatch):
        emit("daily", "2026-03-09")
        drawings.draw(now=NOW)
        monkeypatch.setattr(drawn, "MOST_PATCHES", 1)
        emit("daily", "2026-03-10", "2026-03-11")
        page = read(visitor.get("/assets/daily"))
        assert "have changed since this was drawn" in page.text
        assert list(squares(page)) == ["2026-03-09: materialized"]


class TestLate:
    def test_partitions_that_are_late_are_marked_and_counted(self, visitor):
        world.dag("ingest", {"type": "CronPartitionTimetable", "cron": "0 * * * *"}, writes=["hourly"])
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"], late_after=60)
        emit("hourly", *hours("2026-03-09", 1), *hours("2026-03-10", 1))
        turn()
        HeldRun.objects.filter(partition_key="2026-03-10").update(late_at=world.NOW)
        page = read(visitor.get("/assets/daily?key=2026-03-10"))
        assert "2026-03-10: held, late" in squares(page)
        assert "2026-03-09: held" in squares(page)
        assert page.links["1 late"] == "/held?late=yes&dag=sum"
        assert "sum late waiting on 23 of 24" in page.text
        assert "2026-03-10 held late" in read(visitor.get("/assets/daily?state=held")).text
        assert read(visitor.get("/")).links["1 late"] == "/assets/daily?state=held"
        assert "2026-03-10 late waiting on" in read(visitor.get("/dags/sum")).text

    def test_partitions_that_were_fired_without_some_keys_are_marked_and_counted(self, visitor):
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        emit("hourly", *hours("2026-03-09", 1))
        turn()
        run = world.start(holds.fire_now(world.held("sum", "2026-03-09"), deed=ALICE, at=NOW))
        world.finish(run, "daily", keys=["2026-03-09"])
        page = read(visitor.get("/assets/daily"))
        assert "2026-03-09: materialized, fired without some keys" in squares(page)
        assert page.links["1 fired without some keys"] == "?state=short"
        listed = read(visitor.get("/assets/daily?state=short")).text
        assert "2026-03-09 materialized fired without some keys" in listed


@pytest.mark.parametrize("key", ["2026-13-45", "0000-00-00", "2026-01-01T25", "9999-99-99", "2026-W99"])
def test_a_date_that_never_was_is_a_key_without_a_place_in_time(visitor, key):
    asset("daily", partitions=specs.dump(DailyPartitions("2026-01-01")))
    emit("daily", "2026-03-09", key)
    for query in ("", "?sel=*", "?zoom=2026-03", f"?key={key}"):
        assert visitor.get(f"/assets/daily{query}").status_code == 200
    assert key in read(visitor.get("/assets/daily?state=unexpected")).text


@pytest.mark.usefixtures("temperatures")
class TestBoard:
    def test_a_year_is_shown_by_days_to_look_into(self, visitor):
        page = read(visitor.get("/assets/hourly"))
        found = squares(page)
        assert found["2010-03-14: 22 materialized, 1 missing, 1 not in the definition"] == "?zoom=2010-03-14"
        assert len(page.squares) == 2 * 365
        assert "Mar 2010" in page.text

    def test_a_day_is_shown_by_hours_and_tells_the_flaw(self, visitor):
        found = squares(read(visitor.get("/assets/hourly?zoom=2010-03-14")))
        assert len(found) == 47  # 23 real hours of each city, and the one that never was
        assert "seattle|2010-03-14T02:00:00: materialized, not in the definition" in found
        assert "seattle|2010-03-14T03:00:00: missing" in found
        assert "sf|2010-03-14T02:00:00: missing" not in found

    def test_the_panel_of_a_key_that_is_not_in_the_definition_says_so(self, visitor):
        consumer("sum", {"hourly": BY_CITY_AND_DAY})
        turn()
        told = read(visitor.get("/assets/hourly?key=seattle|2010-03-14T02:00:00", follow=True)).text
        assert "materialized not in the definition data from" in told
        why = "02:00 never was on 2010-03-14 in America/Los_Angeles: the clocks went forward"
        assert f"sum seattle|2010-03-14 does not count this key: {why}" in told
        told = read(visitor.get("/assets/hourly?key=seattle|2010-03-14T04:00:00", follow=True)).text
        assert "not in the definition data from" not in told
        assert "does not count this key" not in told

    def test_a_square_keeps_the_rest_of_the_address(self, visitor):
        found = squares(read(visitor.get("/assets/hourly?zoom=2010-03-14&row=0&key=x")))
        key = "seattle%7C2010-03-14T03%3A00%3A00"
        assert found["seattle|2010-03-14T03:00:00: missing"] == f"?zoom=2010-03-14&row=0&key={key}"
        found = squares(read(visitor.get("/assets/hourly?key=x")))
        assert (
            found["2010-03-14: 22 materialized, 1 missing, 1 not in the definition"]
            == "?key=x&zoom=2010-03-14"
        )

    def test_the_chosen_square_is_marked(self, visitor):
        page = read(visitor.get("/assets/hourly?zoom=2010-03-14&key=seattle%7C2010-03-14T03:00:00"))
        chosen = [each for each in page.squares if each.attributes.get("aria-current")]
        assert [each.attributes["aria-label"] for each in chosen] == ["seattle|2010-03-14T03:00:00: missing"]

    def test_a_link_to_a_key_leads_to_where_its_square_is(self, visitor):
        address = "/assets/hourly?key=seattle%7C2010-03-14T03%3A00%3A00"
        answer = visitor.get(address)
        assert answer["Location"] == address.removeprefix("/assets/hourly") + "&zoom=2010-03-14"
        page = read(visitor.get(address, follow=True))
        chosen = [each for each in page.squares if each.attributes.get("aria-current")]
        assert [each.attributes["aria-label"] for each in chosen] == ["seattle|2010-03-14T03:00:00: missing"]
        assert page.links["All"] == "?key=seattle%7C2010-03-14T03%3A00%3A00&zoom="
        for asked in ("&zoom=", "&zoom=2010", "&state=missing", "&tab=events"):
            assert visitor.get(address + asked).status_code == 200
        assert visitor.part(address, "board").status_code == 200

    @pytest.mark.parametrize("asked", ["", "&row=100&state=missing", "&state=failed"])
    def test_links_to_a_part_of_the_board_are_not_led_on_to_the_square(self, visitor, asked):
        """Nor is what they lead to when it is loaded anew: all, a state that is chosen, and left again."""
        key = "?key=seattle%7C2010-03-14T03%3A00%3A00"
        links = read(visitor.get(f"/assets/hourly{key}&zoom={asked}")).links
        for way in {"22 materialized", "First", "Show all", "All"} & links.keys():
            page = read(visitor.get(f"/assets/hourly{links[way]}"))
            assert page.fields["key"] == "seattle|2010-03-14T03:00:00"
            assert read(visitor.get(f"/assets/hourly{page.links['22 materialized']}"))

    def test_the_first_page_of_a_grid_is_not_led_on_to_the_square(self, visitor):
        days = DailyPartitions("2026-03-09", end="2026-03-11")
        shops = StaticPartitions([f"shop{number}" for number in range(1100)])
        definition = MultiPartitions((("shop", shops), ("day", days)))
        asset("sales", partitions=specs.dump(definition))
        address = "/assets/sales?key=shop1077%7C2026-03-10"
        assert visitor.get(address)["Location"] == "?key=shop1077%7C2026-03-10&row=1000"
        links = read(visitor.get(address, follow=True)).links
        assert links["First"] == "?key=shop1077%7C2026-03-10&zoom="
        assert "Rows 1 to 500 of" in read(visitor.get(f"/assets/sales{links['First']}")).text

    def test_the_way_back_is_a_row_of_periods(self, visitor):
        links = read(visitor.get("/assets/hourly?zoom=2010-03-14")).links
        assert links["All"] == "?"
        assert links["2010-03"] == "?zoom=2010-03"
        assert links["‹ 2010-03-13"] == "?zoom=2010-03-13"
        assert links["2010-03-15 ›"] == "?zoom=2010-03-15"

    def test_the_stretches_of_the_bar_lead_inside(self, visitor):
        page = read(visitor.get("/assets/hourly"))
        march = next(
            each for each in page.all("a") if each.attributes.get("aria-label", "").startswith("Mar:")
        )
        assert march.attributes["href"] == "?zoom=2010-03"

    def test_every_count_leads_to_what_it_counts(self, visitor):
        links = read(visitor.get("/assets/hourly?zoom=2010-03-14")).links
        assert links["24 missing"] == "?zoom=2010-03-14&state=missing"
        listed = read(visitor.get("/assets/hourly?zoom=2010-03-14&state=missing"))
        assert len(listed.all("a", class_="key")) == 24

    def test_what_the_definition_does_not_have_is_listed(self, visitor):
        page = read(visitor.get("/assets/hourly?state=unexpected"))
        assert [each.text for each in page.all("a", class_="key")] == ["seattle|2010-03-14T02:00:00"]

    def test_what_it_does_not_have_is_counted_apart_and_in_its_own_period(self, visitor):
        links = read(visitor.get("/assets/hourly?zoom=2010-03-14")).links
        assert links["1 not in the definition"] == "?zoom=2010-03-14&state=unexpected"
        assert links["22 materialized"] == "?zoom=2010-03-14&state=materialized"
        listed = read(visitor.get("/assets/hourly?zoom=2010-03-14&state=materialized"))
        assert len(listed.all("a", class_="key")) == 22
        assert links["Select all 46 of 2010-03-14"]
        selected = read(
            visitor.get("/assets/hourly?zoom=2010-03-14" + "&sel=*|[2010-03-14...2010-03-14]")
        ).text
        assert "46 partitions selected" in selected
        elsewhere = read(visitor.get("/assets/hourly?zoom=2010-11-07")).links
        assert not [text for text in elsewhere if "not in the definition" in text]

    def test_long_lists_have_pages_newest_first(self, visitor):
        page = read(visitor.get("/assets/hourly?state=missing"))
        keys = [each.text for each in page.all("a", class_="key")]
        assert (len(keys), keys[0]) == (100, "sf|2010-12-31T23:00:00")
        following = read(visitor.get("/assets/hourly" + page.links["Next"]))
        assert not set(keys) & {each.text for each in following.all("a", class_="key")}

    @pytest.mark.parametrize(
        "query", ["zoom=nonsense", "zoom=../..", "state=nonsense", "row=-1", "row=x", "zoom=1999"]
    )
    def test_nonsense_in_the_address_is_survived(self, visitor, query):
        assert visitor.get(f"/assets/hourly?{query}").status_code == 200

    def test_a_page_is_small(self, visitor):
        for query in ("", "?zoom=2010-03", "?zoom=2010-03-14", "?state=missing"):
            assert len(visitor.get(f"/assets/hourly{query}").content) < 200_000, query
