"""A session that ends while somebody types: nothing is lost, and they go on after another sign-in."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.installed import LOGIN

pytestmark = pytest.mark.browser

SIGNED_OUT = "You are signed out. What you typed is kept here."


def end_session(context: BrowserContext) -> None:
    context.clear_cookies(name="sessionid")


def sign_in_beside(page: Page, context: BrowserContext) -> None:
    """As the page says: in another tab, which leads to the same page."""
    with context.expect_page() as opened:
        page.get_by_role("link", name="Sign in in another tab").click()
    tab = opened.value
    tab.get_by_label("Name").fill(LOGIN[0])
    tab.get_by_label("Password").fill(LOGIN[1])
    tab.get_by_role("button", name="Sign in").click()
    tab.wait_for_url(page.url)
    tab.close()
    page.bring_to_front()


def test_in_the_form_of_a_schedule_all_is_kept_and_then_saved(page: Page, context: BrowserContext):
    page.goto("/listening?dag=close_tills")
    page.get_by_label("Kind of wait policy").select_option("MinimumCount")
    page.get_by_label("How many (needed)").fill("-2")
    expect(page.locator("#proposal")).to_contain_text("MinimumCount(n=-2)")
    end_session(context)
    page.get_by_label("Reason").first.fill("two tills have no clock")
    page.get_by_label("How many (needed)").fill("-3")
    notice = page.get_by_role("alert").filter(has_text=SIGNED_OUT)
    expect(notice).to_be_visible()
    save = page.get_by_role("button", name="Save", exact=True)
    save.click()
    expect(notice).to_be_visible()
    expect(page.get_by_label("How many (needed)")).to_have_value("-3")
    sign_in_beside(page, context)
    save.click()
    expect(page.get_by_role("status").filter(has_text="listens as you said from now on")).to_be_visible()
    expect(page.get_by_text("two tills have no clock").first).to_be_visible()


def test_in_a_dialog_what_was_asked_is_done_after_all(page: Page, context: BrowserContext):
    page.goto("/assets/invoices")
    page.get_by_role("link", name="Record an event…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Partition key").fill("2026-04-01")
    dialog.get_by_label("Reason").fill("came by post")
    end_session(context)
    record = dialog.get_by_role("button", name="Record event")
    record.click()
    expect(dialog.get_by_role("alert").filter(has_text=SIGNED_OUT)).to_be_visible()
    expect(dialog.get_by_label("Reason")).to_have_value("came by post")
    sign_in_beside(page, context)
    record.click()
    expect(dialog).to_have_count(0)
    expect(page.locator("#said")).to_contain_text("Recorded an event of invoices, partition 2026-04-01")


def test_who_has_typed_nothing_is_led_to_the_sign_in(page: Page, context: BrowserContext):
    page.goto("/listening?dag=close_tills")
    end_session(context)
    page.wait_for_url("**/sign-in?next=*")
