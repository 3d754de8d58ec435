"""From the list of held runs to a run: what is missing is triggered, and the row fires by itself."""

import pytest
from playwright.sync_api import Page, expect

from tests.installed import Installation

pytestmark = pytest.mark.browser


class TestFromHeldToFired:
    @pytest.fixture
    def waiting(self, installation: Installation):
        """A day of visits that lacks the hours 09, 11 and 22, and one that has one hour only."""
        assets = installation.request("GET", "/api/v2/assets?name_pattern=hourly_visits")[1]["assets"]
        there = [f"2026-03-10T{hour:02}:00:00" for hour in range(24) if hour not in (9, 11, 22)]
        for key in (*there, "2026-03-20T05:00:00"):
            body = {"asset_id": assets[0]["id"], "partition_key": key}
            assert installation.request("POST", "/api/v2/assets/events", body)[0] == 200

    def test_the_producer_of_a_missing_key_is_triggered_and_the_row_fires(self, page: Page, waiting: None):
        page.goto("/held?dag=sum_up_visits")
        row = page.get_by_role("row").filter(has_text="2026-03-10")
        expect(row).to_contain_text("hours 09, 11, 22")
        row.get_by_role("link", name="2026-03-10").first.click()
        beside = page.get_by_role("complementary", name="Held run")
        expect(beside).to_be_focused()
        nine = beside.get_by_role("listitem").filter(has_text="2026-03-10T09:00:00").first
        expect(nine).to_contain_text("made by count_visits: not tried yet")
        beside.get_by_role("link", name="Why?").click()
        why = page.get_by_role("region", name="Explain")
        expect(why).to_contain_text("When that has come it fires at once")
        why.get_by_role("link", name="Trigger count_visits…").click()
        expect(page.get_by_label("Partition key")).to_have_value("2026-03-10T09:00:00")
        page.go_back()
        page.go_back()
        expect(row).to_have_attribute("aria-current", "true")
        page.evaluate("window.notReloaded = true")
        nine.get_by_role("link", name="Trigger count_visits…").click()
        page.get_by_role("dialog").get_by_role("button", name="Trigger").click()
        expect(page.get_by_role("status").filter(has_text="Triggered count_visits")).to_be_visible()
        expect(beside).to_contain_text("fired")
        expect(beside.get_by_role("link", name="Its run: success")).to_be_visible()
        expect(row).to_have_count(0)
        assert page.evaluate("window.notReloaded")
        page.goto("/assets/daily_visits?key=2026-03-10")
        expect(page.get_by_role("complementary", name="Partition")).to_contain_text("materialized")

    def test_one_that_is_beside_the_list_is_closed_where_it_was_opened(self, page: Page, waiting: None):
        page.goto("/held?dag=sum_up_visits")
        link = page.get_by_role("link", name="2026-03-20", exact=True)
        link.click()
        beside = page.get_by_role("complementary", name="Held run")
        expect(beside).to_contain_text("2026-03-20")
        assert "run=" in page.url
        beside.get_by_role("link", name="Close").click()
        expect(beside).to_be_hidden()
        expect(link).to_be_focused()
        assert page.url.endswith("/held?dag=sum_up_visits")

    def test_closing_leaves_the_selection_as_it_is_by_then(self, page: Page, waiting: None):
        page.goto("/held?dag=sum_up_visits")
        page.get_by_role("link", name="2026-03-20", exact=True).click()
        beside = page.get_by_role("complementary", name="Held run")
        expect(beside).to_contain_text("2026-03-20")
        page.locator("#rows tbody").get_by_role("checkbox").first.check()
        page.wait_for_url("**sel=*")
        beside.get_by_role("link", name="Close").click()
        expect(beside).to_be_hidden()
        assert "&sel=" in page.url
        assert "run=" not in page.url

    def test_a_question_about_any_key_is_answered_where_it_is_asked(self, page: Page):
        page.goto("/dags/sum_up_visits")
        page.get_by_label("Partition key to explain").fill("2026-03-12")
        page.get_by_role("button", name="Why has it not run?").click()
        why = page.get_by_role("region", name="Explain")
        expect(why).to_contain_text("Nothing holds a run of it yet")
        expect(why).to_contain_text("What it takes: 22 events")
        assert page.url.endswith("why=2026-03-12")
