"""A slice of an asset with several dimensions is what one gets by looking at the keys one by one."""

from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra import specs
from scheduling.board import Tally, dimensions_of, lay_out, spelled_within, within
from scheduling.board.cells import Cells, Look
from scheduling.board.defined import Defined, axis_of
from scheduling.board.labels import places
from scheduling.board.narrowing import Dimension
from scheduling.board.orders import Listed
from scheduling.sdk import DailyPartitions, HourlyPartitions, MultiPartitions, StaticPartitions
from tests.engine import world

NOW = datetime(2026, 3, 11, 9, 10, tzinfo=UTC)
REGIONS, SIZES = StaticPartitions(["eu", "us", "asia"]), StaticPartitions(["s", "m"])
DEFINITIONS = (
    MultiPartitions({"region": REGIONS, "day": DailyPartitions("2026-01-01")}),
    MultiPartitions({"hour": HourlyPartitions("2026-03-09"), "region": REGIONS, "size": SIZES}),
    MultiPartitions({"size": SIZES, "day": DailyPartitions("2026-02-01"), "region": REGIONS}),
    MultiPartitions({"region": REGIONS, "size": SIZES, "side": StaticPartitions(["left", "right"])}),
)


def cells_of(definition, *, is_listed, seed=0):
    keys = definition.keys(now=NOW)
    looks = bytes(Random(seed).choices(list(Look), k=len(keys)))
    axis = axis_of(definition)
    if axis is None or is_listed:
        return Cells(
            Listed(sorted(places(keys), key=lambda place: place.label) if axis else places(keys)), looks
        )
    return Cells(Defined(definition, axis, len(keys), NOW), looks)


def narrowed(definition, **values):
    return [
        Dimension(place, name, each.grows, (), values.get(name, ""), values.get(name, ""))
        for place, (name, each) in enumerate(definition.by_name)
    ]


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda each: each.words())
@given(
    region=st.sampled_from(["", *REGIONS.listed]), size=st.sampled_from(["", *SIZES.listed]), data=st.data()
)
def test_a_slice_has_the_keys_with_its_values_and_how_they_look(definition, region, size, data):
    whole = cells_of(definition, is_listed=data.draw(st.booleans()), seed=data.draw(st.integers(0, 9)))
    wanted = {"region": region, "size": size}
    part = within(whole, narrowed(definition, **wanted))
    names = [name for name, _ in definition.by_name]
    of = [
        at
        for at, place in enumerate(whole.places)
        if all(
            wanted.get(name, "") in ("", each) for name, each in zip(names, place.key.split("|"), strict=True)
        )
    ]
    assert [place.key for place in part.cells.places] == [whole.places[at].key for at in of]
    assert [part.whole(at) for at in range(len(part.cells.looks))] == of
    assert part.cells.looks == bytes(whole.looks[at] for at in of)
    grid = lay_out(part.cells)
    assert grid is not None
    assert Tally.sum(row.tally for group in grid.groups for row in group.rows) == part.cells.tally


def test_a_slice_is_cut_once_and_all_is_no_slice():
    whole = cells_of(DEFINITIONS[0], is_listed=False)
    assert within(whole, narrowed(DEFINITIONS[0])).cells is whole
    first = within(whole, narrowed(DEFINITIONS[0], region="us"))
    assert within(whole, narrowed(DEFINITIONS[0], region="us")) is first


def test_a_slice_is_spelled_as_one_types_it():
    assert spelled_within(narrowed(DEFINITIONS[1], size="m"), "2026-03-10") == "[2026-03-10...2026-03-10]|*|m"
    assert spelled_within(narrowed(DEFINITIONS[3], region="eu", side="left"), "") == "eu|*|left"


@pytest.mark.django_db
class TestDimensions:
    def test_are_offered_with_the_value_that_is_there(self):
        row = world.asset("sales", partitions=specs.dump(DEFINITIONS[1]))
        hour, region, size = dimensions_of(row, {"region": "us", "size": "xl", "hour": "x"}, now=NOW)
        assert (hour.is_time, hour.value) == (True, "")
        assert (region.value, list(region.offered)) == ("us", ["eu", "us", "asia"])
        assert (size.asked, size.value) == ("xl", "")

    def test_very_many_values_are_not_offered(self):
        stores = StaticPartitions([f"store-{number}" for number in range(500)])
        definition = MultiPartitions({"store": stores, "day": DailyPartitions("2026-01-01")})
        row = world.asset("sales", partitions=specs.dump(definition))
        [store, _] = dimensions_of(row, {"store": "store-7"}, now=NOW)
        assert (store.value, store.offered) == ("store-7", ())

    @pytest.mark.parametrize("partitions", [None, specs.dump(REGIONS), {"type": "Nonsense"}])
    def test_of_other_assets_there_are_none(self, partitions):
        assert dimensions_of(world.asset("sales", partitions=partitions), {}, now=NOW) == []
