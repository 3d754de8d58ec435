"""The walks of an operator on a phone: nothing here but taps, in a window of 390 pixels."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.chromium import watch
from tests.browser.posting import post
from tests.installed import Installation

pytestmark = pytest.mark.browser

SMALL = """(least) => [
  ...document.querySelectorAll(".chips a, .examples a, .lines .acts a, .pager > a, .button, select"),
]
  .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < least)
  .map((each) => each.innerText)"""
"""What a finger is to hit and that is lower than it should be."""

CLIPPED = """() => [...document.querySelectorAll(".notices")]
  .filter((list) => list.scrollWidth > list.clientWidth).length"""

OVERFLOW = "document.documentElement.scrollWidth - innerWidth"


@pytest.fixture
def phone(phone_context: BrowserContext) -> Iterator[Page]:
    """What its console complains of, or what is wider than it, fails the test."""
    opened = phone_context.new_page()
    complaints = watch(opened)
    yield opened
    assert complaints == []
    assert opened.evaluate(OVERFLOW) <= 0


def test_from_red_to_green(phone: Page, installation: Installation):
    """Overview, red day, its panel below the grid, log, run again, green."""
    paper = Path(installation.directory) / "paper"
    paper.unlink(missing_ok=True)
    asked = installation.request(
        "POST", "/api/v2/dags/send_invoices/dagRuns", {"partition_key": "2026-03-11"}
    )
    assert asked[0] == 200
    failed = "/api/v2/dags/send_invoices/dagRuns?state=failed"
    installation.wait_for(lambda: installation.request("GET", failed)[1]["dag_runs"])
    phone.goto("/")
    phone.get_by_role("link", name="2026-03-11", exact=True).first.tap()
    panel = phone.get_by_role("complementary", name="Partition")
    expect(panel.get_by_role("heading", name="2026-03-11")).to_be_in_viewport()
    expect(panel).to_contain_text("the printer is out of paper")
    paper.touch()
    panel.get_by_role("link", name="Run again…").tap()
    phone.get_by_role("dialog").get_by_role("button", name="Run again").tap()
    expect(panel.locator(".state").first).to_have_text("materialized")


def test_from_held_to_its_last_hour(phone: Page, installation: Installation):
    """Held runs name what is missing; an hour is recorded by hand in its dialog, and the day fires."""
    post(installation, *(hour for hour in range(24) if hour != 9), day="2026-03-09")
    phone.goto("/held")
    row = phone.get_by_role("row").filter(has_text="2026-03-09").filter(has_text="sum_up_sales")
    expect(row).to_contain_text("hour 09")
    row.get_by_role("link", name="2026-03-09").first.tap()
    nine = phone.get_by_role("listitem").filter(has_text="2026-03-09T09:00:00").first
    nine.get_by_role("link", name="Record an event…").tap()
    dialog = phone.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Record event")).to_be_in_viewport()
    dialog.get_by_role("button", name="Record event").tap()
    expect(phone.get_by_role("link", name="Its run: success")).to_be_visible()
    phone.goto("/held?dag=sum_up_sales&key=2026-03-09")
    expect(phone.get_by_text("No held run matches.")).to_be_visible()


def test_from_a_selection_to_done(phone: Page):
    """Three days that an address selects, their plan, their backfill."""
    phone.goto("/assets/stock_lists?sel=[2026-02-10...2026-02-12]")
    expect(phone.locator("#chosen")).to_contain_text("3 partitions selected")
    phone.get_by_role("link", name="Backfill…").tap()
    phone.get_by_role("button", name="Start backfill of 3 keys").tap()
    phone.wait_for_url("**/backfills/*")
    expect(phone.locator("#now")).to_contain_text("3 keys: 3 done")


def test_a_key_is_triggered_by_typing_it(phone: Page):
    """A wrong one is refused before it is sent; the right one is said in words, and runs."""
    phone.goto("/dags/price_markets")
    field = phone.get_by_label("Partition key", exact=True)
    field.fill("tw|10.3.2026")
    means = phone.locator("#means")
    expect(means).to_contain_text("%Y-%m-%dT%H:%M:%S")
    phone.get_by_role("button", name="Trigger").tap()
    assert phone.url.endswith("/dags/price_markets")
    field.fill("tw|2026-03-10T08:00:00")
    expect(means).to_contain_text("Tuesday 10 March 2026, 08:00 UTC")
    phone.get_by_role("button", name="Trigger").tap()
    phone.wait_for_url("**/runs/*")
    expect(phone.get_by_role("status").filter(has_text="success")).to_be_visible()


def test_nobody_is_told_of_keys_that_a_phone_has_not(phone: Page):
    for address in (
        "/",
        "/held",
        "/dags/sum_up_sales",
        "/assets/hourly_sales",
        "/assets/stock_lists?zoom=2026-03",
    ):
        phone.goto(address)
        assert phone.locator("kbd").count() > 0
        assert phone.locator("kbd:visible").count() == 0, address
    expect(phone.get_by_text("Rest a finger on a square")).to_be_visible()
    expect(phone.get_by_text("Touch a time for both zones")).to_be_visible()


def test_a_finger_hits_what_it_is_to_hit(phone: Page, installation: Installation):
    post(installation, 3, 4, day="2026-03-13")
    phone.goto("/held?dag=sum_up_sales&key=2026-03-13")
    held = phone.get_by_role("link", name="2026-03-13").first.get_attribute("href")
    for address in ("/", held, "/runs", "/assets/hourly_sales", "/dags/sum_up_sales", "/journal"):
        phone.goto(address)
        assert phone.evaluate(SMALL, 34) == [], address
        assert phone.evaluate(CLIPPED) == 0, address


def test_a_choice_stands_beside_its_words(phone: Page):
    phone.goto("/mark?asset=stock_lists&sel=2026-02-10")
    choice = phone.get_by_role("radio").first
    assert choice.bounding_box()["height"] < 20
