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
    why = page.get_by_role("main").get_by_role("status").first
    expect(why).to_have_text("waiting on 2 of 24: hours 22, 23")
    expect(page.get_by_role("listitem").filter(has_text=f"{day}T22:00:00")).to_be_visible()

    post(installation, 22, day=day)
    expect(why).to_have_text("waiting on 1 of 24: hour 23")
    post(installation, 23, day=day)
    page.get_by_role("link", name="Its run: success").click()
    expect(page.get_by_role("list", name="Log")).to_contain_text(f"total of {day}")


class TestFromHeldToFired:
    @pytest.fixture
    def waiting(self, installation: Installation):
        """A day of visits that lacks the hours 09, 11 and 22, of which two may stay away."""
        assets = installation.request("GET", "/api/v2/assets?name_pattern=hourly_visits")[1]["assets"]
        for hour in set(range(24)) - {9, 11, 22}:
            key = f"2026-03-10T{hour:02}:00:00"
            body = {"asset_id": assets[0]["id"], "partition_key": key}
            assert installation.request("POST", "/api/v2/assets/events", body)[0] == 200

    def test_the_producer_of_a_missing_key_is_triggered_and_the_row_fires(self, page: Page, waiting: None):
        page.goto("/held?dag=sum_up_visits")
        row = page.get_by_role("row").filter(has_text="2026-03-10")
        expect(row).to_contain_text("hours 09, 11, 22")
        row.get_by_role("link", name="2026-03-10").first.click()
        nine = page.get_by_role("listitem").filter(has_text="2026-03-10T09:00:00").first
        expect(nine).to_contain_text("made by count_visits: not tried yet")
        page.get_by_role("link", name="Why?").click()
        why = page.get_by_role("region", name="Explain")
        expect(why).to_contain_text("When that has come it fires at once")
        why.get_by_role("link", name="Trigger count_visits…").click()
        expect(page.get_by_label("Partition key")).to_have_value("2026-03-10T09:00:00")
        page.go_back()
        why.get_by_role("link", name="Its held run").click()
        nine.get_by_role("link", name="Trigger count_visits…").click()
        page.get_by_role("dialog").get_by_role("button", name="Trigger").click()
        page.wait_for_url("**/runs/*")
        page.goto("/held?dag=sum_up_visits")
        expect(page.get_by_text("No held run matches.")).to_be_visible()
        page.goto("/assets/daily_visits?key=2026-03-10")
        expect(page.get_by_role("complementary", name="Partition")).to_contain_text("materialized")

    def test_a_question_about_any_key_is_answered_where_it_is_asked(self, page: Page):
        page.goto("/dags/sum_up_visits")
        page.get_by_label("Partition key to explain").fill("2026-03-12")
        page.get_by_role("button", name="Why has it not run?").click()
        why = page.get_by_role("region", name="Explain")
        expect(why).to_contain_text("Nothing holds a run of it yet")
        expect(why).to_contain_text("What it takes: 22 events")
        assert page.url.endswith("why=2026-03-12")
