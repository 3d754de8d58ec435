"""Addresses that are longer than they mean: a page does not repeat them in a thousand links."""

import pytest

from partitions_site.web.addresses import MOST
from scheduling.algebra import specs
from scheduling.sdk import HourlyPartitions, MultiPartitions, StaticPartitions
from tests.engine.world import asset, dag, emit, turn
from tests.web.reading import read

pytestmark = pytest.mark.django_db

LONG = "," * 10_000
SOME = "," * (MOST - 20)
MOST_BYTES = 200_000


@pytest.fixture(autouse=True)
def boards(db):
    asset("hours", partitions=specs.dump(HourlyPartitions("2026-01-01", "2026-03-01")))
    parts = {"region": StaticPartitions(["de", "tw"]), "hour": HourlyPartitions("2026-02-01", "2026-02-10")}
    asset("both", partitions=specs.dump(MultiPartitions(parts)))
    dag("sum")
    emit("hours", "2026-02-01T05:00")
    turn()


@pytest.mark.parametrize(
    "page", ["/assets/hours", "/assets/both", "/runs", "/held", "/journal", "/dags", "/"]
)
@pytest.mark.parametrize("name", ["zoom", "key", "state", "dag", "backfill", "nonsense", "in.region", LONG])
def test_more_than_any_page_knows_is_not_understood(visitor, page, name):
    answer = visitor.get(page, {name: LONG})
    assert answer.status_code == 400
    assert b"asks for more than any page knows" in answer.content


@pytest.mark.parametrize("page", ["/assets/hours", "/assets/hours?zoom=2026-02", "/assets/both"])
@pytest.mark.parametrize(
    "name", ["zoom", "state", "heat", "tab", "row", "nonsense", "contains", "in.region", "in.x"]
)
def test_what_means_nothing_is_in_no_link_of_a_board(visitor, page, name):
    answer = visitor.get(page, {name: SOME})
    assert answer.status_code == 200
    assert len(answer.content) < MOST_BYTES


def test_what_means_something_stays(visitor):
    page = "/assets/both?in.region=de&zoom=2026-02-03&key=de|2026-02-03T04:00&nonsense=x"
    links = [link for link in read(visitor.get(page)).links.values() if link.startswith("?")]
    assert any("in.region=de" in link and "zoom=2026-02-03" in link for link in links)
    assert not any("nonsense" in link for link in links)


@pytest.mark.parametrize("target", ["board", "panel"])
def test_a_part_is_linked_as_in_the_page(visitor, target):
    """The panel that is asked for alone leads where it leads beside its board."""
    page = "/assets/both?in.region=de&in.x=y&zoom=2026-02&key=k&nonsense=x"
    links = {link for link in read(visitor.part(page, target)).links.values() if link.startswith("?")}
    assert any("in.region=de" in link and "zoom=2026-02" in link for link in links)
    assert not any(word in link for link in links for word in ("nonsense", "in.x"))


@pytest.mark.parametrize("page", ["/meaning?dag=sum", "/record?asset=hours", "/trigger?dag=sum"])
def test_a_key_may_be_typed_at_length(visitor, page):
    assert visitor.get(f"{page}&key={'x' * 3000}").status_code == 200


def test_a_selection_may_be_typed_at_length(visitor):
    text = ", ".join(f"2026-02-{day:02}T{hour:02}:00" for day in range(1, 20) for hour in range(10))
    assert visitor.get("/assets/hours", {"sel": text}).status_code == 200
