"""On the page of an asset: partitions that somebody selects, and one value of a dimension."""

import pytest

from tests.engine import world
from tests.web.reading import read, squares

pytestmark = pytest.mark.django_db


@pytest.mark.usefixtures("temperatures")
class TestSelection:
    DAY = "/assets/hourly?zoom=2010-03-14"
    THREE = "seattle|[2010-03-14T01:00:00...2010-03-14T04:00:00]"

    def test_is_said_in_words_and_drawn(self, visitor):
        page = read(visitor.get(self.DAY, {"zoom": "2010-03-14", "sel": self.THREE}))
        assert "3 partitions selected" in page.text
        assert "seattle|2010-03-14T01:00:00: materialized, selected" in squares(page)
        assert "sf|2010-03-14T01:00:00: missing" in squares(page)

    def test_leads_to_the_plan_of_its_backfill(self, visitor):
        world.dag("measure", {"type": "PartitionedAtRuntime"}, writes=["hourly"])
        page = read(visitor.get("/assets/hourly", {"sel": self.THREE, "only": "missing"}))
        address = page.links["Backfill…"]
        assert address.startswith("/backfills/new?asset=hourly&selection=seattle%7C%5B2010-03-14T01")
        assert address.endswith("&run=missing")
        assert "1 to run, 2 skipped" in read(visitor.get(address)).text

    def test_one_key_can_be_triggered(self, visitor):
        world.dag("measure", {"type": "PartitionedAtRuntime"}, writes=["hourly"])
        page = read(visitor.get("/assets/hourly", {"sel": "sf|2010-03-14T05:00:00"}))
        assert page.links["Trigger measure…"] == "/trigger?dag=measure&key=sf%7C2010-03-14T05%3A00%3A00"
        assert "Trigger measure…" not in read(visitor.get("/assets/hourly", {"sel": self.THREE})).links

    def test_one_key_is_not_triggered_twice_where_its_panel_is_open(self, visitor):
        world.dag("measure", {"type": "PartitionedAtRuntime"}, writes=["hourly"])
        key = "sf|2010-03-14T05:00:00"
        both = {"sel": key, "key": key, "zoom": "2010-03-14"}
        for shown, count in ((both, 1), (both | {"key": "sf|2010-03-14T06:00:00"}, 2)):
            page = read(visitor.get("/assets/hourly", shown))
            assert [each.text for each in page.all("a")].count("Trigger measure…") == count

    def test_an_asset_that_nothing_writes_has_nothing_to_backfill(self, visitor):
        page = read(visitor.get("/assets/hourly", {"sel": self.THREE}))
        assert "nothing to backfill" in page.text
        assert "Backfill…" not in page.links

    def test_what_is_wrong_is_pointed_at_and_kept_to_be_mended(self, visitor):
        page = read(visitor.get("/assets/hourly", {"sel": "<img src=x>|["}))
        assert page.fields["sel"] == "<img src=x>|["
        assert "character" in page.text
        assert not page.all("img")

    def test_without_one_the_way_to_all_is_offered(self, visitor):
        links = read(visitor.get(self.DAY)).links
        address = next(address for words, address in links.items() if words.startswith("Select all"))
        text = read(visitor.get("/assets/hourly" + address)).text
        assert "46 partitions selected" in text  # the hour that never was is none of them

    def test_where_a_list_stands_for_squares_nothing_is_to_be_dragged(self, visitor):
        assert "Drag over squares" in read(visitor.get(self.DAY)).text
        listed = read(visitor.get(f"{self.DAY}&state=missing")).text
        assert "Drag over squares" not in listed
        assert "Type what to select" in listed

    def test_of_a_list_by_state_just_those_are_offered(self, visitor):
        page = read(visitor.get("/assets/hourly?state=missing"))
        words, address = next(each for each in page.links.items() if each[0].startswith("Select the"))
        assert address == "?state=missing&sel=%2A&only=missing"
        assert "missing ones of" in read(visitor.get("/assets/hourly" + address)).text
        assert words.endswith(" missing")


@pytest.mark.usefixtures("temperatures")
class TestSlice:
    """One value of a dimension: the bar, the grid, the counts and the list are of it alone."""

    def test_narrows_all_that_is_shown(self, visitor):
        page = read(visitor.get("/assets/hourly?in.city=seattle&zoom=2010-03-14"))
        assert len(squares(page)) == 24
        assert "sf|2010-03-14T01:00:00: missing" not in squares(page)
        assert page.links["1 missing"] == "?in.city=seattle&zoom=2010-03-14&state=missing"
        assert page.links["Select all 23 of 2010-03-14"].endswith(
            "sel=seattle%7C%5B2010-03-14...2010-03-14%5D"
        )
        listed = read(visitor.get("/assets/hourly?in.city=seattle&zoom=2010-03-14&state=missing"))
        assert [each.text for each in listed.all("a", class_="key")] == ["seattle|2010-03-14T03:00:00"]

    def test_what_is_selected_of_all_is_shown_in_it(self, visitor):
        page = read(visitor.get("/assets/hourly?in.city=sf&zoom=2010-03-14&sel=*|2010-03-14T05:00:00"))
        assert "2 partitions selected" in page.text
        assert [key for key in squares(page) if key.endswith("selected")] == [
            "sf|2010-03-14T05:00:00: missing, selected"
        ]

    def test_is_offered_and_a_value_that_is_none_is_refused_in_words(self, visitor):
        page = read(visitor.get("/assets/hourly?in.city=paris&zoom=2010-03-14"))
        assert [each.text for each in page.all("option")] == ["all", "seattle", "sf"]
        assert "There is no city paris : all are shown" in page.text
        assert len(squares(page)) == 47
