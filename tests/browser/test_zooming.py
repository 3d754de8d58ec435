"""Looking inside a period of a board and going back, with the panel of a partition beside it."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.posting import post
from tests.installed import Installation

pytestmark = pytest.mark.browser


class TestZoom:
    def test_a_square_under_the_pointer_tells_more_after_a_moment(
        self, page: Page, installation: Installation
    ):
        post(installation, 3, day="2026-03-11")
        page.goto("/assets/hourly_sales?zoom=2026-03-11")
        page.locator('a.c[aria-label^="2026-03-11T03:00:00"]').hover()
        readout = page.locator("#readout")
        expect(readout).to_contain_text("2026-03-11T03:00:00: materialized")
        expect(readout).to_contain_text("data ")
        page.locator('a.c[aria-label^="2026-03-11T05:00:00"]').hover()
        expect(readout).to_contain_text("nothing has come")
        expect(readout).not_to_contain_text("03:00")

    def test_a_stretch_of_the_bar_leads_inside(self, page: Page):
        page.goto("/assets/hourly_sales")
        page.evaluate("window.notReloaded = true")
        page.locator('.bar.tall a[aria-label*="zoom to 2026-03-11"]').click()
        page.wait_for_url("**zoom=2026-03-11*")
        expect(page.locator("#board .crumbs b")).to_have_text("2026-03-11")
        assert page.evaluate("window.notReloaded")

    def test_plus_and_minus_and_the_wheel_look_inside_and_go_back(self, page: Page):
        here = page.locator("#board .crumbs b")
        page.goto("/assets/hourly_sales")
        page.locator('.bar.tall a[aria-label*="zoom to 2026-03-11"]').hover()
        page.keyboard.press("+")
        expect(here).to_have_text("2026-03-11")
        for period in ("2026-03", "2026", "All"):
            page.keyboard.press("-")
            expect(here).to_have_text(period)
        page.go_back()
        expect(here).to_have_text("2026")
        page.goto("/assets/hourly_sales")
        page.locator('.bar.tall a[aria-label*="zoom to 2026-03-11"]').hover()
        page.keyboard.down("Control")
        page.mouse.wheel(0, -100)
        page.keyboard.up("Control")
        expect(here).to_have_text("2026-03-11")


class TestClosing:
    """The panel of a partition is refreshed every few seconds; here it never is, as right after a click."""

    @pytest.fixture
    def beside(self, page: Page) -> Locator:
        page.goto("/assets/hourly_sales?zoom=2026-03-12&key=2026-03-12T03:00:00")
        page.evaluate("delete document.getElementById('panel').dataset.live")
        return page.get_by_role("complementary", name="Partition")

    def close(self, beside: Locator) -> None:
        beside.get_by_role("link", name="Close").click()
        expect(beside).to_contain_text("Choose a partition")

    def test_leaves_the_board_at_the_period_to_which_one_went(self, page: Page, beside: Locator):
        page.locator("#board .crumbs").get_by_role("link", name="All").click()
        expect(page.locator("#board .crumbs b")).to_have_text(["All"])
        self.close(beside)
        assert page.url.endswith("/assets/hourly_sales")

    def test_leaves_the_state_that_was_chosen(self, page: Page, beside: Locator):
        chip = page.get_by_role("navigation", name="States").get_by_role("link", name="missing")
        chip.click()
        expect(chip).to_have_attribute("aria-current", "true")
        self.close(beside)
        assert page.url.endswith("/assets/hourly_sales?zoom=2026-03-12&state=missing")

    def test_brings_no_state_back(self, page: Page, beside: Locator):
        page.get_by_role("navigation", name="States").get_by_role("link", name="missing").click()
        page.wait_for_url("**state=missing*")
        page.reload()
        page.evaluate("delete document.getElementById('panel').dataset.live")
        page.locator("#board .crumbs").get_by_role("link", name="All").click()
        expect(page.locator("#board .crumbs b")).to_have_text(["All"])
        self.close(beside)
        assert page.url.endswith("/assets/hourly_sales")
