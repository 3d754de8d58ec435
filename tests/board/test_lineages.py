"""What an asset is made of and what is made of it, from left to right."""

import pytest

from core.models import Asset, Dag
from scheduling.belonging import Sight
from scheduling.board import lineage as drawn_of
from scheduling.board.lineages import Lineage
from tests.engine.world import IDENTITY, RUNTIME, asset, consumer, dag

pytestmark = pytest.mark.django_db


@pytest.fixture
def chain():
    """Raw and prices become clean, of which a report and a total are made; nobody reads the total."""
    dag("collect", RUNTIME, writes=["raw"])
    consumer("tidy", {"raw": IDENTITY, "prices": IDENTITY}, writes=["clean"])
    consumer("report", {"clean": IDENTITY})
    consumer("add up", {"clean": IDENTITY}, writes=["total"])
    consumer("elsewhere", {"weather": IDENTITY}, writes=["umbrellas"])


def columns(found: Lineage) -> list[list[str]]:
    """The names in each column, from above."""
    by_place: dict[float, list[tuple[float, str]]] = {}
    for card in found.cards:
        name = card.row.name if card.asset else f"({card.row.dag_id})"
        by_place.setdefault(card.x, []).append((card.y, name))
    return [[name for _, name in sorted(by_place[x])] for x in sorted(by_place)]


def test_what_it_is_made_of_is_on_its_left_and_what_is_made_of_it_on_its_right(chain):
    found = drawn_of(asset("clean"))
    assert columns(found) == [
        ["(collect)"],
        ["prices", "raw"],
        ["(tidy)"],
        ["clean"],
        ["(add up)", "(report)"],
        ["total"],
    ]
    assert len(found.links) == 7


def test_seen_from_elsewhere_the_same_things_hang_together_otherwise(chain):
    assert columns(drawn_of(asset("raw"))) == [
        ["(collect)"],
        ["raw"],
        ["(tidy)"],
        ["clean"],
        ["(add up)", "(report)"],
        ["total"],
    ]


def test_what_hangs_together_with_nothing_stands_alone():
    found = drawn_of(asset("alone"))
    assert (columns(found), found.links) == ([["alone"]], [])


def test_of_a_dag_that_reads_what_it_writes_there_is_one_card(chain):
    consumer("again", {"total": IDENTITY}, writes=["clean"])
    names = [name for column in columns(drawn_of(asset("clean"))) for name in column]
    assert len(names) == len(set(names))
    assert {"total", "(again)"} < set(names)


def test_of_very_many_the_nearest_are_shown(chain, monkeypatch):
    monkeypatch.setattr("scheduling.board.lineages.MOST_NODES", 4)
    found = drawn_of(asset("clean"))
    assert columns(found) == [["(tidy)"], ["clean"], ["(add up)", "(report)"]]
    assert found.left_off == 4


def test_what_nobody_defines_any_more_is_left_out(chain):
    Dag.objects.filter(dag_id="report").update(is_active=False)
    assert "(report)" not in columns(drawn_of(asset("clean")))[-2]


def test_what_somebody_is_not_shown_is_left_out(chain):
    Asset.objects.filter(name__in=["clean", "total"]).update(group="shop")
    found = drawn_of(asset("clean"), sight=Sight(frozenset({"shop"})))
    assert {name for column in columns(found) for name in column} == {
        "(tidy)",
        "clean",
        "(report)",
        "(add up)",
        "total",
    }


def test_asks_as_often_for_many_as_for_few(chain, django_assert_num_queries):
    few = asset("weather")
    with django_assert_num_queries(4):
        drawn_of(few)
    many = asset("clean")
    with django_assert_num_queries(4):
        drawn_of(many)
