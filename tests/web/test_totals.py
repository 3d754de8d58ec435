"""The total of each row of a grid leads to what it counts."""

import re

import pytest

from scheduling import dynamic
from scheduling.algebra import specs
from scheduling.sdk import (
    DailyPartitions,
    DynamicPartitions,
    HourlyPartitions,
    MultiPartitions,
    StaticPartitions,
)
from tests.engine import world
from tests.engine.world import ALICE, NOW, emit
from tests.web.reading import read

pytestmark = pytest.mark.django_db
MARCH = DailyPartitions("2026-03-01", "2026-04-01")
STORES = StaticPartitions(["north", "south", "o, dear"])


def totals(page):
    """The words of each total by its address."""
    every = page.all("a", data_part="board")
    links = [each for each in every if each.text[:1].isdigit() and "tabindex" not in each.attributes]
    return {each.attributes["href"]: (each.text, each.attributes["aria-label"]) for each in links}


def heads(page):
    """What the head of each column tells, by its address."""
    links = [each for each in page.all("a", data_part="board") if "tabindex" in each.attributes]
    told = {each.attributes["href"]: each.attributes["aria-label"] for each in links}
    return {link: words for link, words in told.items() if words.endswith("select them")}


def define(name, definition):
    world.asset(name, partitions=specs.dump(definition))


@pytest.fixture
def assets(db):
    define("calendar", DailyPartitions("2026-02-01", "2026-04-01"))
    define("hours", HourlyPartitions("2026-03-01", "2026-03-04", key_format="%Y-%m-%dT%H"))
    define("both", MultiPartitions({"store": STORES, "day": MARCH}))
    define("plain", MultiPartitions({"store": STORES, "size": StaticPartitions(["s", "m", "l"])}))
    define("opened", MultiPartitions({"store": DynamicPartitions("store"), "day": MARCH}))
    dynamic.add("store", ["east", "west"], deed=ALICE, at=NOW)
    emit("calendar", "2026-02-03", "2026-03-04", "2026-03-05", "2026-07-01")
    emit("hours", "2026-03-01T05", "2026-03-02T06", "2026-03-02T07")
    emit("both", "north|2026-03-02", "north|2026-03-03", "south|2026-03-02")
    emit("plain", "north|s", "north|m", "south|s")
    emit("opened", "east|2026-03-02")
    emit("seen", "tw|2026-03-02", "tw|2026-03-03", "jp|2026-03-02")


@pytest.mark.usefixtures("assets")
@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/assets/calendar", ["1 of 28", "2 of 31"]),
        ("/assets/calendar?zoom=2026-03", ["2 of 31"]),
        ("/assets/hours", ["1 of 24", "2 of 24", "0 of 24"]),
        ("/assets/both", ["2 of 31", "1 of 31"]),
        ("/assets/both?in.store=south", ["1 of 31"]),
        ("/assets/both?zoom=2026-03-02", ["1", "1"]),
        ("/assets/plain", ["2 of 3", "1 of 3"]),
        ("/assets/opened", ["1 of 31", "0 of 31"]),
        ("/assets/seen", ["1", "2"]),
    ],
)
def test_each_selects_what_it_counts(visitor, address, words):
    found = totals(read(visitor.get(address)))
    assert sorted(text for text, _ in found.values()) == sorted(words)
    path = address.partition("?")[0]
    for link, (text, told) in found.items():
        page = read(visitor.get(path + link))
        count = text.rpartition(" ")[2]
        assert f"{count} partition{'' if count == '1' else 's'} selected" in page.text
        squares = [each for each in page.all("a") if each.attributes.get("class", "").startswith("c ")]
        marked = [each for each in squares if each.attributes["aria-label"].endswith(", selected")]
        assert len(marked) == int(count)
        assert re.search(r": .*; select them$", told)


@pytest.mark.usefixtures("assets")
@pytest.mark.parametrize(
    ("address", "count"),
    [
        ("/assets/calendar", 31),
        ("/assets/calendar?zoom=2026-03", 31),
        ("/assets/hours", 24),
        ("/assets/hours?zoom=2026-03-01", 24),
        ("/assets/both", 0),  # a store has to be written in quotation marks
        ("/assets/both?in.store=south", 31),
        ("/assets/plain", 0),
        ("/assets/opened", 31),
        ("/assets/opened?zoom=2026-03-02", 1),
        ("/assets/opened?in.store=east", 31),
        ("/assets/seen", 2),
    ],
)
def test_the_head_of_a_column_selects_what_it_counts(visitor, address, count):
    found = heads(read(visitor.get(address)))
    assert len(found) == count
    path = address.partition("?")[0]
    for link, told in list(found.items())[::7]:
        page = read(visitor.get(path + link))
        total = sum(map(int, re.findall(r"(\d+) [a-z]", told.partition(": ")[2])))
        assert f"{total} partition{'' if total == 1 else 's'} selected" in page.text


@pytest.mark.parametrize(
    ("years", "rows", "them"), [(7, 70, "them"), (9, 83, "those on this page")], ids=["whole", "paged"]
)
def test_the_head_of_a_long_column_selects_what_the_page_shows_of_it(visitor, years, rows, them):
    stores = StaticPartitions([f"store-{number}" for number in range(10)])
    days = DailyPartitions("2001-01-01", f"{2001 + years}-01-01")
    define("long", MultiPartitions({"store": stores, "day": days}))
    page = visitor.get("/assets/long")
    assert len(page.content) < 200_000
    [march] = [each for each in read(page).all("a", data_part="board") if each.text == "03"]
    told = march.attributes["aria-label"]
    assert told == f"03: {10 * years * 31:,} missing; select {them}"
    page = read(visitor.get("/assets/long" + march.attributes["href"]))
    assert f"{rows * 31:,} partitions selected".replace(",", " ") in page.text
    marked = [each for each in page.squares if each.attributes["aria-label"].endswith(", selected")]
    assert len(marked) == rows


@pytest.mark.usefixtures("assets")
def test_keeps_the_place_and_drops_another_selection(visitor):
    page = read(
        visitor.get("/assets/both?zoom=2026-03&in.store=north&sel=*&only=missing&key=north|2026-03-02")
    )
    [link] = totals(page)
    assert link == ("?zoom=2026-03&in.store=north&key=north%7C2026-03-02&sel=north%7C%5B2026-03...2026-03%5D")


@pytest.mark.usefixtures("assets")
def test_one_that_no_selection_can_say_is_a_number(visitor):
    page = read(visitor.get("/assets/both"))
    assert "0 of 31" in page.text
    assert len(totals(page)) == 2
