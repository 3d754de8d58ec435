"""What a page shows after a deed that was done in a dialog on it: as if it were loaded again."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.installed import Installation

pytestmark = pytest.mark.browser


def begin(page: Page, dag: str, selection: str) -> None:
    page.goto(f"/backfills/new?dag={dag}&selection={selection}&run=all")
    page.get_by_role("button", name="Start backfill").click()
    page.wait_for_url(re.compile(r"/backfills/\d+$"))
    page.evaluate("window.notReloaded = true")


def do(page: Page, link: str, button: str) -> None:
    page.get_by_role("link", name=link).click()
    page.get_by_role("dialog").get_by_role("button", name=button).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def state(page: Page, word: str) -> None:
    expect(page.locator("#now h2 [role=status]")).to_have_text(word)


class TestEnded:
    """What has ended is not polled any more, and still shows what somebody does with it."""

    def test_a_backfill_that_is_tried_again_goes_on(self, page: Page, installation: Installation):
        paper = Path(installation.directory) / "paper"
        paper.unlink(missing_ok=True)
        begin(page, "send_invoices", "2026-01-01")
        state(page, "failed")
        expect(page.locator("#now")).not_to_have_attribute("data-live", "2")
        paper.touch()
        do(page, "Retry failed…", "Try again")
        state(page, "success")
        expect(page.get_by_role("link", name="Retry failed…")).to_have_count(0)
        assert page.evaluate("window.notReloaded")

    def test_a_run_that_is_marked_is_what_it_was_marked_as(self, page: Page, installation: Installation):
        Path(installation.directory, "paper").unlink(missing_ok=True)
        page.goto("/trigger?dag=send_invoices&key=2026-03-12")
        page.get_by_role("button", name="Trigger").click()
        page.wait_for_url("**/runs/*")
        state(page, "failed")
        page.evaluate("window.notReloaded = true")
        do(page, "Mark…", "Mark")
        state(page, "success")
        assert page.evaluate("window.notReloaded")

    def test_a_token_that_is_revoked_is_gone(self, page: Page):
        page.goto("/tokens")
        page.get_by_label("What it is for").fill("short-lived")
        page.get_by_role("button", name="Make token").click()
        row = page.get_by_role("region", name="Tokens").get_by_role("row").filter(has_text="short-lived")
        row.get_by_role("link", name="Revoke…").click()
        page.get_by_role("dialog").get_by_role("button", name="Revoke token").click()
        expect(row).to_have_count(0)


class TestButtons:
    def test_those_of_a_backfill_follow_its_state(self, page: Page, installation: Installation):
        """The link that was clicked has the focus again when its words change."""
        end = Path(installation.directory) / "counted"
        end.unlink(missing_ok=True)
        begin(page, "count_slowly", "a,b,c")
        expect(page.locator(".flash")).to_contain_text("Started backfill")
        do(page, "Pause…", "Pause")
        expect(page.locator("#now")).to_contain_text("Paused: nothing starts until somebody resumes it")
        expect(page.get_by_role("link", name="Pause…")).to_have_count(0)
        expect(page.get_by_role("link", name="Resume…")).to_be_focused()
        expect(page.locator(".flash")).to_have_count(0)
        do(page, "Resume…", "Resume")
        expect(page.get_by_role("link", name="Resume…")).to_have_count(0)
        expect(page.get_by_role("link", name="Pause…")).to_be_visible()
        do(page, "Cancel…", "Cancel backfill")
        expect(page.get_by_role("link", name="Pause…")).to_have_count(0)
        expect(page.locator("#now")).to_be_focused()
        end.touch()
        state(page, "cancelled")
        assert page.evaluate("window.notReloaded")


@pytest.fixture
def phone(phone_context: BrowserContext) -> Page:
    """On its narrow screen the panel of a partition lies below the grid."""
    return phone_context.new_page()


class TestPanelBelow:
    GRID = "/assets/stock_lists?zoom=2026-03"

    def test_a_tap_leads_to_it_and_closing_leads_back(self, phone: Page):
        phone.goto(self.GRID)
        square = phone.locator('a.c[aria-label^="2026-03-11:"]')
        square.tap()
        heading = phone.get_by_role("heading", name="2026-03-11")
        expect(heading).to_be_in_viewport()
        expect(phone.locator("#panel")).to_be_focused()
        phone.locator("#panel").get_by_role("link", name="Close").tap()
        expect(square).to_be_focused()
        expect(square).to_be_in_viewport()

    def test_an_address_with_a_key_leads_to_it(self, phone: Page):
        phone.goto(f"{self.GRID}&key=2026-03-11")
        expect(phone.get_by_role("heading", name="2026-03-11")).to_be_in_viewport()

    def test_a_refresh_leaves_one_where_one_is(self, phone: Page):
        phone.goto(f"{self.GRID}&key=2026-03-11")
        expect(phone.get_by_role("heading", name="2026-03-11")).to_be_in_viewport()
        self.refreshed(phone)  # by then it has come to the panel
        phone.evaluate("scrollTo(0, 0)")
        phone.wait_for_function("() => scrollY === 0")
        self.refreshed(phone)
        assert phone.evaluate("scrollY") == 0

    def refreshed(self, phone: Page):
        with phone.expect_response(lambda answer: answer.request.headers.get("hx-target") == "panel"):
            pass
        busy = ".htmx-request, .htmx-swapping, .htmx-settling"
        phone.wait_for_function("busy => !document.querySelector(busy)", arg=busy)

    def test_beside_the_grid_the_square_keeps_the_focus(self, page: Page):
        page.goto(self.GRID)
        square = page.locator('a.c[aria-label^="2026-03-11:"]')
        square.click()
        expect(page.get_by_role("heading", name="2026-03-11")).to_be_visible()
        expect(square).to_be_focused()


class TestSelectionOnItsWay:
    def test_the_bar_offers_nothing_until_the_answer_is_there(self, page: Page):
        page.goto("/assets/stock_lists?zoom=2026-03&sel=[2026-03-20...2026-03-22]")
        bar = page.get_by_role("group", name="Selection")
        expect(bar).to_contain_text("3 partitions selected")
        asked: list[Route] = []
        page.route("**/*sel=2026-03-25*", lambda route: asked.append(route))
        field = page.get_by_label("Select", exact=True)
        field.fill("2026-03-25")
        field.press("Enter")
        expect(bar).to_have_attribute("aria-busy", "true")
        assert bar.locator(".acts").evaluate("acts => acts.inert")
        asked[0].continue_()
        expect(bar).to_contain_text("1 partition selected")
        expect(bar).not_to_have_attribute("aria-busy", "true")
        assert not bar.locator(".acts").evaluate("acts => acts.inert")
