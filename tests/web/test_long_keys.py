"""Keys that are as long as keys can be, in characters that addresses write with twelve."""

import pytest

from scheduling import dynamic
from scheduling.algebra import specs
from scheduling.algebra.partitions import DynamicPartitions
from tests.engine.world import ALICE, NOW, asset, emit, turn
from tests.web.reading import read

pytestmark = pytest.mark.django_db

KEYS = [f"{number:03}{chr(0x1F469) * 247}" for number in range(120)]
MOST_BYTES = 200_000


@pytest.fixture(autouse=True)
def people(db):
    asset("people", partitions=specs.dump(DynamicPartitions("people")))
    dynamic.add("people", KEYS, deed=ALICE, at=NOW)
    emit("people", *KEYS[:3], "a" + KEYS[0][:200])
    turn()


def keys_of(page):
    return [
        each.text for each in page.all("a") if each.attributes.get("class") == "key" and each.text in KEYS
    ]


@pytest.mark.parametrize("page", ["", "?state=missing", "?state=materialized", "?state=unexpected", "?sel=*"])
def test_make_no_page_that_is_too_heavy(visitor, page):
    answer = visitor.get(f"/assets/people{page}")
    assert answer.status_code == 200
    assert len(answer.content) < MOST_BYTES


def test_are_all_found_by_turning_pages(visitor):
    found, address = [], "/assets/people?state=missing"
    while address:
        page = read(visitor.get(address))
        found += keys_of(page)
        following = page.links.get("Next")
        address = following and f"/assets/people{following}"
    assert sorted(found) == KEYS[3:]
