"""A held run with very many keys, or very long ones: its page names some, and leads to all of them."""

from urllib.parse import quote

import pytest

from core.models import HeldRun
from tests.engine.world import IDENTITY, consumer, emit, turn
from tests.web.reading import read
from tests.web.turning import MOST_BYTES, turned

pytestmark = pytest.mark.django_db

LONG = [f"{number:03}{chr(0x1F469) * 247}" for number in range(200)]
STRAY = f"x{LONG[0][1:]}"


def rollup(window, upstream):
    return {"type": "RollupMapper", "upstream_mapper": upstream, "window": window}


@pytest.fixture
def held(db):
    """It lacks 120 of 200 long keys, and one has come that does not count."""
    window = {"type": "SegmentWindow", "segments": LONG}
    consumer("all", {"people": rollup(window, {"type": "FixedKeyMapper", "downstream_key": LONG[0]})})
    consumer("load", {"raw": IDENTITY}, writes=["people"])
    emit("people", *LONG[:80], STRAY)
    turn()
    return HeldRun.objects.get(dag__dag_id="all")


@pytest.mark.parametrize("page", ["/held/{pk}", "/held?run={pk}", "/dags/all?why={key}", "/held"])
def test_no_page_of_it_is_too_heavy(visitor, held, page):
    answer = visitor.get(page.format(pk=held.pk, key=quote(held.partition_key)))
    assert answer.status_code == 200
    assert len(answer.content) < MOST_BYTES


def test_all_it_lacks_is_one_click_away(visitor, held):
    page = read(visitor.get(f"/held/{held.pk}"))
    assert "Missing 120 of 200" in page.text
    assert turned(visitor, page.links["all 120"], "Next", LONG) == LONG[80:]


def test_so_is_all_it_has(visitor, held):
    page = read(visitor.get(f"/held/{held.pk}"))
    assert turned(visitor, page.links["all 80"], "Next", LONG) == LONG[:80]


def test_what_does_not_count_has_a_list_as_well(visitor, held):
    page = read(visitor.get(f"/held/{held.pk}/keys?asset=people&which=unexpected"))
    assert [each.text for each in page.all("h1")] == ["Unexpected of people: 1"]
    assert page.links[STRAY] == f"/assets/people?key={quote(STRAY)}"


def test_of_what_it_does_not_listen_to_it_has_no_keys(visitor, held):
    page = read(visitor.get(f"/held/{held.pk}/keys?asset=raw"))
    assert "Missing of raw: 0" in page.text
    assert not page.all("a", class_="key")


def test_very_many_short_ones_are_named_in_part(visitor):
    segments = [f"s{number}" for number in range(500)]
    window = {"type": "SegmentWindow", "segments": segments}
    consumer("many", {"parts": rollup(window, {"type": "FixedKeyMapper", "downstream_key": "all"})})
    emit("parts", "s0")
    turn()
    page = read(visitor.get(f"/held/{HeldRun.objects.get().pk}"))
    assert len(page.all("a", class_="key")) == 400 + 1
    every = read(visitor.get(page.links["all 499"]))
    assert [each.text for each in every.all("a", class_="key")] == segments[1:]


def test_lines_of_what_it_takes_are_turned_over(visitor, held):
    """Where neighbours differ, each key is a line, with what can be done about it."""
    emit("raw", *LONG[81::2])
    turn()
    page = read(visitor.get(f"/dags/all?why={quote(held.partition_key)}"))
    assert "lines" in page.text
    again = read(visitor.get(f"/dags/all{page.links['Next']}"))
    assert "First" in again.links
