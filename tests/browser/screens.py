"""Pictures of every screen, both themes, wide and on a phone: `python -m tests.browser.screens docs/screens`.

Whole pages go into `all/`; of those that the papers show, as much as a window does lies beside it. Without
`--address` it starts an installation of its own: the demo replayed, a broken file, a failed run.
"""

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.browser.chromium import ARGUMENTS, sign_in
from tests.browser.compact import Compactor
from tests.browser.unattended import STATES, unattended
from tests.installed import LOGIN, Installation
from tests.servers import chromium_path

HELD_DAY = "seattle%7C2010-03-14"

SCREENS = {
    "overview": "/",
    "asset": "/assets/hourly_temperature",
    "asset-month": "/assets/hourly_temperature?zoom=2010-03",
    "asset-day": f"/assets/hourly_temperature?zoom=2010-03-14&key={HELD_DAY}T02:00:00",
    "asset-held": f"/assets/daily_temperature?key={HELD_DAY}",
    "asset-made": "/assets/monthly_temperature?key=sf%7C2010-07",
    "asset-slice": "/assets/hourly_temperature?zoom=2010-03&in.city=seattle",
    "asset-list": "/assets/daily_temperature?state=held",
    "asset-live": "/assets/machine_load",
    "asset-lineage": "/assets/daily_temperature?tab=lineage",
    "asset-heat": "/assets/daily_temperature?zoom=2010&heat=mean",
    "held": "/held",
    "dags": "/dags",
    "dag": "/dags/daily_temperature",
    "listening": "/listening?dag=daily_temperature",
    "dag-why": f"/dags/daily_temperature?why={HELD_DAY}",
    "dag-ticks": "/dags/machine_load",
    "trigger": f"/trigger?dag=daily_temperature&key={HELD_DAY}",
    "trigger-refused": "/trigger?dag=machine_load&key=14.3.2010",
    "runs": "/runs",
    "runs-failed": "/runs?state=failed",
    "asset-selection": "/assets/daily_temperature?sel=seattle|[2010-03-10...2010-03-19]",
    "mark": "/mark?asset=daily_temperature&sel=seattle|[2010-03-10...2010-03-14]",
    "backfills": "/backfills",
    "plan": "/backfills/new?dag=ingest_temperatures&selection=seattle|[2010-03-10...2010-03-14]&run=all",
    "plan-folded": "/backfills/new?dag=ingest_temperatures&selection=seattle|[2010-03-01...2010-04-30]",
    "plan-large": "/backfills/new?dag=daily_temperature",
    "plan-wrong": "/backfills/new?dag=ingest_temperatures&selection=seattle|[2010-03-10",
    "definitions": "/definitions",
    "journal": "/journal",
    "tokens": "/tokens",
    "health": "/health",
}
FOLLOWED = {
    "held-run": ("/held?dag=daily_temperature", "td[data-label=Partition] a"),
    "run": ("/runs?dag=monthly_temperature", "td[data-label=Key] a"),
    "backfill": ("/backfills", "td.tight a"),
    "run-failed": ("/runs?state=failed", "td[data-label=Key] a"),
}
"""Screens whose address has a number: where to find a link to one."""

PAPERS = {
    ("light", 1440): (
        *("overview", "asset-held", "asset-heat", "asset-selection", "held", "held-run", "dag-why"),
        *("listening", "trigger", "plan", "backfill"),
    ),
    ("dark", 1440): ("overview", "asset"),
    ("light", 390): ("overview", "held"),
}
"""Which pictures the papers show, as much of each screen as a window does."""

ALL = "all"

SIZES = {1440: 900, 390: 844}
PHONES = (390,)
PATIENCE = 120_000
TRIES = 20
"""How often a page may grow with its window."""

BROKEN = """from scheduling.sdk import DAG, Asset

sales = Asset("sales")
with DAG("report", schedule=sale):
    ...
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.browser.screens", description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument(
        "--address", help="a running installation with the demo, such as http://127.0.0.1:8000"
    )
    parser.add_argument("--papers", action="store_true", help="just those that the papers show")
    parser.add_argument("--user", default=":".join(LOGIN), metavar="NAME:PASSWORD")
    options = parser.parse_args()
    (options.directory / ALL).mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        address = options.address or stack.enter_context(demo())
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
        for theme in ("light", "dark"):
            for width in SIZES:
                take(browser, address, options, theme, width)
        if not (options.papers or options.address):
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory()), "var")
            made = stack.enter_context(unattended(directory))
            for theme in ("light", "dark"):
                for width in SIZES:
                    take_rare(browser, made.address(), options, theme, width)


def take_rare(browser: Browser, address: str, options: argparse.Namespace, theme: str, width: int) -> None:
    """Every state that passes quickly, in one theme and width."""
    context, page, picture = _open(browser, address, options, theme, width)
    sign_in(page, *LOGIN)
    for name, path in STATES.items():
        page.goto(path)
        picture(name)
    context.close()


def take(browser: Browser, address: str, options: argparse.Namespace, theme: str, width: int) -> None:
    """Every screen in one theme and width, as `NAME-THEME-WIDTH.png`."""
    context, page, picture = _open(browser, address, options, theme, width)

    def is_wanted(name: str) -> bool:
        return not options.papers or name in PAPERS.get((theme, width), ())

    page.goto("/sign-in")
    if is_wanted("sign-in"):
        picture("sign-in")
    sign_in(page, *options.user.split(":", 1))
    for name in filter(is_wanted, SCREENS):
        page.goto(SCREENS[name])
        picture(name)
    begin_backfill(page)
    for name in filter(is_wanted, FOLLOWED):
        path, link = FOLLOWED[name]
        page.goto(path)
        if page.locator(link).count():
            page.goto(page.locator(link).first.get_attribute("href"))
            picture(name)
    if is_wanted("question"):
        ask(page)
        picture("question")
    context.close()


def _open(
    browser: Browser, address: str, options: argparse.Namespace, theme: str, width: int
) -> tuple[BrowserContext, Page, Callable[[str], None]]:
    """A window or a phone, its page, and what takes a picture of that by a name."""
    context = browser.new_context(
        base_url=address,
        color_scheme=theme,
        viewport={"width": width, "height": SIZES[width]},
        has_touch=width in PHONES,
        is_mobile=width in PHONES,
    )
    page, compactor = context.new_page(), Compactor(context)
    page.set_default_timeout(PATIENCE)

    def keep(name: str, *, whole: bool) -> None:
        taken = compactor.compact(shoot(page, whole=whole))
        (options.directory / (ALL if whole else "") / f"{name}-{theme}-{width}.png").write_bytes(taken)

    def picture(name: str) -> None:
        page.wait_for_load_state("networkidle")
        if name in PAPERS.get((theme, width), ()):
            keep(name, whole=False)
        if not options.papers:
            keep(name, whole=True)

    return context, page, picture


def shoot(page: Page, *, whole: bool) -> bytes:
    """A picture of the page. For a whole one the window is made as high: what sticks to it covers nothing."""
    size = page.viewport_size
    if not (whole and size):
        return page.screenshot()
    height = size["height"]
    for _ in range(TRIES):
        height, before = page.evaluate("document.documentElement.scrollHeight"), height
        if height == before:
            break
        page.set_viewport_size({"width": size["width"], "height": height})
    page.evaluate("scrollTo(0, 0)")
    taken = page.screenshot()
    page.set_viewport_size(size)
    return taken


def begin_backfill(page: Page) -> None:
    """Start one, unless there is one."""
    if not page.goto("/backfills/1").ok:
        page.goto(SCREENS["plan"])
        page.get_by_role("button", name="Start backfill").click()
        page.get_by_role("heading", name="What was asked").wait_for()


def ask(page: Page) -> None:
    """A question in a dialog, not answered."""
    page.goto("/held?dag=daily_temperature")
    page.locator(FOLLOWED["held-run"][1]).first.click()
    page.get_by_role("link", name="Fire now…").click()
    page.get_by_role("dialog").wait_for()


@contextlib.contextmanager
def demo() -> Iterator[str]:
    """An installation with the examples replayed."""
    with tempfile.TemporaryDirectory() as directory:
        broken = Path(tempfile.gettempdir(), "shop", "report.py")  # its name is in the pictures
        broken.parent.mkdir(exist_ok=True)
        broken.write_text(BROKEN)
        made = Installation(
            Path(directory) / "var",
            *("--definitions", "scheduling.examples"),
            *("--definitions", str(broken)),
            *("--user", ":".join(LOGIN)),
            # The demo is loaded by another process, which must not find fewer files than `up` did.
            environment={"PARTITA_DEFINITIONS": f"scheduling.examples,{broken}"},
        )
        made.start()
        try:
            assert made.popen("load_demo", stdout=sys.stderr).wait() == 0
            made.sign_in()
            run = {"partition_key": "atlantis|2010-03-14"}
            made.request("POST", "/api/v2/dags/ingest_temperatures/dagRuns", run)
            failed = "/api/v2/dags/ingest_temperatures/dagRuns?state=failed"
            made.wait_for(lambda: made.request("GET", failed)[1]["dag_runs"])
            yield made.address()
        finally:
            made.kill_everything()


if __name__ == "__main__":
    main()
