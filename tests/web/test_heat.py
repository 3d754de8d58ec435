"""Squares tinted by a number that events brought with them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import AssetEvent
from scheduling import events
from scheduling.algebra import specs
from scheduling.events import EventReport
from scheduling.sdk import HourlyPartitions
from tests.engine import world
from tests.engine.world import ALICE, NOW, hours
from tests.web.reading import read

pytestmark = pytest.mark.django_db

SECONDS = "%Y-%m-%dT%H:%M:%S"
YEAR = HourlyPartitions(start="2025-06-01", end="2026-06-01", key_format=SECONDS)
MOST_BYTES = 200_000
SHORT = "2026-03-02T05:00:00"


def report(name, rows_of):
    asset = world.asset(name)
    reports = [EventReport(asset, key, {"rows": rows, "city": "sf"}) for key, rows in rows_of.items()]
    events.register_events(reports, source=AssetEvent.Source.API, deed=ALICE, at=NOW)
    return asset


@pytest.fixture
def sales(db):
    """A month of hours, each with its rows; one of them is far too short."""
    world.asset("sales", partitions=specs.dump(YEAR))
    keys = [key for day in range(1, 32) for key in hours(f"2026-03-{day:02}", *range(24))]
    return report("sales", {key: 1000 + at for at, key in enumerate(keys)} | {SHORT: -9000})


def classes(page):
    return {each.attributes["aria-label"]: each.attributes["class"].split() for each in page.squares}


@pytest.mark.usefixtures("sales")
class TestHeat:
    def test_the_numbers_of_what_is_shown_can_be_chosen(self, visitor):
        page = read(visitor.get("/assets/sales?zoom=2026-03"))
        assert page.links["rows"] == "?zoom=2026-03&heat=rows"
        assert "city" not in page.links
        assert not page.all("svg", class_="plot")
        assert classes(page)["2026-03-01T00:00:00: materialized"] == ["c", "m"]

    def test_squares_are_tinted_and_say_the_number(self, visitor):
        found = classes(read(visitor.get("/assets/sales?zoom=2026-03&heat=rows")))
        assert found["2026-03-01T00:00:00: materialized, rows 1,000"] == ["c", "m", "q1"]
        assert found["2026-03-31T23:00:00: materialized, rows 1,743"] == ["c", "m", "q6"]

    def test_one_far_out_has_a_corner_and_is_counted_in_a_link_that_selects_it(self, visitor):
        page = read(visitor.get("/assets/sales?zoom=2026-03&heat=rows"))
        assert classes(page)[f"{SHORT}: materialized, rows -9,000, far out"] == ["c", "m", "q1", "o"]
        page = read(visitor.get("/assets/sales" + page.links["1 far out"]))
        chosen = {words: look for words, look in classes(page).items() if "on" in look}
        assert list(chosen) == [f"{SHORT}: materialized, selected, rows -9,000, far out"]

    def test_a_plot_says_the_least_the_median_and_the_most(self, visitor):
        page = read(visitor.get("/assets/sales?zoom=2026-03&heat=rows"))
        [plot] = page.all("svg", class_="plot")
        assert plot.attributes["aria-label"] == "rows: least -9,000, median 1,371.5, most 1,743"
        assert plot.attributes["viewbox"] == "0 -4 744 108"
        assert "style" not in plot.attributes
        assert "rows of 744 partitions: least -9,000, median 1,371.5, most 1,743" in page.text

    def test_what_has_no_data_stays_as_it_is(self, visitor):
        found = classes(read(visitor.get("/assets/sales?zoom=2026-04&heat=rows")))
        assert found["2026-04-01T00:00:00: missing"] == ["c", "n"]
        beside = classes(read(visitor.get("/assets/sales?zoom=2026&heat=rows")))
        assert not any(look[-1].startswith("q") for look in beside.values())

    def test_zoomed_out_nothing_is_tinted_and_it_is_said_where_it_would_be(self, visitor):
        visitor.get("/assets/sales?heat=rows")
        with CaptureQueriesContext(connection) as queries:
            answer = visitor.get("/assets/sales?heat=rows")
        [looked] = [each["sql"] for each in queries if '"core_partition"."extra"' in each["sql"]]
        assert looked.endswith("LIMIT 5")
        assert "Tint by" not in read(answer).text
        assert "Partitions here bring numbers ( rows )" in read(answer).text
        assert len(answer.content) <= MOST_BYTES

    def test_the_page_of_a_month_of_hours_stays_light(self, visitor):
        page = visitor.get("/assets/sales?zoom=2026-03&heat=rows")
        assert len(classes(read(page))) == 744
        assert len(page.content) <= MOST_BYTES

    def test_it_costs_one_query_however_much_is_shown(self, visitor):
        counts = set()
        for zoom in ("2026-03-02", "2026-03"):
            address = f"/assets/sales?zoom={zoom}&heat=rows"
            visitor.get(address)
            with CaptureQueriesContext(connection) as queries:
                visitor.get(address)
            counts.add(len(queries))
            assert len([each for each in queries if '"core_partition"."extra"' in each["sql"]]) == 1
        assert len(counts) == 1

    def test_the_part_that_is_polled_is_tinted_too_and_typing_keeps_it(self, visitor):
        page = read(visitor.part("/assets/sales?zoom=2026-03&heat=rows", "board"))
        assert "q6" in classes(page)["2026-03-31T23:00:00: materialized, rows 1,743"]
        [kept] = [each for each in page.all("input") if each.attributes.get("name") == "heat"]
        assert kept.attributes["value"] == "rows"


class TestNothingToTint:
    def test_events_without_numbers_offer_nothing(self, visitor):
        report("names", {"2026-03-01": "many", "2026-03-02": None})
        assert "Tint by" not in read(visitor.get("/assets/names?heat=rows")).text

    def test_a_long_name_is_not_repeated_in_every_square(self, visitor):
        asset, name = world.asset("odd"), "rows" * 50
        told = [EventReport(asset, key, {name: 1}) for key in hours("2026-03-10", *range(24))]
        events.register_events(told, source=AssetEvent.Source.API, deed=ALICE, at=NOW)
        found = classes(read(visitor.get("/assets/odd", {"heat": name})))
        assert f"2026-03-10T07:00:00: materialized, {name[:40]} 1" in found

    def test_a_name_is_escaped_wherever_it_stands(self, visitor):
        asset, name = world.asset("odd"), '<b>"&x'
        told = [EventReport(asset, f"2026-03-{day:02}", {name: day}) for day in range(1, 10)]
        events.register_events(told, source=AssetEvent.Source.API, deed=ALICE, at=NOW)
        answer = visitor.get("/assets/odd", {"heat": name})
        assert b"<b>&quot;" not in answer.content
        assert b'<b>"' not in answer.content
        assert f"2026-03-09: materialized, {name} 9" in classes(read(answer))
