"""Every screen for everybody: axe finds nothing serious, nothing overflows a phone, no script complains."""

from collections.abc import Iterator

import pytest
from django.urls import resolve
from playwright.sync_api import Browser, Page, ViewportSize

from partitions_site.web.urls import urlpatterns
from tests.browser.axe import AXE, OF_COLOURS, offences
from tests.browser.chromium import watch
from tests.browser.posting import post
from tests.browser.unattended import STATES
from tests.installed import Installation

pytestmark = pytest.mark.browser

SCREENS = {
    "overview": "/",
    "asset": "/assets/hourly_sales",
    "asset, one day": "/assets/hourly_sales?zoom=2026-03-13",
    "asset, one partition": "/assets/hourly_sales?zoom=2026-03-12&key=2026-03-12T09:00:00",
    "asset, a list": "/assets/daily_sales?state=missing",
    "asset, a row": "/assets/hourly_sales?zoom=2026-03-12&sel=[2026-03-12...2026-03-12]",
    "asset, tinted by a number": "/assets/hourly_sales?zoom=2026-03-12&heat=rows",
    "asset, a matrix": "/assets/shelves",
    "asset, a slice of a matrix": "/assets/shelves?in.aisle=a",
    "asset, a line for each segment": "/assets/shelves?heat=items",
    "asset, events": "/assets/hourly_sales?tab=events",
    "asset, lineage": "/assets/daily_sales?tab=lineage",
    "asset, definition": "/assets/hourly_sales?tab=definition",
    "asset, unexpected keys": "/assets/hourly_sales?state=unexpected",
    "asset without partitions": "/assets/invoices",
    "record": "/record?asset=hourly_sales&key=x",
    "held runs": "/held",
    "no held run": "/held?key=nothing+of+the+kind",
    "held runs, late": "/held?late=yes",
    "held run": "/held/1",
    "held run beside the list": "/held?run=2",
    "fire now": "/held/2/fire",
    "cancel a held run": "/held/2/cancel",
    "all keys of a held run": "/held/2/keys",
    "held runs, two ticked": "/held?sel=2,1",
    "fire several": "/held/several/fire?sel=2,1",
    "cancel several held runs": "/held/several/cancel?sel=2,1",
    "Dags": "/dags",
    "Dag": "/dags/sum_up_sales",
    "Dag with ticks": "/dags/send_invoices",
    "Dag, why": "/dags/sum_up_sales?why=2026-03-13",
    "Dag, why not yet": "/dags/sum_up_visits?why=2026-03-12",
    "Dag, why never": "/dags/send_invoices?why=10.3.2026",
    "how a Dag listens": "/listening?dag=sum_up_sales",
    "how a Dag without assets listens": "/listening?dag=send_invoices",
    "trigger": "/trigger?dag=send_invoices&key=2026-03-12",
    "trigger, wrong key": "/trigger?dag=send_invoices&key=10.3.2026",
    "trigger, several keys": "/trigger?dag=send_invoices&several=yes&key=2026-03-12",
    "add keys": "/keys/add?asset=stores",
    "remove a key": "/keys/remove?asset=stores&key=north",
    "runs": "/runs",
    "run": "/runs/1",
    "run again": "/runs/1/retry",
    "cancel a run": "/runs/1/cancel",
    "mark a run": "/runs/1/mark",
    "runs, two ticked": "/runs?sel=1,2",
    "run several again": "/runs/several/retry?sel=1,2",
    "mark several": "/runs/several/mark?sel=1,2",
    "cancel several runs": "/runs/several/cancel?sel=1,2",
    "asset, a selection": "/assets/stock_lists?zoom=2026-03&sel=[2026-03-01...2026-03-10]",
    "wipe": "/wipe?asset=stock_lists&key=2026-03-02",
    "mark": "/mark?asset=stock_lists&sel=[2026-03-01...2026-03-10]",
    "asset, a wrong selection": "/assets/stock_lists?zoom=2026-03&sel=[2026-03-01",
    "backfills": "/backfills",
    "no backfill": "/backfills?dag=nothing",
    "backfill": "/backfills/1",
    "pause a backfill": "/backfills/1/pause",
    "resume a backfill": "/backfills/1/resume",
    "cancel a backfill": "/backfills/1/cancel",
    "try a backfill again": "/backfills/1/retry",
    "backfill, one state": "/backfills/1?state=done",
    "plan": "/backfills/new?dag=make_stock_lists&selection=[2026-03-01...2026-03-10]",
    "plan, wrong selection": "/backfills/new?dag=make_stock_lists&selection=[2026-03-01",
    "plan of nothing": "/backfills/new",
    "sensors": "/sensors",
    "definitions": "/definitions",
    "journal": "/journal",
    "tokens": "/tokens",
    "everybody's tokens": "/tokens?of=all",
    "health": "/health",
    "not found": "/assets/nothing-of-the-kind",
}

WIDE = ViewportSize(width=1280, height=720)

ELSEWHERE = {
    *("login", "oidc", "oidc_callback", "logout", "theme"),
    *("dag_pause", "sensor_pause", "dag_meaning", "written", "token_revoke"),
}
"""What comes before the sign-in, deeds without a page, a part, and what has no fixed address."""


@pytest.fixture(scope="module", autouse=True)
def world(browser: Browser, installation: Installation, session: dict[str, object]) -> None:
    """A day that has fired, one that is held, and a backfill, so that no screen is empty."""
    post(installation, *range(24), day="2026-03-12")
    post(installation, *range(20), day="2026-03-13")
    for key in ("a|left", "a|right", "b|left"):
        report(installation, "shelves", key)
    assert installation.popen("dynamic_keys", "add", "store", "north").wait() == 0
    start_backfill(browser, installation, session)
    installation.wait_for(
        lambda: installation.request("GET", "/api/v2/dags/sum_up_sales/dagRuns?state=success")[1]["dag_runs"]
    )


def report(installation: Installation, asset: str, key: str) -> None:
    [row] = installation.request("GET", f"/api/v2/assets?name_pattern={asset}")[1]["assets"]
    event = {"asset_id": row["id"], "partition_key": key, "extra": {"items": len(key)}}
    assert installation.request("POST", "/api/v2/assets/events", event)[0] == 200


def start_backfill(browser: Browser, installation: Installation, session: dict[str, object]) -> None:
    context = browser.new_context(base_url=installation.address(), storage_state=session)
    page = context.new_page()
    page.goto("/backfills/new?dag=make_stock_lists&selection=[2026-02-20...2026-02-24]&run=all")
    page.get_by_role("button", name="Start backfill").click()
    page.get_by_role("heading", name="What was asked").wait_for()
    context.close()


def test_no_screen_is_left_out():
    looked_at = (*SCREENS.values(), *STATES.values())
    names = {resolve(address.partition("?")[0]).url_name for address in looked_at}
    assert {each.name for each in urlpatterns} - names == ELSEWHERE


@pytest.fixture(scope="module")
def tab(browser: Browser, installation: Installation, session: dict[str, object]) -> Iterator[Page]:
    context = browser.new_context(
        base_url=installation.address(), storage_state=session, viewport=WIDE, color_scheme="light"
    )
    context.add_init_script(path=AXE)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def complaints(tab: Page) -> list[str]:
    return watch(tab)


@pytest.fixture(scope="module", params=SCREENS.values(), ids=SCREENS)
def screen(request: pytest.FixtureRequest, tab: Page, complaints: list[str]) -> Page:
    """Each screen, which is loaded once for all that is asked of it."""
    complaints.clear()
    tab.goto(request.param)
    return tab


def test_no_screen_makes_the_console_complain(screen: Page, complaints: list[str]):
    """The content security policy reports there what it refuses: an inline style, a foreign script."""
    expected = ["Failed to load resource: the server responded with a status of 404 (Not Found)"]
    assert complaints == (expected if screen.url.endswith(SCREENS["not found"]) else [])


def test_axe_finds_nothing(screen: Page):
    assert offences(screen) == []


def test_axe_finds_nothing_in_the_dark(screen: Page):
    screen.emulate_media(color_scheme="dark")
    found = offences(screen, OF_COLOURS)
    screen.emulate_media(color_scheme="light")
    assert found == []


@pytest.mark.parametrize("width", [390, 720])
def test_nothing_is_wider_than_a_narrow_window(screen: Page, width: int):
    screen.set_viewport_size({"width": width, "height": 800})
    overflow = screen.evaluate("document.documentElement.scrollWidth - innerWidth")
    screen.set_viewport_size(WIDE)
    assert overflow <= 0


def test_axe_finds_nothing_in_a_dialog(visitor: Page):
    visitor.goto("/held/1")
    visitor.goto("/runs/1")
    visitor.get_by_role("link", name="Run again…").click()
    visitor.get_by_role("dialog").wait_for()
    assert offences(visitor) == []


def test_axe_finds_nothing_before_the_sign_in(browser: Browser, installation: Installation):
    context = browser.new_context(base_url=installation.address())
    context.add_init_script(path=AXE)
    page = context.new_page()
    page.goto("/sign-in")
    assert offences(page) == []
    context.close()


def test_a_sentence_with_an_instant_in_it_is_one_paragraph(
    browser: Browser, installation: Installation, session: dict[str, object]
):
    """Of a day that settles: the time stands in its sentence, not in a column of its own."""
    post(installation, 7, day="2026-03-12")
    context = browser.new_context(
        base_url=installation.address(), storage_state=session, viewport={"width": 390, "height": 800}
    )
    page = context.new_page()
    page.goto("/held?dag=sum_up_sales&key=2026-03-12")
    instant = page.locator(".state.wraps time")
    instant.wait_for()
    around = instant.locator("xpath=..")
    assert around.evaluate("each => getComputedStyle(each).display") == "block"
    assert around.inner_text().startswith("settling")
    context.close()


@pytest.mark.parametrize("width", [360, 390, 800])
def test_every_page_is_in_sight_of_a_narrow_window(
    browser: Browser, installation: Installation, session: dict[str, object], width: int
):
    context = browser.new_context(
        base_url=installation.address(), storage_state=session, viewport={"width": width, "height": 800}
    )
    page = context.new_page()
    page.goto("/")
    links = page.get_by_role("navigation", name="Pages").get_by_role("link")
    boxes = [link.bounding_box() for link in links.all()]
    assert len(boxes) == 8
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
    context.close()


def test_the_first_page_of_a_phone_begins_with_what_it_is_about(
    browser: Browser, installation: Installation, session: dict[str, object]
):
    context = browser.new_context(
        base_url=installation.address(), storage_state=session, viewport={"width": 390, "height": 844}
    )
    page = context.new_page()
    page.goto("/")
    chips = page.get_by_role("navigation", name="Which assets").bounding_box()
    first = page.locator("#now").bounding_box()
    assert chips is not None
    assert first is not None
    assert chips["height"] < 45
    assert first["y"] < 260
    context.close()
