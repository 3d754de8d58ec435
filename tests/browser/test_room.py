"""What has to be readable at common widths: keys, totals, the menu, what stands at the side."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.posting import post, post_key
from tests.installed import Installation

pytestmark = pytest.mark.browser

BROKEN_KEYS = """() => [
  ...document.querySelectorAll(".rows :is(td, th) .key:not(.prose)"),
  ...document.querySelectorAll(".owed .key, .notices .key, .offer .key, #panel .pictures .key"),
  ...document.querySelectorAll(".field .hint code"),
  ...document.querySelectorAll(".whole"),
].filter((key) => {
  const range = document.createRange();
  range.selectNodeContents(key);
  return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1;
}).map((key) => key.innerText)"""
"""The keys in lists whose letters stand on more than one line."""

PAST_THE_EDGE = """() => document.documentElement.scrollWidth - document.documentElement.clientWidth"""

TOTALS_IN_SIGHT = """() => {
  const edge = document.querySelector(".gridbox").getBoundingClientRect().right;
  const totals = [...document.querySelectorAll(".grid td.sum")];
  return totals.map((total) => total.getBoundingClientRect().right <= edge);
}"""

SHADE = """() => Number(getComputedStyle(document.querySelector(".gridbox"), "::after").opacity)"""

SHADE_BY_TOTALS = (
    """() => Number(getComputedStyle(document.querySelector(".grid td.sum"), "::before").opacity)"""
)

EDGES = """(box) => ["::before", "::after"].map((edge) => Number(getComputedStyle(box, edge).opacity))"""

REFRESH = """() => new Promise((done) => {
  document.addEventListener("htmx:afterSettle", done, { once: true });
  htmx.trigger("#board", "refresh");
})"""

PLAN = "/backfills/new?dag=sum_up_sales&selection=[2026-03-09...2026-03-15]&each=yes"


@pytest.fixture(scope="module", autouse=True)
def held_days(installation: Installation) -> None:
    """Two days of which some hours are there, so that lists have keys and reasons."""
    post(installation, 1, 2)
    post(installation, 0, 5, 7, 11, 13, 17, 19, day="2026-03-12")
    installation.wait_for(lambda: _is_held(installation))


class TestKeys:
    @pytest.mark.parametrize("width", [390, 1280, 1440])
    @pytest.mark.parametrize("path", ["/", "/held", "/journal", "/assets/hourly_sales?tab=events", PLAN])
    def test_stand_on_one_line(self, page: Page, path: str, width: int):
        page.set_viewport_size({"width": width, "height": 860})
        page.goto(path)
        page.locator(".rows :is(td, th) .key:not(.prose)").first.wait_for()
        assert page.evaluate(BROKEN_KEYS) == []
        assert page.evaluate(PAST_THE_EDGE) == 0

    @pytest.mark.parametrize("width", [390, 1440])
    def test_stand_on_one_line_where_a_plan_offers_to_make_them(self, page: Page, width: int):
        page.set_viewport_size({"width": width, "height": 860})
        page.goto("/backfills/new?dag=sum_up_visits&selection=2026-03-09&run=all")
        expect(page.locator(".offer")).to_contain_text("count_visits would make 24 keys first")
        assert page.locator(".offer .key").count() == 6
        expect(page.locator(".offer")).to_contain_text("and 18 more")
        assert page.evaluate(BROKEN_KEYS) == []

    @pytest.mark.parametrize("width", [390, 1100, 1440])
    def test_examples_of_a_form_stand_on_one_line(self, page: Page, width: int):
        page.set_viewport_size({"width": width, "height": 860})
        page.goto("/backfills/new")
        page.locator(".field .hint code").first.wait_for()
        assert page.evaluate(BROKEN_KEYS) == []
        assert page.evaluate(PAST_THE_EDGE) == 0


class TestSentences:
    @pytest.mark.parametrize("width", [390, 1440])
    def test_of_the_journal_break_a_long_key(self, page: Page, installation: Installation, width: int):
        post_key(installation, "x" * 250, {})
        page.set_viewport_size({"width": width, "height": 860})
        page.goto("/journal?event=failed+to+map+partition_key")
        expect(page.locator("#rows small", has_text="xxxx").first).to_be_attached()
        assert page.evaluate(PAST_THE_EDGE) == 0

    @pytest.mark.parametrize("width", [390, 1440])
    def test_keep_a_key_on_one_line(self, page: Page, width: int):
        page.set_viewport_size({"width": width, "height": 860})
        for path in ("/assets/hourly_sales?zoom=2026-03-09", "/backfills/new?dag=sum_up_sales&selection=sf"):
            page.goto(path)
            assert page.evaluate(BROKEN_KEYS) == []
            assert page.evaluate(PAST_THE_EDGE) == 0


class TestGrid:
    @pytest.mark.parametrize("width", [1100, 1280])
    def test_totals_of_rows_are_in_sight(self, page: Page, width: int):
        page.set_viewport_size({"width": width, "height": 860})
        page.goto("/assets/stock_lists")
        in_sight = page.evaluate(TOTALS_IN_SIGHT)
        assert in_sight
        assert all(in_sight)


class TestGridOnAPhone:
    """It scrolls in its own box, under its heads; a shade says that it goes on."""

    @pytest.mark.parametrize("path", ["/assets/hourly_sales", "/assets/stock_lists"])
    def test_the_page_stays_where_it_is(self, page: Page, path: str):
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(path)
        assert page.evaluate(PAST_THE_EDGE) == 0
        box = page.locator(".gridbox")
        head = box.locator("tbody th[scope=row]").first
        place = head.bounding_box()
        assert self.shade(page) == 1
        box.evaluate("box => box.scrollBy(120, 0)")
        assert head.bounding_box()["x"] == place["x"]
        box.evaluate("box => box.scrollBy(9999, 0)")
        # The offset of the last frame counts, not that of this moment.
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert self.shade(page) == 0
        assert head.bounding_box()["x"] == place["x"]
        assert box.locator("td.sum a").first.bounding_box()["x"] < 390

    def test_a_wide_one_is_shaded_in_a_wide_window_too(self, page: Page):
        page.set_viewport_size({"width": 740, "height": 844})
        page.goto("/assets/stock_lists")
        assert page.locator(".gridbox").evaluate("box => box.scrollWidth > box.clientWidth")
        assert page.evaluate(SHADE_BY_TOTALS) == 1

    @pytest.mark.parametrize("asked", ["sel=2026-03-28", "key=2026-03-28"])
    def test_what_is_asked_for_is_brought_into_sight_once(self, page: Page, asked: str):
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(f"/assets/stock_lists?{asked}")
        box, cell = page.locator(".gridbox"), page.locator(".grid a.c:is(.on, [aria-current])")
        assert box.bounding_box()["x"] < cell.bounding_box()["x"] < 380
        box.evaluate("box => box.scrollTo(0, 0)")
        page.evaluate(REFRESH)
        assert box.evaluate("box => box.scrollLeft") == 0

    def test_a_picture_of_lineage_is_shaded_at_the_edges_beyond_which_it_goes_on(self, page: Page):
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto("/assets/daily_sales?tab=lineage")
        picture = page.locator(".sideways")
        for at, shades in ((0, [0, 1]), (9999, [1, 0])):
            picture.evaluate("(box, at) => box.scrollTo(at, 0)", at)
            page.evaluate(
                "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
            assert picture.evaluate(EDGES) == shades

    def test_a_grid_that_fits_has_no_shade(self, page: Page):
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto("/assets/shelves")
        assert self.shade(page) == 0

    def shade(self, page: Page) -> float:
        return page.evaluate(SHADE)


class TestSide:
    def test_a_dag_page_clips_no_card(self, page: Page):
        page.set_viewport_size({"width": 1280, "height": 500})
        page.goto("/dags/sum_up_sales")
        clipped = page.locator("main aside").evaluate("aside => aside.scrollHeight - aside.clientHeight")
        assert clipped == 0


class TestMenu:
    def test_stays_where_it_is_from_page_to_page(self, page: Page):
        places = set()
        for path in ("/", "/held", "/dags", "/journal"):
            page.goto(path)
            links = page.get_by_role("navigation", name="Pages").get_by_role("link").all()
            places.add(tuple(link.bounding_box()["x"] for link in links))
        assert len(places) == 1


def _is_held(installation: Installation) -> bool:
    held = installation.request("GET", "/api/v2/heldRuns?dag_id=sum_up_sales")[1]
    return held["total_entries"] >= 2
