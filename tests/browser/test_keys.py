"""The help of keys: opened by ? or at the foot, closed again, and true to what the scripts know."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

STATIC = Path(__file__).parents[2] / "static"


def help_of(page: Page):
    return page.get_by_role("dialog", name="Keyboard", exact=True)


def test_is_opened_by_a_key_and_gives_the_focus_back(page: Page):
    page.goto("/runs")
    link = page.get_by_role("link", name="Held runs")
    link.focus()
    page.keyboard.press("?")
    expect(help_of(page)).to_contain_text("times in your own zone, and back")
    page.keyboard.press("?")
    expect(help_of(page)).to_have_count(0)
    expect(link).to_be_focused()
    page.keyboard.press("?")
    page.keyboard.press("Escape")
    expect(help_of(page)).to_have_count(0)
    expect(link).to_be_focused()


def test_is_opened_at_the_foot_and_closed_by_its_button(page: Page):
    page.goto("/health")
    button = page.get_by_role("button", name="Keyboard")
    button.click()
    help_of(page).get_by_role("button", name="Close").click()
    expect(help_of(page)).to_have_count(0)
    expect(button).to_be_focused()


def test_a_question_mark_that_is_typed_is_one(page: Page):
    page.goto("/runs")
    field = page.get_by_label("Key contains")
    field.focus()
    page.keyboard.press("?")
    expect(field).to_have_value("?")
    expect(help_of(page)).to_have_count(0)


def test_another_dialog_is_left_alone(page: Page):
    page.goto("/assets/stores")
    page.get_by_role("link", name="Add keys…").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.get_by_role("link", name="No, go back").focus()
    page.keyboard.press("?")
    expect(help_of(page)).to_have_count(0)


def test_names_every_key_that_a_script_listens_to(page: Page):
    """A new key has to be told here, too."""
    page.goto("/")
    page.keyboard.press("?")
    told = set(help_of(page).locator("kbd").all_inner_texts())
    scripts = "".join(path.read_text() for path in STATIC.glob("*.js"))
    known = set(re.findall(r'(?:event\.|\b)key [!=]== "([^"]+)"', scripts)) - {"Shift"}
    names = {" ": "Space", "Escape": "Esc", "T": "t", "ArrowLeft": "←", "ArrowRight": "→"}
    assert {"t", "z", "?", "Enter"} <= known
    assert {names.get(key, key) for key in known} <= told
