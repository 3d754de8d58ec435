"""What axe finds on a page. It comes in through the debugger: no page lets a foreign script in."""

from pathlib import Path

from playwright.sync_api import Page

AXE = Path(__file__).parent / "vendor" / "axe-4.14.1.min.js"


def offences(page: Page) -> list[str]:
    """What is wrong, of any gravity, on a page of a context with `AXE` as its script."""
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['impact']} {each['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for each in found["violations"]
        for node in each["nodes"]
    ]
