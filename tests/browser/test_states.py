"""States that pass quickly, for real: nobody works, very many partitions are to be drawn, a day is late."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import offences
from tests.browser.unattended import STATES, attend, unattended
from tests.installed import Installation

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with unattended(tmp_path_factory.mktemp("installed") / "var") as made:
        yield made


@pytest.mark.parametrize("address", STATES.values(), ids=STATES)
def test_axe_finds_nothing(visitor: Page, address: str):
    visitor.goto(address)
    assert offences(visitor) == []


@pytest.mark.parametrize("name", STATES)
def test_nothing_is_wider_than_a_phone(page: Page, name: str):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(STATES[name])
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0


def test_that_nobody_works_is_said_above_on_every_page(page: Page):
    page.goto("/dags")
    above = page.get_by_role("banner").get_by_role("link", name="Engine needs you")
    expect(above).to_be_in_viewport()
    expect(page.get_by_role("contentinfo").get_by_role("link", name="Engine needs you")).to_be_visible()
    above.click()
    expect(page.get_by_text("silent for")).not_to_have_count(0)


def test_a_late_day_is_marked_wherever_it_is(page: Page):
    page.goto(STATES["late"])
    row = page.get_by_role("row").filter(has_text="sum_up_deliveries")
    expect(row.get_by_text("late", exact=True)).to_be_visible()
    expect(row).to_contain_text("waiting on 4 of 24: hours 20–23")
    page.goto("/")
    needs = page.get_by_role("region", name="Needs a person")
    expect(needs.get_by_role("listitem").filter(has_text="sum_up_deliveries")).to_contain_text("late")
    page.get_by_role("link", name="1 late", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="2026-03-12")).to_contain_text("late")
    page.goto(STATES["asset-late"])
    expect(page.get_by_label("2026-03-12: held, late")).to_be_visible()
    expect(page.get_by_role("complementary", name="Partition")).to_contain_text("late")


def test_what_matches_no_event_of_many_is_looked_for_further(page: Page):
    page.goto(STATES["look-further"])
    events = page.get_by_role("region", name="Events")
    expect(events).to_contain_text("No event matches so far")
    expect(events).to_contain_text("50\u202f000 looked through")
    events.get_by_role("link", name="Look further").click()
    expect(page.get_by_role("link", name="2026-01-01T00:00", exact=True)).to_be_visible()


def test_what_has_changed_too_much_is_said_beside_what_was_drawn(page: Page):
    page.goto(STATES["many-changes"])
    expect(page.get_by_role("region", name="Partitions")).to_contain_text("This is older than the data.")
    page.goto("/")
    expect(page.get_by_role("row").filter(has_text="readings")).to_contain_text("older than the data")


def test_what_is_being_drawn_shows_by_itself_when_somebody_works_again(
    page: Page, installation: Installation
):
    """The last of this file: from here on somebody works."""
    page.goto(STATES["being-drawn"])
    board = page.get_by_role("region", name="Partitions")
    expect(board.get_by_role("heading", name="Being drawn")).to_be_visible()
    attend(installation)
    expect(board.get_by_label("States")).to_contain_text("6\u202f000 materialized", timeout=60_000)
    expect(page.get_by_role("banner").get_by_role("link", name="Engine needs you")).to_be_hidden(
        timeout=60_000
    )
    expect(page.get_by_role("contentinfo").get_by_role("link", name="Engine running")).to_be_visible()
