"""The page to browse the API draws itself under the strict policy, and asks nobody else for anything."""

import pytest
from playwright.sync_api import Page

from tests.installed import Installation

pytestmark = pytest.mark.browser


def test_draws_every_operation(page: Page, installation: Installation) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/docs")
    page.wait_for_selector(".opblock")
    assert page.locator(".opblock").count() > 50
    assert page.get_by_text("Report an event", exact=True).is_visible()
    own = (installation.address(), "data:", "blob:")
    assert [url for url in asked if not url.startswith(own)] == []


def test_an_operation_can_be_tried(page: Page) -> None:
    """With the session of whoever looks at the page."""
    page.goto("/docs")
    page.locator("#operations-version-get_version button.opblock-summary-control").click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    page.locator(".live-responses-table .response-col_status", has_text="200").wait_for()
