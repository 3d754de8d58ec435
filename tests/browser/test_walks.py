"""What an operator does all day, with the engine behind it."""

import time
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.installed import LOGIN, Installation

pytestmark = pytest.mark.browser


def trigger(page: Page, dag: str, key: str = "") -> None:
    page.goto(f"/trigger?dag={dag}&key={key}")
    page.get_by_role("button", name="Trigger").click()
    page.wait_for_url("**/runs/*")


def tab_to(page: Page, name: str) -> None:
    """Press Tab until what has the focus is called `name`."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate(
            "(document.activeElement.labels?.[0] ?? document.activeElement).innerText"
        ).startswith(name):
            return
    raise AssertionError(f"Tab never comes to {name!r}")


@pytest.fixture
def failed_day(page: Page, installation: Installation) -> Path:
    """A day whose attempt has failed; making the file that it returns lets the next one succeed."""
    paper = Path(installation.directory) / "paper"
    paper.unlink(missing_ok=True)
    trigger(page, "send_invoices", "2026-03-10")
    expect(page.get_by_role("status").filter(has_text="failed")).to_be_visible()
    return paper


class TestFromRedToGreen:
    def test_a_failed_partition_is_mended_where_it_is_found(self, page: Page, failed_day: Path):
        """Overview, red day, panel, log, retry, green: no page is loaded again, in under ten seconds."""
        page.goto("/")
        began = time.monotonic()
        page.get_by_role("link", name="2026-03-10", exact=True).first.click()
        panel = page.get_by_role("complementary", name="Partition")
        expect(
            panel.get_by_role("listitem").filter(has_text="sending invoices of 2026-03-10")
        ).to_be_visible()
        expect(panel).to_contain_text("the printer is out of paper")
        page.evaluate("window.notReloaded = true")

        failed_day.touch()
        panel.get_by_role("link", name="Run again…").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Reason").fill("there is paper again")
        dialog.get_by_role("button", name="Run again").click()
        expect(page.get_by_role("status").filter(has_text="Queued again.")).to_be_visible()
        expect(panel.locator(".state").first).to_have_text("materialized")
        assert page.evaluate("window.notReloaded")
        assert time.monotonic() - began < 10

        page.goto("/journal?event=run+retried")
        expect(page.get_by_role("region", name="Journal")).to_contain_text("there is paper again")

    def test_the_keyboard_alone_does_it(self, page: Page, failed_day: Path):
        page.goto("/")
        tab_to(page, "2026-03-10")
        page.keyboard.press("Enter")
        page.wait_for_url("**/assets/invoices?key=2026-03-10")
        failed_day.touch()
        tab_to(page, "Run again…")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_be_visible()
        tab_to(page, "Reason")
        page.keyboard.type("by keyboard")
        page.keyboard.press("Enter")
        panel = page.get_by_role("complementary", name="Partition")
        expect(panel.locator(".state").first).to_have_text("materialized")
        expect(panel.get_by_role("link", name="Run again…")).to_have_count(0)
        with page.expect_response(lambda answer: "key=2026-03-10" in answer.url and answer.status == 304):
            pass
        expect(panel).to_be_focused()


class TestLog:
    def test_a_log_grows_while_one_reads_it(self, page: Page, installation: Installation):
        end = Path(installation.directory) / "counted"
        end.unlink(missing_ok=True)
        trigger(page, "count_slowly")
        log = page.get_by_role("list", name="Log")
        expect(log).to_contain_text("line 3")
        lines = log.get_by_role("listitem").count()
        expect(log.get_by_role("listitem").nth(lines + 5)).to_be_visible()
        end.touch()
        expect(page.get_by_role("status").filter(has_text="success")).to_be_visible()
        expect(page.locator("#now")).not_to_have_attribute("data-live", "2")


class TestLive:
    def test_typing_and_an_open_detail_survive_a_refresh(self, page: Page):
        page.goto("/")
        page.get_by_label("Filter by name").focus()
        page.keyboard.type("sales")
        expect(page.get_by_role("link", name="invoices")).to_have_count(0)
        with page.expect_response(lambda answer: answer.request.headers.get("hx-target") == "now"):
            pass
        expect(page.get_by_label("Filter by name")).to_have_value("sales")
        expect(page.get_by_label("Filter by name")).to_be_focused()
        assert "q=sales" in page.url

    def test_what_has_not_changed_is_not_sent_again(self, page: Page):
        page.goto("/definitions")
        about = page.expect_response
        with about(lambda answer: answer.request.headers.get("hx-target") == "now"):
            pass
        with about(lambda answer: answer.request.headers.get("hx-target") == "now") as second:
            pass
        assert second.value.status == 304
        expect(page.get_by_role("heading", name="Files")).to_be_visible()

    def test_a_tab_that_nobody_sees_asks_for_nothing_until_it_is_seen(self, page: Page):
        page.add_init_script(
            "Object.defineProperty(document, 'hidden', { get: () => window.isAway === true })"
        )
        page.clock.install()
        page.goto("/definitions")
        page.evaluate("window.isAway = true")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.clock.run_for(60_000)
        assert asked == []
        with page.expect_request(lambda request: request.headers.get("hx-target") == "now"):
            page.evaluate("window.isAway = false; document.dispatchEvent(new Event('visibilitychange'))")

    def test_an_ended_session_leads_to_the_sign_in_and_back(self, page: Page, context: BrowserContext):
        page.goto("/held")
        context.clear_cookies()
        page.wait_for_url("**/sign-in?next=*")
        page.get_by_label("Name").fill(LOGIN[0])
        page.get_by_label("Password").fill(LOGIN[1])
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/held")


class TestKeyboard:
    def test_arrows_walk_the_grid_and_enter_opens_a_partition(self, page: Page):
        page.goto("/assets/hourly_sales?zoom=2026-03-10")
        page.locator("a.c").first.focus()
        for key in ("ArrowRight", "ArrowRight", "End", "Home", "ArrowRight"):
            page.keyboard.press(key)
        expect(page.locator("#readout")).to_contain_text("2026-03-10T01:00:00")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="2026-03-10T01:00:00")).to_be_visible()
        assert "key=2026-03-10T01" in page.url

    def test_one_who_looks_inside_goes_on_from_there(self, page: Page):
        page.goto("/assets/hourly_sales")
        page.locator('.bar.tall a[aria-label*="zoom to 2026-03-11"]').focus()
        page.keyboard.press("Enter")
        expect(page.locator('a.c[aria-label^="2026-03-11T00:00:00"]')).to_be_focused()
        page.keyboard.press("ArrowRight")
        expect(page.locator('a.c[aria-label^="2026-03-11T01:00:00"]')).to_be_focused()
        page.keyboard.press("-")
        expect(page.locator("#board .crumbs b")).to_have_text("2026-03")
        expect(page.locator("table[data-grid] a.c:focus")).to_have_count(1)

    def test_only_one_square_of_a_grid_is_a_tab_stop(self, page: Page):
        page.goto("/assets/hourly_sales")
        expect(page.locator('a.c[tabindex="0"]')).to_have_count(1)

    def test_a_dialog_is_left_by_escape(self, page: Page):
        page.goto("/assets/hourly_sales")
        page.get_by_role("link", name="Record an event…").first.press("Enter")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)


class TestTheme:
    def test_the_switch_changes_the_page_at_once_and_for_good(self, page: Page):
        page.goto("/")
        page.get_by_text(LOGIN[0], exact=True).click()
        page.get_by_role("button", name="Dark").click()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        page.goto("/runs")
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")


class TestWithoutScripts:
    def test_pages_can_be_read_and_a_question_is_a_page(
        self, browser, installation: Installation, session: dict[str, object]
    ):
        context = browser.new_context(
            base_url=installation.address(), storage_state=session, java_script_enabled=False
        )
        page = context.new_page()
        page.goto("/assets/hourly_sales?zoom=2026-03-10")
        page.locator('a.c[aria-label^="2026-03-10T07:00:00"]').click()
        page.get_by_role("heading", name="2026-03-10T07:00:00").wait_for()
        page.get_by_role("link", name="Record an event…").last.click()
        page.get_by_label("Partition key").wait_for()
        assert page.get_by_label("Partition key").input_value() == "2026-03-10T07:00:00"
        context.close()
