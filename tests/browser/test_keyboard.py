"""The walks of an operator with the keyboard alone: nothing here touches a mouse."""

import pytest
from playwright.sync_api import Page, expect

from tests.installed import Installation

pytestmark = pytest.mark.browser

NAME = """() => {
  const node = document.activeElement;
  return node.getAttribute("aria-label") ?? node.labels?.[0]?.innerText ?? node.innerText ?? "";
}"""


def tab_to(page: Page, name: str, *, exactly: bool = False, within: int = 150) -> None:
    """Press Tab until what has the focus is called so, `within` so many times."""
    for _ in range(within):
        page.keyboard.press("Tab")
        found = page.evaluate(NAME).strip()
        if found == name or (not exactly and found.startswith(name)):
            return
    raise AssertionError(f"Tab never comes to {name!r}")


def go_to(page: Page, name: str, *, exactly: bool = False, within: int = 150) -> None:
    """Follow the link, or press the button, that is called so."""
    tab_to(page, name, exactly=exactly, within=within)
    page.keyboard.press("Enter")


def fill(page: Page, name: str, words: str, *, exactly: bool = False) -> None:
    tab_to(page, name, exactly=exactly)
    page.keyboard.press("Control+a")
    page.keyboard.type(words)


def report(installation: Installation, asset: str, *keys: str) -> None:
    [found] = installation.request("GET", f"/api/v2/assets?name_pattern={asset}")[1]["assets"]
    reports = [{"asset_id": found["id"], "partition_key": key} for key in keys]
    assert installation.request("POST", "/api/v2/assets/events/bulk", reports)[0] in (200, 201)


def hours(day: str, *, without: tuple[int, ...] = ()) -> list[str]:
    return [f"{day}T{hour:02}:00:00" for hour in range(24) if hour not in without]


def test_from_held_to_fired(page: Page, installation: Installation):
    """Held runs, "hours 09, 11, 22", the producer of 09, and the row fires by itself."""
    report(installation, "hourly_visits", *hours("2026-03-14", without=(9, 11, 22)))
    page.goto("/")
    go_to(page, "Held runs")
    page.wait_for_url("**/held")
    row = page.get_by_role("row").filter(has_text="2026-03-14").filter(has_text="sum_up_visits")
    expect(row).to_contain_text("hours 09, 11, 22")
    go_to(page, "2026-03-14", exactly=True)
    beside = page.get_by_role("complementary", name="Held run")
    expect(beside).to_be_focused()
    go_to(page, "Trigger count_visits…")
    expect(page.get_by_role("dialog").get_by_label("Partition key")).to_have_value("2026-03-14T09:00:00")
    go_to(page, "Trigger", exactly=True)
    expect(beside.get_by_role("link", name="Its run: success")).to_be_visible()
    expect(row).to_have_count(0)


def test_from_a_selection_to_done(page: Page):
    """Some days of a grid, a backfill of them, its progress, done."""
    page.goto("/")
    go_to(page, "stock_lists")
    page.wait_for_url("**/assets/stock_lists")
    tab_to(page, "2026-02-01: ")
    page.keyboard.press("End")
    page.keyboard.down("Shift")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.keyboard.up("Shift")
    expect(page.locator("#chosen")).to_contain_text("3 partitions selected")
    go_to(page, "Backfill…", within=4)
    page.wait_for_url("**/backfills/new?**")
    expect(page.get_by_role("region", name="Plan").get_by_role("status")).to_have_text("3 to run")
    go_to(page, "Start backfill of 3 keys")
    page.wait_for_url("**/backfills/*")
    expect(page.get_by_role("status").filter(has_text="success")).to_be_visible()
    expect(page.locator("#now")).to_contain_text("3 keys: 3 done")


def test_a_key_is_triggered_by_typing_it(page: Page):
    """A key of a wrong form is refused before it is sent, with the right one; then the right one runs."""
    page.goto("/")
    go_to(page, "Dags")
    page.wait_for_url("**/dags")
    go_to(page, "price_markets")
    page.wait_for_url("**/dags/price_markets")
    fill(page, "Partition key", "tw|10.3.2026", exactly=True)
    means = page.locator("#means")
    expect(means).to_contain_text("%Y-%m-%dT%H:%M:%S")
    page.keyboard.press("Enter")
    assert page.url.endswith("/dags/price_markets")
    expect(page.locator("#key")).to_be_focused()

    page.keyboard.press("Control+a")
    page.keyboard.type("tw|2026-03-10T09:00:00")
    expect(means).to_contain_text("Tuesday 10 March 2026, 09:00 UTC")
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/*")
    expect(page.get_by_role("status").filter(has_text="success")).to_be_visible()
    expect(page.get_by_role("list", name="Log")).to_contain_text("prices of tw|2026-03-10T09:00:00")
    go_to(page, "price_lists")
    page.wait_for_url("**/assets/price_lists?key=*")
    expect(page.locator('a.c[aria-label^="tw|2026-03-10T09:00:00: materialized"]')).to_be_visible()


def test_a_looser_policy_fires_what_it_says(page: Page, installation: Installation):
    days = ("2026-03-02", "2026-03-03", "2026-03-04")
    report(installation, "vault_counts", *(key for day in days for key in hours(day, without=(23,))))
    held = "/api/v2/heldRuns?dag_id=close_vaults"
    installation.wait_for(lambda: installation.request("GET", held)[1]["total_entries"] == 3)
    page.goto("/")
    go_to(page, "Dags")
    page.wait_for_url("**/dags")
    go_to(page, "close_vaults")
    page.wait_for_url("**/dags/close_vaults")
    go_to(page, "See or change its mapper")
    page.wait_for_url("**/listening?**")
    tab_to(page, "Kind of wait policy")
    page.keyboard.type("Min")
    expect(page.get_by_label("How many (needed)")).to_be_visible()
    fill(page, "How many (needed)", "-1")
    proposal = page.locator("#proposal")
    expect(proposal).to_contain_text("3 held runs will fire")
    fill(page, "Reason", "one vault has no clock")
    go_to(page, "Save", exactly=True)
    expect(page.get_by_role("status").filter(has_text="listens as you said from now on")).to_be_visible()
    installation.wait_for(lambda: installation.request("GET", held)[1]["total_entries"] == 0)
    go_to(page, "Runs", exactly=True)
    page.wait_for_url("**/runs")
    expect(page.get_by_role("row").filter(has_text="close_vaults").filter(has_text="success")).to_have_count(
        3
    )


def test_a_dynamic_key_is_added_and_run(page: Page):
    page.goto("/")
    go_to(page, "stores")
    page.wait_for_url("**/assets/stores")
    go_to(page, "Add keys…")
    expect(page.get_by_role("dialog")).to_be_visible()
    fill(page, "Partition keys", "east")
    go_to(page, "Add keys", exactly=True)
    expect(page.get_by_role("dialog")).to_have_count(0)
    square = page.locator('a.c[aria-label^="east: missing"]')
    expect(square).to_be_visible()
    tab_to(page, "east: missing")
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary", name="Partition")
    expect(panel.locator(".state").first).to_have_text("missing")
    go_to(page, "Trigger open_store…")
    expect(page.get_by_role("dialog")).to_be_visible()
    go_to(page, "Trigger", exactly=True)
    page.wait_for_url("**/runs/*")
    expect(page.get_by_role("status").filter(has_text="success")).to_be_visible()
