"""A selection is text in the address: however long it is, a page does not repeat it in each of its links."""

from urllib.parse import quote, unquote_plus

import pytest

from scheduling import dynamic
from scheduling.algebra import specs
from scheduling.algebra.partitions import DynamicPartitions, StaticPartitions
from scheduling.sdk import HourlyPartitions
from tests.backfills.play import producer
from tests.engine.world import ALICE, NOW, asset
from tests.web.reading import read
from tests.web.turning import MOST_BYTES

pytestmark = pytest.mark.django_db

KEYS = [f"{number:03}{chr(0x1F469) * 247}" for number in range(60)]
NAMES = [f"name {number:03}" for number in range(400)]


@pytest.fixture(autouse=True)
def boards(db):
    asset("people", partitions=specs.dump(DynamicPartitions("people")))
    dynamic.add("people", KEYS, deed=ALICE, at=NOW)
    asset("names", partitions=specs.dump(StaticPartitions(NAMES)))
    asset("hours", partitions=specs.dump(HourlyPartitions("2026-01-01", "2026-03-01")))
    producer("load", writes="names")


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("/assets/people?", ", ".join(KEYS[:3])),
        ("/assets/people?state=missing&", ", ".join(KEYS[:3])),
        ("/assets/names?", ", ".join(NAMES)),
        ("/assets/names?state=missing&", ", ".join(NAMES)),
        ("/assets/hours?", "," * 50_000),
        ("/assets/hours?zoom=2026-02&", "x" * 11_000),
    ],
)
def test_makes_no_page_that_is_too_heavy(visitor, page, text):
    answer = visitor.get(f"{page}sel={quote(text, safe='')}")
    assert answer.status_code == 200
    assert len(answer.content) < MOST_BYTES


def test_what_is_long_stays_where_something_is_done_with_it(visitor):
    text = ", ".join(NAMES[::2])
    page = read(visitor.get("/assets/names", {"sel": text, "only": "missing"}))
    assert "200 partitions selected" in page.text
    [field] = page.all("input", id="sel")
    assert field.attributes["value"] == text
    assert f"sel={text}&only=missing" in unquote_plus(page.links["Mark…"])
    assert f"selection={text}&run=missing" in unquote_plus(page.links["Backfill…"])


def test_what_is_short_stays_in_the_links_without_scripts(visitor):
    page = read(visitor.get("/assets/names?state=missing&sel=name 001"))
    assert "sel=name+001" in page.links["1 missing"]


def test_one_that_is_too_long_is_refused(visitor):
    page = read(visitor.get("/assets/names", {"sel": "name 001, " * 2000}))
    assert "A selection of 19,999 characters is too long: select by ranges, or all." in page.text
    assert "Mark…" not in page.links
