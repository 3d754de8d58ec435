"""A grid is written once and kept: each page leads to its own addresses, and marks its own partition."""

import pytest

from tests.engine.world import emit
from tests.web.reading import read

pytestmark = pytest.mark.django_db

DAY = "zoom=2010-03-14"
FIVE, SIX = "seattle|2010-03-14T05:00:00", "seattle|2010-03-14T06:00:00"


def squares(visitor, query):
    """The squares of single partitions, by what they say."""
    page = read(visitor.get(f"/assets/hourly?{query}"))
    return {
        each.attributes["aria-label"]: each.attributes
        for each in page.all("a")
        if each.attributes.get("class", "").split()[:1] == ["c"] and "key=" in each.attributes["href"]
    }


def test_each_page_leads_to_its_own_addresses(visitor, temperatures):
    first = squares(visitor, DAY)
    other = squares(visitor, f"{DAY}&heat=none+of+it")
    assert first.keys() == other.keys()
    said = f"{FIVE}: materialized"
    key = "seattle%7C2010-03-14T05%3A00%3A00"
    assert first[said]["href"] == f"?{DAY}&key={key}"
    assert other[said]["href"] == f"?{DAY}&heat=none+of+it&key={key}"


def test_each_page_marks_its_own_partition(visitor, temperatures):
    for key in (FIVE, SIX, ""):
        found = squares(visitor, f"{DAY}&key={key}")
        assert [said for said, square in found.items() if "aria-current" in square] == (
            [f"{key}: materialized"] if key else []
        )


def test_what_happens_shows_at_once(visitor, temperatures):
    late = "sf|2010-03-14T05:00:00"
    assert f"{late}: missing" in squares(visitor, DAY)
    emit("hourly", late)
    assert f"{late}: materialized" in squares(visitor, DAY)


def test_what_is_selected_is_not_kept(visitor, temperatures):
    selected = f"{FIVE}: materialized, selected"
    assert selected in squares(visitor, f"{DAY}&sel=seattle|[2010-03-14T05:00:00...2010-03-14T06:00:00]")
    assert selected not in squares(visitor, DAY)
