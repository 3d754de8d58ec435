"""Partitions selected on a grid, and what is done with many at once."""

import re

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.finger import Finger
from tests.installed import Installation

pytestmark = pytest.mark.browser


STARTED = re.compile(r"/backfills/\d+$")
GRID = "/assets/stock_lists?zoom=2026-03"


def square(page: Page, key: str) -> Locator:
    return page.locator(f'a.c[aria-label^="{key}:"]')


def day(page: Page, number: int) -> Locator:
    return square(page, f"2026-03-{number:02}")


def drag(page: Page, start: Locator, end: Locator) -> None:
    start.hover()
    page.mouse.down()
    end.hover()
    page.mouse.up()


def emit(installation: Installation, *keys: str) -> None:
    [asset] = installation.request("GET", "/api/v2/assets?name_pattern=stock_lists")[1]["assets"]
    for key in keys:
        event = {"asset_id": asset["id"], "partition_key": key}
        assert installation.request("POST", "/api/v2/assets/events", event)[0] == 200


class TestFromDragToDone:
    def test_ten_days_are_dragged_planned_started_and_done(self, page: Page, installation: Installation):
        emit(installation, "2026-03-03", "2026-03-07")
        page.goto(GRID)
        drag(page, day(page, 1), day(page, 10))
        chosen = page.locator("#chosen")
        expect(chosen).to_contain_text("10 partitions selected")
        assert "sel=%5B2026-03-01...2026-03-10%5D" in page.url
        page.get_by_role("link", name="Backfill…").click()

        plan = page.get_by_role("region", name="Plan")
        expect(plan.get_by_role("status")).to_have_text("8 to run, 2 skipped")
        expect(plan.get_by_role("row").filter(has_text="2026-03-03")).to_contain_text("skipped: it has data")
        plan.get_by_role("button", name="Start backfill of 8 keys").click()

        page.wait_for_url(STARTED)
        page.evaluate("window.notReloaded = true")
        expect(page.get_by_role("status").filter(has_text="success")).to_be_visible()
        expect(page.locator("#now")).to_contain_text("10 keys: 8 done, 2 skipped")
        expect(page.locator(".flow a.c.m")).to_have_count(8)
        assert page.evaluate("window.notReloaded")

        page.goto(GRID)
        expect(day(page, 10)).to_have_attribute("aria-label", "2026-03-10: materialized")

    def test_typing_changes_the_plan_and_what_is_wrong_is_pointed_at(self, page: Page):
        page.goto("/backfills/new?dag=make_stock_lists&selection=2026-02-01")
        plan = page.get_by_role("region", name="Plan")
        expect(plan.get_by_role("status")).to_have_text("1 to run")
        keys = page.get_by_label("Keys", exact=True)
        keys.fill("[2026-02-01...2026-02-04]")
        expect(plan.get_by_role("status")).to_have_text("4 to run")
        keys.press("End")
        keys.press("Backspace")
        expect(plan.get_by_role("alert")).to_contain_text("expected ]", ignore_case=True)
        assert "selection=%5B2026-02-01" in page.url

    def test_a_plan_that_is_being_worked_out_is_no_plan(self, page: Page):
        page.goto("/backfills/new?dag=make_stock_lists&selection=2026-02-01")
        plan, held = page.get_by_role("region", name="Plan"), []
        page.route("**/backfills/new?**", lambda route: held.append(route))
        with page.expect_request("**/backfills/new?**"):
            page.get_by_label("Keys", exact=True).fill("[2026-02-01...2026-02-04]")
        expect(plan.locator("header")).to_have_css("opacity", "0.35")
        held[0].continue_()
        expect(plan.get_by_role("status")).to_have_text("4 to run")
        expect(plan.locator("header")).to_have_css("opacity", "1")

    def test_two_clicks_start_one_backfill(self, page: Page):
        page.goto("/backfills/new?dag=make_stock_lists&selection=[2026-02-10...2026-02-12]&title=twice")
        page.get_by_role("button", name="Start backfill").dblclick()
        page.wait_for_url(STARTED)
        page.goto("/backfills")
        expect(page.get_by_role("link", name="twice")).to_have_count(1)


class TestByFinger:
    @pytest.fixture
    def phone(self, phone_context: BrowserContext) -> Page:
        page = phone_context.new_page()
        page.goto(GRID)
        return page

    def test_one_that_rests_on_a_square_selects_from_there(self, phone: Page):
        finger = Finger(phone)
        finger.down(day(phone, 2))
        expect(phone.locator("a.c.on")).to_have_count(1)
        for number in (3, 4, 5):
            finger.move(finger.middle_of(day(phone, number)))
        expect(phone.locator("a.c.on")).to_have_count(4)
        finger.up()
        expect(phone.locator("#chosen")).to_contain_text("4 partitions selected")
        assert "sel=%5B2026-03-02...2026-03-05%5D" in phone.url
        assert "key=" not in phone.url

    def test_one_at_the_edge_brings_in_what_lies_behind_it(self, phone: Page):
        finger = Finger(phone)
        finger.down(day(phone, 2))
        expect(phone.locator("a.c.on")).to_have_count(1)
        edge = {"x": 372, "y": finger.middle_of(day(phone, 2))["y"]}
        while phone.locator(".gridbox").evaluate("box => box.scrollLeft") < 200:
            finger.move(edge)
            edge["x"] = 743 - edge["x"]
        finger.move({"x": 350, "y": edge["y"]})
        finger.up()
        expect(phone.locator("#chosen")).to_contain_text(re.compile(r"(1[5-9]|2\d) partitions selected"))

    def test_one_that_moves_at_once_scrolls(self, phone: Page):
        finger = Finger(phone)
        finger.down(day(phone, 10))
        start = finger.middle_of(day(phone, 10))
        for step in range(1, 12):
            finger.move({"x": start["x"], "y": start["y"] - 20 * step})
        finger.up()
        phone.wait_for_function("() => scrollY > 60 || document.querySelector('.gridbox').scrollTop > 60")
        expect(phone.locator("a.c.on")).to_have_count(0)
        assert "sel=" not in phone.url

    def test_a_tap_opens_a_partition(self, phone: Page):
        day(phone, 11).tap()
        expect(phone.get_by_role("heading", name="2026-03-11")).to_be_visible()
        assert "sel=" not in phone.url


class TestSelection:
    def test_a_shift_click_selects_from_the_last_square_on(self, page: Page):
        page.goto(GRID)
        day(page, 20).click()
        page.get_by_role("heading", name="2026-03-20").wait_for()
        day(page, 23).click(modifiers=["Shift"])
        expect(page.locator("#chosen")).to_contain_text("4 partitions selected")
        expect(page.get_by_role("heading", name="2026-03-20")).to_be_visible()

    def test_the_keyboard_alone_selects_and_goes_on_to_the_plan(self, page: Page):
        page.goto(GRID)
        page.locator('a.c[tabindex="0"]').focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.down("Shift")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        page.keyboard.up("Shift")
        expect(page.locator("#chosen")).to_contain_text("3 partitions selected")
        expect(day(page, 4)).to_be_focused()
        expect(day(page, 4)).to_have_attribute("aria-label", re.compile("^2026-03-04: .*, selected$"))
        page.get_by_role("link", name="Backfill…").press("Enter")
        expect(page.get_by_role("region", name="Plan")).to_contain_text("2026-03-02")

    def test_a_head_selects_its_row(self, page: Page):
        page.goto("/assets/stock_lists")
        page.get_by_role("rowheader").filter(has_text="Feb 2026").click(modifiers=["Shift"])
        expect(page.locator("#chosen")).to_contain_text("28 partitions selected")
        assert page.url.endswith("sel=%5B2026-02-01...2026-02-28%5D")

    def test_one_that_begins_at_a_key_of_no_definition_begins_at_the_next_real_one(
        self, page: Page, installation
    ):
        emit(installation, "2026-01-31")
        page.goto("/assets/stock_lists")
        drag(page, square(page, "2026-01-31"), day(page, 3))
        expect(page.locator("#chosen")).to_contain_text("31 partitions selected")
        expect(page.get_by_label("Select", exact=True)).to_have_value("[2026-02-01...2026-03-03]")
        square(page, "2026-01-31").focus()
        page.keyboard.press("Space")
        expect(page.locator("#chosen")).to_contain_text("2026-01-31")
        page.get_by_role("link", name="Clear").click()
        expect(page.locator("#chosen")).to_be_empty()

    def test_columns_of_a_matrix_are_written_with_a_star(self, page: Page):
        page.goto("/assets/shelves")
        page.get_by_role("columnheader", name="right").click()
        expect(page.locator("#chosen")).to_contain_text("3 partitions selected")
        expect(page.get_by_label("Select", exact=True)).to_have_value("*|right")
        drag(page, square(page, "a|left"), square(page, "b|right"))
        expect(page.locator("#chosen")).to_contain_text("4 partitions selected")
        expect(page.get_by_label("Select", exact=True)).to_have_value("a|[left...right], b|[left...right]")

    def test_what_is_typed_is_drawn_and_what_is_wrong_is_pointed_at(self, page: Page):
        page.goto(GRID)
        field = page.get_by_label("Select", exact=True)
        field.fill("[2026-03-25...2026-03-26], 2026-03-28")
        field.press("Enter")
        expect(page.locator("a.c.on")).to_have_count(3)
        field.fill("[2026-03-25")
        field.press("Enter")
        expect(page.locator("#chosen")).to_contain_text("expected ...")

    def test_a_selection_is_narrowed_to_a_state_and_survives_a_reload(self, page: Page, installation):
        emit(installation, "2026-03-30")
        page.goto(GRID + "&sel=[2026-03-29...2026-03-31]")
        page.get_by_role("navigation", name="Only those in one state").get_by_role("link").click()
        expect(page.locator("#chosen")).to_contain_text("2 partitions selected: missing ones of 3")
        page.reload()
        expect(page.locator("a.c.on")).to_have_count(2)
        page.get_by_role("link", name="Clear").click()
        expect(page.locator("a.c.on")).to_have_count(0)
        assert "sel=" not in page.url

    def test_a_long_one_stays_where_links_leave_it_out(self, page: Page, installation):
        emit(installation, "2026-03-30")
        text = ", ".join(f"2026-03-{number:02}" for number in range(1, 32))
        page.goto(f"{GRID}&sel={text}")
        states = page.get_by_role("navigation", name="Only those in one state")
        missing = states.get_by_role("link").filter(has_text="missing")
        for found in ("missing ones of 31", "31 partitions selected"):
            missing.click()
            expect(page.locator("#chosen")).to_contain_text(found)
        page.get_by_role("navigation", name="Neighbouring periods").get_by_role("link").first.click()
        expect(page.get_by_label("Select", exact=True)).to_have_value(text)
        page.get_by_role("link", name="Clear").click()
        expect(page.locator("#chosen")).to_be_empty()
        assert "sel=" not in page.url

    def test_one_partition_can_be_triggered(self, page: Page):
        page.goto(GRID + "&sel=2026-03-31")
        page.get_by_role("group", name="Selection").get_by_role(
            "link", name="Trigger make_stock_lists…"
        ).click()
        expect(page.get_by_role("dialog").get_by_label("Partition key")).to_have_value("2026-03-31")

    def test_a_refresh_leaves_a_drag_alone(self, page: Page, installation: Installation):
        page.goto(GRID)
        day(page, 12).hover()
        page.mouse.down()
        day(page, 14).hover()
        emit(installation, "2026-03-17")
        with page.expect_response(lambda answer: answer.request.headers.get("hx-target") == "pulse"):
            pass
        expect(page.locator("a.c.on")).to_have_count(3)
        page.mouse.up()
        expect(page.locator("#chosen")).to_contain_text("3 partitions selected")
        expect(day(page, 17)).to_have_attribute("aria-label", "2026-03-17: materialized")
