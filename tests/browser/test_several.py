"""Several rows of a list are ticked and acted on, by pointer and by keys, without leaving the list."""

from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.installed import Installation

pytestmark = pytest.mark.browser

LIST = "/held?dag=sum_up_visits"


@pytest.fixture(autouse=True)
def waiting(installation: Installation) -> None:
    """Four days of visits that have one hour each."""
    [asset] = installation.request("GET", "/api/v2/assets?name_pattern=hourly_visits")[1]["assets"]
    for day in range(1, 5):
        body = {"asset_id": asset["id"], "partition_key": f"2026-05-0{day}T05:00:00"}
        assert installation.request("POST", "/api/v2/assets/events", body)[0] == 200
    held = "/api/v2/heldRuns?dag_id=sum_up_visits"
    installation.wait_for(lambda: installation.request("GET", held)[1]["total_entries"] >= 4)


def box(page: Page, key: str):
    return page.get_by_role("checkbox", name=f"Select sum_up_visits {key}")


def bar(page: Page):
    return page.get_by_role("form", name="Selection")


def test_two_are_cancelled_and_the_list_stays(page: Page):
    page.goto(LIST)
    page.evaluate("window.notReloaded = true")
    box(page, "2026-05-01").check()
    box(page, "2026-05-02").check()
    expect(bar(page)).to_contain_text("2 held runs selected: sum_up_visits 2026-05-01, 2026-05-02")
    assert "sel=" in page.url
    bar(page).get_by_role("link", name="Cancel…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Cancel 2 held runs?")
    dialog.get_by_label("Reason").fill("a test")
    dialog.get_by_role("button", name="Cancel 2 held runs").dblclick()
    expect(page.locator("#said")).to_have_text("2 held runs cancelled.")
    expect(box(page, "2026-05-01")).to_have_count(0)
    expect(box(page, "2026-05-03")).not_to_be_checked()
    expect(bar(page)).to_contain_text("Tick held runs to act on several at once")
    assert "sel=" not in page.url
    assert page.evaluate("window.notReloaded")
    page.goto("/journal?event=held run cancelled&day=")
    expect(page.get_by_role("row").filter(has_text="a test")).to_have_count(2)


def test_one_that_is_looked_at_beside_the_list_leaves_the_ticks(page: Page):
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(LIST)
    box(page, "2026-05-02").check()
    expect(bar(page)).to_contain_text("1 held run selected")
    page.get_by_role("link", name="2026-05-03", exact=True).click()
    expect(page.locator("#panel")).to_contain_text("2026-05-03")
    expect(box(page, "2026-05-02")).to_be_checked()
    assert "sel=" in page.url


def test_by_keys_alone(page: Page):
    page.goto(LIST)
    first, second = box(page, "2026-05-01"), box(page, "2026-05-02")
    first.focus()
    page.keyboard.press("Space")
    expect(bar(page)).to_contain_text("1 held run selected")
    page.keyboard.press("Shift+ArrowDown")
    expect(second).to_be_focused()
    expect(bar(page)).to_contain_text("2 held runs selected")
    page.keyboard.press("Escape")
    expect(bar(page)).to_contain_text("Tick held runs")
    expect(second).not_to_be_checked()
    page.keyboard.press("Space")
    expect(bar(page)).to_contain_text("1 held run selected: sum_up_visits 2026-05-02")
    page.keyboard.press("Enter")
    expect(bar(page).get_by_role("link", name="Fire now…")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("2026-05-02 without hourly_visits")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(bar(page)).to_contain_text("1 held run selected")


def test_a_stretch_and_all_of_the_page(page: Page):
    page.goto(LIST)
    box(page, "2026-05-01").click()
    box(page, "2026-05-03").click(modifiers=["Shift"])
    expect(bar(page)).to_contain_text("3 held runs selected")
    every = page.get_by_role("checkbox", name="Select all on this page")
    assert every.evaluate("box => box.indeterminate")
    every.click()
    expect(box(page, "2026-05-04")).to_be_checked()
    every.click()
    expect(bar(page)).to_contain_text("Tick held runs")
    bar(page).get_by_role("link", name="select all").click()
    expect(every).to_be_checked()


def test_what_is_refused_is_told_and_the_rest_is_done(page: Page, installation: Installation):
    """Another person cancels one of them while the question is open."""
    page.goto(LIST)
    box(page, "2026-05-03").check()
    box(page, "2026-05-04").check()
    bar(page).get_by_role("link", name="Cancel…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Cancel 2 held runs?")
    held = installation.request("GET", "/api/v2/heldRuns?dag_id=sum_up_visits&partition_key=2026-05-03")[1]
    [other] = [each for each in held["held_runs"] if each["partition_key"] == "2026-05-03"]
    assert installation.request("POST", f"/api/v2/heldRuns/{other['id']}/cancel", {})[0] == 200
    dialog.get_by_role("button", name="Cancel 2 held runs").click()
    expect(dialog).to_contain_text("1 held run cancelled")
    expect(dialog).to_contain_text("sum_up_visits 2026-05-03 it is not held any more: cancelled")
    expect(box(page, "2026-05-04")).to_have_count(0)
    dialog.get_by_role("link", name="Close").click()
    expect(dialog).to_have_count(0)


def test_what_is_refused_stays_ticked(page: Page, installation: Installation):
    """Another person marks one of two runs while the question is open."""
    runs = "/api/v2/dags/make_stock_lists/dagRuns"
    for key in ("2026-03-01", "2026-03-02"):
        assert installation.request("POST", runs, {"partition_key": key})[0] == 200
    installation.wait_for(
        lambda: installation.request("GET", f"{runs}?state=success")[1]["total_entries"] == 2
    )
    page.goto("/runs?dag=make_stock_lists")
    for key in ("2026-03-01", "2026-03-02"):
        page.get_by_role("checkbox", name=f"Select make_stock_lists {key}").check()
    bar(page).get_by_role("link", name="Mark…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Mark 2 runs?")
    dialog.get_by_label("Failed").check()
    found = installation.request("GET", runs)[1]["dag_runs"]
    [other] = [each["dag_run_id"] for each in found if each["partition_key"] == "2026-03-01"]
    assert installation.request("PATCH", f"{runs}/{quote(other)}", {"state": "failed"})[0] == 200
    dialog.get_by_role("button", name="Mark 2 runs").click()
    expect(dialog).to_contain_text("1 run marked as failed")
    dialog.get_by_role("link", name="Close").click()
    expect(bar(page)).to_contain_text("1 run selected: make_stock_lists 2026-03-01")
    expect(page.get_by_role("checkbox", name="Select make_stock_lists 2026-03-01")).to_be_checked()
    expect(page.get_by_role("checkbox", name="Select make_stock_lists 2026-03-02")).not_to_be_checked()


def test_without_scripts_ticks_lead_to_the_same(browser, installation: Installation, session):
    context = browser.new_context(
        base_url=installation.address(), storage_state=session, java_script_enabled=False
    )
    page = context.new_page()
    page.goto(LIST)
    box(page, "2026-05-01").check()
    box(page, "2026-05-02").check()
    page.get_by_role("button", name="Select what is ticked").click()
    expect(bar(page)).to_contain_text("2 held runs selected")
    bar(page).get_by_role("link", name="Fire now…").click()
    expect(page.get_by_role("heading", name="Fire 2 held runs now?")).to_be_visible()
    page.get_by_role("link", name="No, go back").click()
    assert page.url.endswith(LIST)
    context.close()
