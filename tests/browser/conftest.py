"""A real installation and a real browser in front of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.axe import AXE
from tests.browser.chromium import ARGUMENTS, sign_in, watch
from tests.installed import LOGIN, Installation

DEFINITIONS = Path(__file__).parent / "definitions"

expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Web and engine in processes of their own, on SQLite: what another file has left would be found here."""
    made = Installation(
        tmp_path_factory.mktemp("installed") / "var",
        "--no-demo",
        "--definitions",
        str(DEFINITIONS),
        "--user",
        ":".join(LOGIN),
    )
    try:
        made.start()
        made.sign_in()
        yield made
    finally:
        made.kill_everything()


@pytest.fixture(scope="package")
def browser(chromium_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium_path, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def session(browser: Browser, installation: Installation) -> Iterator[dict[str, object]]:
    """The cookies of somebody who has signed in."""
    context = browser.new_context(base_url=installation.address())
    sign_in(context.new_page(), *LOGIN)
    yield context.storage_state()
    context.close()


@pytest.fixture
def context(
    browser: Browser, installation: Installation, session: dict[str, object]
) -> Iterator[BrowserContext]:
    opened = browser.new_context(
        base_url=installation.address(), storage_state=session, viewport={"width": 1440, "height": 900}
    )
    yield opened
    opened.close()


@pytest.fixture
def phone_context(
    browser: Browser, installation: Installation, session: dict[str, object]
) -> Iterator[BrowserContext]:
    """A narrow screen under a finger."""
    opened = browser.new_context(
        base_url=installation.address(),
        storage_state=session,
        viewport={"width": 390, "height": 700},
        has_touch=True,
        is_mobile=True,
    )
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A tab of somebody who has signed in. What its console complains of fails the test."""
    opened = context.new_page()
    complaints = watch(opened)
    yield opened
    assert complaints == []


@pytest.fixture(scope="module", params=["light", "dark"])
def visitor(
    request: pytest.FixtureRequest, browser: Browser, installation: Installation, session: dict[str, object]
) -> Iterator[Page]:
    """A tab in either scheme of colours, with what looks for barriers in it."""
    context = browser.new_context(
        base_url=installation.address(), storage_state=session, color_scheme=request.param
    )
    context.add_init_script(path=AXE)
    yield context.new_page()
    context.close()
