"""Dialogs and forms: what is asked, refused and kept."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.posting import post
from tests.installed import Installation

pytestmark = pytest.mark.browser


class TestDialog:
    def test_a_wrong_answer_keeps_the_question_and_what_was_typed(self, context: BrowserContext):
        page = context.new_page()  # whose console may complain of the refusal
        page.goto("/assets/stores")
        page.get_by_role("link", name="Add keys…").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Partition keys").fill("east, west")
        dialog.get_by_role("button", name="Add keys").click()
        expect(dialog.get_by_role("alert")).to_contain_text("'east, west' would be one key")
        expect(dialog.get_by_label("Partition keys")).to_have_value("east, west")

    def test_what_can_be_no_key_is_refused_before_it_is_sent(self, page: Page):
        page.goto("/assets/invoices")
        page.get_by_role("link", name="Record an event…").click()
        dialog = page.get_by_role("dialog")
        key = dialog.get_by_label("Partition key")
        expect(key).to_be_visible()
        expect(page.locator(".htmx-added, .htmx-settling")).to_have_count(0)  # now it listens
        key.fill("x\u0001")
        tells = dialog.locator("#tells")
        expect(tells).to_contain_text("control character")
        dialog.get_by_role("button", name="Record event").click()
        assert key.evaluate("field => field.validationMessage") == tells.inner_text().strip()

    def test_an_unexpected_key_is_recorded_only_on_purpose(self, page: Page):
        page.goto("/assets/daily_sales")
        page.get_by_role("link", name="Record an event…").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Partition key").press_sequentially("2026-03-09")
        tells = dialog.locator("#tells")
        expect(tells).to_have_text("Monday 9 March 2026 (UTC)")
        dialog.get_by_label("Partition key").fill("2026-3-9")
        expect(tells).to_contain_text("It is none of the keys that daily_sales should have")
        record = dialog.get_by_role("button", name="Record event")
        record.click()
        expect(record).to_be_visible()
        dialog.get_by_label("Record it all the same.").check()
        record.click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.get_by_text("Recorded an event of daily_sales, partition 2026-3-9.")).to_be_visible()

    def test_two_clicks_are_one_deed(self, page: Page, installation: Installation):
        page.goto("/assets/invoices?key=2026-02-02")
        page.get_by_role("link", name="Record an event…").last.click()
        page.get_by_role("dialog").get_by_role("button", name="Record event").dblclick()
        expect(page.get_by_role("dialog")).to_have_count(0)
        panel = page.get_by_role("complementary", name="Partition")
        expect(panel.locator(".state").first).to_have_text("materialized")
        events = installation.request("GET", "/api/v2/assets/events?partition_key=2026-02-02")[1]
        assert events["total_entries"] == 1


class TestToken:
    @pytest.mark.parametrize("label", ["The token", "An example"])
    def test_is_copied_with_one_click(self, page: Page, label: str):
        page.goto("/tokens")
        page.get_by_label("What it is for", exact=True).fill("nightly export")
        page.get_by_role("button", name="Make token").click()
        field = page.get_by_label(label)
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        field.locator("xpath=..").get_by_role("button", name="Copy").click()
        expect(page.get_by_text("Copied.")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == field.input_value()


class TestDynamicKeys:
    def test_a_key_is_added_and_run(self, page: Page):
        page.goto("/assets/stores")
        page.get_by_role("link", name="Add keys…").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Partition keys").fill("north\nsouth")
        dialog.get_by_role("button", name="Add keys").click()
        page.get_by_role("link", name="north", exact=True).click()
        panel = page.get_by_role("complementary", name="Partition")
        expect(panel.locator(".state").first).to_have_text("missing")
        panel.get_by_role("link", name="Trigger open_store…").click()
        page.get_by_role("dialog").get_by_role("button", name="Trigger").click()
        page.wait_for_url("**/runs/*")
        expect(page.get_by_role("status").filter(has_text="success")).to_be_visible()
        page.goto("/assets/stores?key=north")
        expect(panel.locator(".state").first).to_have_text("materialized")
        expect(page.locator('a.c[aria-label^="south: missing"]')).to_be_visible()


class TestTriggerForm:
    def test_a_wrong_key_is_refused_before_it_is_sent(self, page: Page):
        page.goto("/dags/send_invoices")
        key = page.get_by_label("Partition key", exact=True)
        key.press_sequentially("10.3.2026")
        means = page.locator("#means")
        expect(means).to_contain_text("%Y-%m-%d")
        page.get_by_role("button", name="Trigger").click()
        assert page.url.endswith("/dags/send_invoices")
        assert key.evaluate("field => field.validationMessage") == means.inner_text().strip()

    def test_a_corrected_key_is_sent_before_anything_is_said_of_it(self, page: Page):
        page.goto("/dags/send_invoices")
        key = page.get_by_label("Partition key", exact=True)
        key.press_sequentially("2.2.2026")
        expect(page.locator("#means")).to_contain_text("%Y-%m-%d")
        key.fill("2026-02-02")
        page.get_by_role("button", name="Trigger").click()
        page.wait_for_url("**/runs/*")

    def test_a_right_key_is_said_in_words_while_it_is_typed(self, page: Page):
        page.goto("/dags/send_invoices")
        page.get_by_label("Partition key", exact=True).press_sequentially("2026-03-09")
        expect(page.locator("#means")).to_contain_text("Monday 9 March 2026 (Europe/Ljubljana)")

    def test_a_held_key_asks_whether_the_run_settles_it(self, page: Page, installation: Installation):
        post(installation, 5, day="2026-03-09")
        page.goto("/dags/sum_up_sales")
        page.locator("#now").get_by_role("link", name="2026-03-09").wait_for()
        page.reload()
        page.get_by_role("link", name="2026-03-09").last.click()
        expect(page.get_by_role("checkbox")).to_be_checked()
        page.get_by_role("button", name="Trigger").click()
        page.wait_for_url("**/runs/*")
        page.goto("/held?dag=sum_up_sales")
        expect(page.get_by_role("row").filter(has_text="2026-03-09")).to_have_count(0)

    def test_two_clicks_make_one_run(self, page: Page):
        page.goto("/trigger?dag=send_invoices&key=2026-02-01")
        page.get_by_role("button", name="Trigger").dblclick()
        page.wait_for_url("**/runs/*")
        page.goto("/runs?dag=send_invoices&key=2026-02-01")
        expect(page.locator("tbody tr")).to_have_count(1)
