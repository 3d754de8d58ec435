"""What axe finds on a page. It comes in through the debugger: no page lets a foreign script in."""

from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page

AXE = Path(__file__).parent / "vendor" / "axe-4.14.1.min.js"


OF_COLOURS = ("color-contrast", "link-in-text-block")
"""The rules that a scheme of colours can break: all else on a page is the same in both."""


def offences(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """What is wrong, of any gravity, on a page of a context with `AXE` as its script; or just by `rules`."""
    only = {"runOnly": list(rules)} if rules else {}
    found = page.evaluate("only => axe.run(document, {resultTypes: ['violations'], ...only})", only)
    return [
        f"{each['impact']} {each['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for each in found["violations"]
        for node in each["nodes"]
    ]
