"""Definitions and schedules that are longer than a page may be are one click further."""

import json

import pytest

from partitions_site import roles
from scheduling.algebra import specs
from scheduling.algebra.partitions import StaticPartitions
from tests.engine.world import asset, consumer
from tests.web.reading import read
from tests.web.turning import MOST_BYTES

pytestmark = pytest.mark.django_db

KEYS = [f"{number:03}{chr(0x1F469) * 247}" for number in range(250)]


@pytest.fixture(autouse=True)
def long(db):
    asset("people", partitions=specs.dump(StaticPartitions(KEYS)))
    mapper = {"type": "FixedKeyMapper", "downstream_key": "all"}
    window = {"type": "SegmentWindow", "segments": KEYS}
    consumer("all", {"people": {"type": "RollupMapper", "upstream_mapper": mapper, "window": window}})


@pytest.fixture
def admin(visitor_of):
    return visitor_of(roles.ADMIN)


@pytest.mark.parametrize("page", ["/assets/people?tab=definition", "/listening?dag=all", "/dags/all"])
def test_make_no_page_that_is_too_heavy(admin, page):
    answer = admin.get(page)
    assert answer.status_code == 200
    assert len(answer.content) < MOST_BYTES


def test_all_of_a_definition_is_one_click_away(admin):
    page = read(admin.get("/assets/people?tab=definition"))
    [address] = [link for words, link in page.links.items() if words.startswith("As it is kept")]
    [kept] = read(admin.get(f"/assets/people{address}")).all("pre")
    assert json.loads(kept.text)["keys"] == KEYS


def test_so_is_the_form_of_a_schedule(admin):
    page = read(admin.get("/listening?dag=all"))
    assert not page.all("textarea")
    whole = read(admin.get(f"/listening{page.links['Show all of it, to change it']}"))
    assert "\n".join(KEYS).split() in [each.text.split() for each in whole.all("textarea")]


def test_short_ones_are_shown_at_once(admin):
    consumer("short", {"people": {"type": "IdentityMapper"}})
    assert read(admin.get("/listening?dag=short")).all("textarea", id="raw")
