"""Instants in the zone of the site and in the reader's own, one key apart."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import watch
from tests.browser.posting import post
from tests.installed import Installation

pytestmark = pytest.mark.browser

AHEAD = timedelta(hours=5, minutes=30)
FULL = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (\S+)")


@pytest.fixture
def page(browser: Browser, installation: Installation, session: dict[str, object]) -> Iterator[Page]:
    """A tab of somebody in Kolkata. What its console complains of fails the test."""
    context = browser.new_context(
        base_url=installation.address(), storage_state=session, timezone_id="Asia/Kolkata"
    )
    opened = context.new_page()
    complaints = watch(opened)
    yield opened
    assert complaints == []
    context.close()


def shown(page: Page) -> tuple[datetime, datetime, str]:
    """Of the first whole instant: what the page was given, what it shows, and in which zone."""
    time = page.locator("main time:has(small)").first
    given, words = time.evaluate("time => [time.dateTime, time.textContent]")
    clock, zone = FULL.fullmatch(words).groups()
    return datetime.fromisoformat(given).replace(tzinfo=None), datetime.fromisoformat(clock), zone


def test_one_key_shows_every_instant_in_the_readers_zone_and_back(page: Page):
    page.goto("/health")
    given, clock, zone = shown(page)
    assert (clock, zone) == (given, "UTC")

    page.keyboard.press("z")
    given, clock, zone = shown(page)
    assert (clock, zone) == (given + AHEAD, "UTC+5:30")
    expect(page.get_by_role("status").filter(has_text="Times in Asia/")).to_be_visible()
    assert f"{given} UTC" in page.locator("main time:has(small)").first.get_attribute("title")
    ages = page.locator("main time:not(:has(small))").first
    expect(ages).to_have_attribute("title", re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\+5:30\n.* UTC$"))

    page.keyboard.press("z")
    given, clock, zone = shown(page)
    assert (clock, zone) == (given, "UTC")


def test_a_time_that_has_the_focus_tells_both_zones_and_is_no_stop_of_tab(page: Page):
    page.goto("/health")
    times = page.locator("main time")
    assert set(times.evaluate_all("all => all.map((time) => time.tabIndex)")) == {-1}
    page.keyboard.press("t")
    first = times.first
    expect(first).to_be_focused()
    said = page.locator("#said")
    expect(said).to_contain_text(re.compile(r" UTC · .* UTC\+5:30$"))
    page.keyboard.press("t")
    expect(times.nth(1)).to_be_focused()
    page.keyboard.press("Shift+T")
    expect(first).to_be_focused()
    given = first.get_attribute("datetime")
    page.wait_for_function("given => document.querySelector('main time').dateTime !== given", arg=given)
    expect(first).to_be_focused()


def test_a_time_that_is_touched_tells_both_zones(page: Page):
    page.goto("/health")
    page.locator("main time:has(small)").first.click()
    expect(page.locator("#said")).to_contain_text(re.compile(r" UTC · .* UTC · .* UTC\+5:30$"))


def test_parts_that_are_polled_come_out_in_the_chosen_zone(page: Page):
    page.goto("/health")
    page.keyboard.press("z")
    before = shown(page)[0]
    page.evaluate(
        """window.wrong = [];
        const look = () => {
          for (const time of document.querySelectorAll("main time:has(small)")) {
            if (!time.textContent.endsWith("UTC+5:30")) window.wrong.push(time.textContent);
          }
          requestAnimationFrame(look);
        };
        requestAnimationFrame(look);"""
    )
    page.wait_for_function(
        "before => document.querySelector('main time:has(small)').dateTime.slice(0, 19) !== before",
        arg=before.isoformat(),
    )
    given, clock, zone = shown(page)
    assert given > before
    assert (clock, zone) == (given + AHEAD, "UTC+5:30")
    assert page.evaluate("window.wrong") == []


def test_the_choice_in_the_menu_is_remembered_and_other_tabs_follow(page: Page):
    page.goto("/health")
    other = page.context.new_page()
    other.goto("/health")
    page.locator("summary", has_text=re.compile(".")).first.click()
    page.get_by_role("button", name="My zone").click()
    expect(page.get_by_role("button", name="My zone")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="UTC")).to_have_attribute("aria-pressed", "false")
    expect(other.locator("main time:has(small)").first).to_contain_text("UTC+5:30")

    page.goto("/health")
    assert shown(page)[2] == "UTC+5:30"
    expect(page.get_by_role("contentinfo")).to_contain_text(re.compile("Times in Asia/(Kolkata|Calcutta);"))


def test_a_key_is_a_key_in_any_zone_and_a_log_says_its_own(page: Page):
    """What is typed into a field stays there; partition keys are never read as instants."""
    page.goto("/trigger?dag=send_invoices")
    field = page.locator("#key")
    field.fill("")
    field.press("z")
    expect(field).to_have_value("z")
    assert page.evaluate("localStorage.getItem('zone')") is None
    field.fill("2025-03-10")
    page.get_by_role("button", name="Trigger").click()
    page.wait_for_url("**/runs/*")
    line = page.locator(".log time").first
    expect(line).to_have_text(re.compile(r"^\d\d:\d\d:\d\d$"))
    words = line.text_content()
    page.keyboard.press("z")
    expect(line).not_to_have_text(words)
    later = datetime.strptime(words, "%H:%M:%S") + AHEAD
    expect(line).to_have_text(f"{later:%H:%M:%S}")
    expect(page.locator("section", has=page.locator(".log")).locator("[data-zone]")).to_contain_text("Asia/")
    expect(page.get_by_role("heading", level=1)).to_contain_text("2025-03-10")


def test_an_instant_in_a_sentence_follows_too(page: Page, installation: Installation):
    day = "2026-03-15"
    post(installation, *range(24), day=day)
    ended = f"/api/v2/dags/sum_up_sales/dagRuns?state=success&partition_key_pattern={day}"
    installation.wait_for(lambda: installation.request("GET", ended)[1]["dag_runs"])
    post(installation, 5, day=day)
    page.goto(f"/held?key={day}")
    row = page.get_by_role("row").filter(has_text=day)
    expect(row).to_contain_text("settling: 1 of 24 came anew; fires when all have, or at")
    instant = row.locator(".state time")
    expect(instant).to_contain_text(re.compile(r"\d\d:\d\d:\d\d UTC$"))
    page.keyboard.press("z")
    expect(instant).to_contain_text("UTC+5:30")
