"""What somebody may not do says why: read aloud, to the keyboard and to a finger."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import AXE, offences
from tests.browser.chromium import sign_in
from tests.installed import Installation

pytestmark = pytest.mark.browser

VIEWER = ("viewer", "looks and does nothing")
CREATE = f"""
from django.contrib.auth.models import User
User.objects.create_user({VIEWER[0]!r}, password={VIEWER[1]!r})
"""
REASON = (
    "viewer may look but not do this: it takes the right to {} ({}), "
    "which the roles operator, editor and admin have."
)
RECORD = REASON.format("record events", "core.add_assetevent")
TRIGGER = REASON.format("trigger runs", "core.add_dagrun")


@pytest.fixture(scope="module")
def viewer(installation: Installation) -> None:
    assert installation.popen("shell", "-c", CREATE).wait() == 0


@pytest.fixture(params=["light", "dark"])
def screen(
    request: pytest.FixtureRequest, browser: Browser, installation: Installation, viewer: None
) -> Iterator[Page]:
    """Of somebody who may only look, with a finger."""
    context = browser.new_context(base_url=installation.address(), color_scheme=request.param, has_touch=True)
    context.add_init_script(path=AXE)
    opened = context.new_page()
    sign_in(opened, *VIEWER)
    yield opened
    context.close()


def test_a_deed_says_why_not_to_keys_and_finger(screen: Page):
    screen.goto("/assets/stock_lists")
    barred = screen.get_by_role("button", name="Record an event…")
    expect(barred).to_have_accessible_description(RECORD)
    said = screen.get_by_role("status").get_by_text(RECORD)
    expect(said).to_have_count(0)
    barred.focus()
    screen.keyboard.press("Enter")
    expect(said).to_be_in_viewport()
    screen.goto("/assets/stock_lists?key=2026-03-01")
    screen.get_by_role("button", name="Trigger make_stock_lists…").tap(
        force=True
    )  # it is not enabled, and that is the point
    expect(screen.get_by_role("status").get_by_text(TRIGGER)).to_be_in_viewport()
    assert offences(screen) == []


@pytest.mark.parametrize(
    "address", ["/dags/sum_up_sales", "/listening?dag=sum_up_sales", "/backfills/new?dag=make_stock_lists"]
)
def test_a_form_says_why_not_beside_it(screen: Page, address: str):
    screen.goto(address)
    expect(screen.get_by_role("main").get_by_text("takes the right to").first).to_be_visible()
    assert offences(screen) == []
