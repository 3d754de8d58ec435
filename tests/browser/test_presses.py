"""A press on the plan of a backfill, right after something was typed."""

import re

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

pytestmark = pytest.mark.browser


STARTED = re.compile(r"/backfills/\d+$")


def press(button: Locator) -> None:
    """As one does who goes on from a field: down where the button is, up a moment later at that place."""
    box = button.bounding_box()
    assert box
    mouse = button.page.mouse
    mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 4)
    mouse.down()
    button.page.wait_for_timeout(60)
    mouse.up()


class TestPressAfterTyping:
    def test_a_title_is_no_other_plan(self, page: Page):
        page.goto("/backfills/new?dag=make_stock_lists&selection=[2026-02-14...2026-02-15]")
        planned = []
        page.on("request", lambda sent: planned.append(sent) if "hx-request" in sent.headers else None)
        page.get_by_label("Title").press_sequentially("mended")
        press(page.get_by_role("button", name="Start backfill of 2 keys"))
        page.wait_for_url(STARTED)
        expect(page.get_by_role("heading", level=1)).to_contain_text("mended")
        assert not [sent for sent in planned if "/backfills/new" in sent.url]

    def test_a_tap_starts_what_was_given_a_title(self, phone_context: BrowserContext):
        page = phone_context.new_page()
        page.goto("/backfills/new?dag=make_stock_lists&selection=[2026-02-16...2026-02-17]")
        page.get_by_label("Title").press_sequentially("tapped")
        page.get_by_role("button", name="Start backfill of 2 keys").tap()
        page.wait_for_url(STARTED)
        expect(page.get_by_role("heading", level=1)).to_contain_text("tapped")

    def test_a_title_stays_with_what_the_plan_leads_to(self, page: Page):
        page.goto("/backfills/new?dag=make_stock_lists&selection=2026-02-18")
        page.get_by_label("Title").fill("kept")
        page.get_by_role("navigation", name="Which keys").get_by_role("link", name="1 to run").click()
        page.wait_for_url("**&show=run**")
        expect(page.get_by_label("Title")).to_have_value("kept")

    def test_what_changes_the_plan_says_that_a_press_on_it_started_nothing(self, page: Page):
        page.goto("/backfills/new?dag=make_stock_lists&selection=[2026-02-20...2026-02-21]")
        page.get_by_label("Runs at a time").fill("3")
        press(page.get_by_role("button", name="Start backfill of 2 keys"))
        expect(page.locator("#said")).to_contain_text("Not started: the plan was worked out anew")
        expect(page.locator("#plan [name=at_once]")).to_have_value("3")
        page.get_by_role("button", name="Start backfill of 2 keys").click()
        page.wait_for_url(STARTED)
