"""What an asset is made of and what is made of it, from left to right."""

import pytest

from core.models import Asset, Dag
from scheduling.belonging import Sight
from scheduling.board import Lineage, Node
from scheduling.board import lineage as read_of
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
    return [list(map(named, column)) for column in found.columns]


def named(node: Node) -> str:
    return node.name if isinstance(node, Asset) else f"({node.dag_id})"


def goes_on(found: Lineage) -> set[str]:
    return {f"{way.word} of {named(node)}" for node, way in found.goes_on}


def test_what_it_is_made_of_is_on_its_left_and_what_is_made_of_it_on_its_right(chain):
    found = read_of(asset("clean"))
    assert columns(found) == [
        ["(collect)"],
        ["prices", "raw"],
        ["(tidy)"],
        ["clean"],
        ["(add up)", "(report)"],
        ["total"],
    ]
    assert [f"{named(left)} > {named(right)}" for left, right in found.steps] == [
        "clean > (add up)",
        "clean > (report)",
        "prices > (tidy)",
        "raw > (tidy)",
        "(add up) > total",
        "(collect) > raw",
        "(tidy) > clean",
    ]
    assert not found.goes_on


def test_seen_from_elsewhere_the_same_things_hang_together_otherwise(chain):
    assert columns(read_of(asset("raw"))) == [
        ["(collect)"],
        ["raw"],
        ["(tidy)"],
        ["clean"],
        ["(add up)", "(report)"],
        ["total"],
    ]


def test_what_hangs_together_with_nothing_stands_alone():
    found = read_of(asset("alone"))
    assert (columns(found), found.steps) == ([["alone"]], [])


def test_of_a_dag_that_reads_what_it_writes_there_is_one_card(chain):
    consumer("again", {"total": IDENTITY}, writes=["clean"])
    names = [name for column in columns(read_of(asset("clean"))) for name in column]
    assert len(names) == len(set(names))
    assert {"total", "(again)"} < set(names)


def test_of_very_many_the_nearest_are_shown_and_where_it_goes_on(chain, monkeypatch):
    monkeypatch.setattr("scheduling.board.lineages.MOST_NODES", 4)
    found = read_of(asset("clean"))
    assert columns(found) == [["(tidy)"], ["clean"], ["(add up)", "(report)"]]
    assert goes_on(found) == {"upstream of (tidy)", "downstream of (add up)"}


def test_of_an_asset_with_too_many_beside_it_that_it_goes_on_is_said(chain, monkeypatch):
    monkeypatch.setattr("scheduling.board.lineages.MOST_NODES", 3)
    found = read_of(asset("clean"))
    assert columns(found) == [["(tidy)"], ["clean"], ["(add up)"]]
    assert goes_on(found) == {"upstream of (tidy)", "downstream of (add up)", "downstream of clean"}


@pytest.fixture
def long_chain():
    """Ten assets, each of which is made of the one before."""
    for number in range(1, 10):
        consumer(f"make {number}", {f"a{number - 1}": IDENTITY}, writes=[f"a{number}"])


def test_a_chain_that_is_longer_than_what_is_shown_goes_on(long_chain):
    found = read_of(asset("a4"))
    assert (columns(found)[0], columns(found)[-1], len(columns(found))) == (["a1"], ["a7"], 13)
    assert goes_on(found) == {"upstream of a1", "downstream of a7"}


def test_to_its_very_end_it_does_not(long_chain):
    assert goes_on(read_of(asset("a3"))) == {"downstream of a6"}


def test_nor_where_all_that_comes_stands_in_the_picture_already(long_chain):
    consumer("around", {"a7": IDENTITY}, writes=["a2"])
    found = read_of(asset("a4"))
    assert ["(around)", "(make 2)"] in columns(found)
    assert goes_on(found) == {"upstream of a1"}


def test_what_nobody_defines_any_more_is_left_out(chain):
    Dag.objects.filter(dag_id="report").update(is_active=False)
    assert "(report)" not in columns(read_of(asset("clean")))[-2]


def test_what_somebody_is_not_shown_is_left_out(chain):
    Asset.objects.filter(name__in=["clean", "total"]).update(group="shop")
    found = read_of(asset("clean"), sight=Sight(frozenset({"shop"})))
    assert {name for column in columns(found) for name in column} == {
        "(tidy)",
        "clean",
        "(report)",
        "(add up)",
        "total",
    }


def test_what_somebody_is_not_shown_does_not_go_on(long_chain):
    Asset.objects.exclude(name="a0").update(group="shop")
    found = read_of(asset("a3"), sight=Sight(frozenset({"shop"})))
    assert columns(found)[0] == ["(make 1)"]
    assert goes_on(found) == {"downstream of a6"}


def test_reads_only_what_it_hangs_together_with(chain, long_chain, django_assert_max_num_queries):
    few, many = asset("weather"), asset("a4")
    with django_assert_max_num_queries(9):
        read_of(few)
    with django_assert_max_num_queries(18):
        read_of(many)
