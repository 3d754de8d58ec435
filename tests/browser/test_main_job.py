"""The main job: hours arrive, a day waits and says for which, the last one fires it, a partition appears."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.posting import post
from tests.installed import Installation

pytestmark = pytest.mark.browser

DAY = "2026-03-10"


def test_the_last_hour_fires_the_day_while_somebody_watches(page: Page, installation: Installation):
    post(installation, *(hour for hour in range(24) if hour != 9))

    page.goto("/held")
    row = page.get_by_role("row").filter(has_text=DAY).filter(has_text="sum_up_sales")
    expect(row).to_contain_text("waiting on 1 of 24: hour 09")
    expect(row).to_contain_text("23 of 24")

    page.goto(f"/assets/daily_sales?key={DAY}")
    day = page.locator(f'a.c[aria-label^="{DAY}:"]')
    expect(day).to_have_attribute("aria-label", f"{DAY}: held")

    page.goto("/held")
    page.evaluate("window.notReloaded = true")
    post(installation, 9)
    expect(row).to_have_count(0)
    assert page.evaluate("window.notReloaded")

    page.goto(f"/assets/daily_sales?key={DAY}")
    expect(day).to_have_attribute("aria-label", f"{DAY}: materialized")
    panel = page.get_by_role("complementary", name="Partition")
    expect(panel).to_contain_text("materialized")
    expect(panel).to_contain_text("24 keys")
    expect(panel).to_contain_text(f"total of {DAY}")


def test_the_page_of_one_held_run_follows_it_into_its_run(page: Page, installation: Installation):
    day = "2026-03-11"
    post(installation, *range(22), day=day)
    page.goto("/held")
    page.get_by_role("link", name=day, exact=True).click()
    page.get_by_role("link", name="Its page").click()
    why = page.get_by_role("main").get_by_role("status").first
    expect(why).to_have_text("waiting on 2 of 24: hours 22, 23")
    expect(page.get_by_role("listitem").filter(has_text=f"{day}T22:00:00")).to_be_visible()

    post(installation, 22, day=day)
    expect(why).to_have_text("waiting on 1 of 24: hour 23")
    post(installation, 23, day=day)
    page.get_by_role("link", name="Its run: success").click()
    expect(page.get_by_role("list", name="Log")).to_contain_text(f"total of {day}")
