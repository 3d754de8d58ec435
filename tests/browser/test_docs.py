"""The page to browse the API draws itself under the strict policy, and asks nobody else for anything."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import offences
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


@pytest.mark.parametrize(
    ("device", "chosen", "is_dark"),
    [
        ("dark", None, True),
        ("light", None, False),
        ("light", "dark", True),
        ("dark", "light", False),
    ],
)
def test_has_the_theme_of_the_other_pages(
    browser: Browser, installation: Installation, device: str, chosen: str | None, is_dark: bool
) -> None:
    context = browser.new_context(base_url=installation.address(), color_scheme=device)
    if chosen:
        context.add_cookies([{"name": "theme", "value": chosen, "url": installation.address()}])
    page = context.new_page()
    page.goto("/docs")
    page.wait_for_selector(".opblock")
    shade = page.evaluate("getComputedStyle(document.querySelector('.swagger-ui')).color")
    lightest = max(map(int, shade.removeprefix("rgb(").removesuffix(")").split(",")))
    assert (lightest > 128) == is_dark
    context.close()


def test_can_be_read_in_either_theme(visitor: Page) -> None:
    """What else axe finds is how Swagger UI is built: a button inside the button of an operation."""
    visitor.goto("/docs")
    visitor.wait_for_selector(".opblock")
    assert [each for each in offences(visitor) if "color-contrast" in each] == []


def test_leads_back(page: Page) -> None:
    page.goto("/docs")
    page.get_by_role("link", name="Partita").click()
    expect(page.get_by_role("heading", name="Assets")).to_be_visible()


def test_is_no_wider_than_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/docs")
    page.wait_for_selector(".opblock")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
