"""The pictures of the screens that are kept: none is missing or left over, and all together are small."""

import base64
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.compact import Compactor
from tests.browser.screens import ALL, FOLLOWED, PAPERS, SCREENS, SIZES, shoot
from tests.browser.unattended import STATES

pytestmark = pytest.mark.browser

KEPT = Path(__file__).parents[2] / "docs" / "screens"
NAMES = (*SCREENS, *FOLLOWED, *STATES, "sign-in", "question")
MOST = 10_000_000
"""Bytes of all of them."""

PIXEL = """async (picture) => {
  const image = new Image();
  image.src = "data:image/png;base64," + picture;
  await image.decode();
  const sheet = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
  const canvas = sheet.getContext("2d");
  canvas.drawImage(image, 0, 0);
  return [image.width, image.height, ...canvas.getImageData(11, 11, 1, 1).data.slice(0, 3)];
}"""


def test_every_screen_is_there_in_both_themes_wide_and_on_a_phone():
    there = {path.name for path in (KEPT / ALL).iterdir()}
    assert there == {
        f"{name}-{theme}-{width}.png" for name in NAMES for theme in ("light", "dark") for width in SIZES
    }


def test_those_of_the_papers_are_there_and_shown():
    shown = (KEPT / "README.md").read_text()
    for (theme, width), names in PAPERS.items():
        for name in names:
            assert (KEPT / f"{name}-{theme}-{width}.png").exists()
            assert f"{name}-{theme}-{width}.png" in shown


def test_all_of_them_are_small():
    assert sum(path.stat().st_size for path in KEPT.rglob("*.png")) < MOST


def test_a_rare_colour_stays_what_it_is(browser: Browser):
    context = browser.new_context(viewport={"width": 300, "height": 200})
    page = context.new_page()
    page.set_content(
        "<body style='margin: 0; background: linear-gradient(90deg, #222, #ddd)'>"
        "<i style='position: absolute; left: 10px; top: 10px; width: 3px; height: 3px; background: #14897c'>"
    )
    small = Compactor(context).compact(page.screenshot())
    assert page.evaluate(PIXEL, base64.b64encode(small).decode()) == [300, 200, 0x14, 0x89, 0x7C]
    context.close()


GREEN = [0x14, 0x89, 0x7C]

TALL = """<meta name='viewport' content='width=device-width'>
<style>
  body { margin: 0; height: 900px }
  #box { height: 74vh; max-height: 800px }
  #edge { position: sticky; bottom: 0; height: 20px; background: #14897c }
  @media (pointer: coarse) { body { background: #14897c } }
</style><div><div id=box></div><div id=edge></div></div>"""


def test_a_whole_picture_of_a_phone_is_one_of_a_phone(browser: Browser):
    context = browser.new_context(viewport={"width": 300, "height": 200}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.set_content(TALL)
    whole = shoot(page, whole=True)
    assert page.evaluate(PIXEL, base64.b64encode(whole).decode()) == [300, 900, *GREEN]
    assert page.viewport_size == {"width": 300, "height": 200}
    context.close()


def test_what_sticks_to_the_edge_of_a_window_covers_nothing(browser: Browser):
    """The page has grown with the window, and all of it is there."""
    context = browser.new_context(viewport={"width": 300, "height": 200})
    page = context.new_page()
    page.set_content(TALL.replace("height: 900px", "padding-bottom: 300px"))
    page.evaluate("scrollTo(0, 400)")
    taken = base64.b64encode(shoot(page, whole=True)).decode()
    width, height, *_ = page.evaluate(PIXEL, taken)
    assert (width, height) == (300, 800 + 20 + 300)
    at_its_place = PIXEL.replace("(11, 11, 1, 1)", "(11, 811, 1, 1)")
    assert page.evaluate(at_its_place, taken)[2:] == GREEN
    context.close()
