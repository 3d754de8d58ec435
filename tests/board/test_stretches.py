"""Neighbours that look alike, as ranges."""

from itertools import groupby, pairwise

from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.partitions import StaticPartitions
from scheduling.algebra.subsets import Subset
from scheduling.algebra.time_shorthands import DailyPartitions
from scheduling.board.cells import Cells, Look
from scheduling.board.defined import Defined, axis_of
from scheduling.board.labels import Place
from scheduling.board.orders import Listed
from scheduling.board.stretches import Stretch, named, spans, spans_in_lanes

KEYS = ["2026-03-09", "2026-03-10", "2026-03-11", "2026-03-12"]


def cells(*looks):
    return Cells(Listed([Place(key) for key in KEYS[: len(looks)]]), bytes(looks))


CELLS = cells(*[Look.HELD] * 4)


def stretches(of, *looks, **has):
    return named(of, spans(of, *looks, **has))


class TestStretches:
    def test_neighbours_of_one_look_are_one(self):
        found = list(stretches(cells(Look.MATERIALIZED, Look.MATERIALIZED, Look.FAILED, Look.MATERIALIZED)))
        assert found == [
            Stretch("2026-03-09", "2026-03-10", "materialized", 2),
            Stretch("2026-03-11", "2026-03-11", "failed", 1),
            Stretch("2026-03-12", "2026-03-12", "materialized", 1),
        ]

    def test_only_those_that_look_so(self):
        found = stretches(cells(Look.MISSING, Look.FAILED, Look.MISSING), [Look.MISSING])
        assert [each.first_key for each in found] == ["2026-03-09", "2026-03-11"]

    def test_one_that_is_left_out_ends_the_range_before_it(self):
        looks = cells(*[Look.HELD] * 4)
        found = stretches(looks, has=lambda key: key != "2026-03-10")
        assert [(each.first_key, each.count) for each in found] == [("2026-03-09", 1), ("2026-03-11", 2)]

    def test_of_nothing_there_are_none(self):
        assert list(stretches(cells())) == []

    def test_among_some_positions_only_those(self):
        found = named(CELLS, spans(CELLS, among=Subset.of([0, 1, 3])))
        assert [(each.first_key, each.last_key) for each in found] == [
            ("2026-03-09", "2026-03-10"),
            ("2026-03-12", "2026-03-12"),
        ]

    @given(
        st.lists(st.sampled_from(Look), min_size=1, max_size=60),
        st.sets(st.integers(0, 59)),
        st.sets(st.sampled_from(Look)),
    )
    def test_by_positions_is_as_by_keys(self, looks, positions, wanted):
        of = Cells(Listed([Place(str(number)) for number in range(len(looks))]), bytes(looks))
        among = Subset.of(at for at in positions if at < len(looks))
        assert spans(of, wanted, among=among) == spans(of, wanted, lambda key: int(key) in positions)

    @given(st.lists(st.sampled_from(Look), max_size=200))
    def test_together_they_are_all_there_is(self, looks):
        places = [Place(str(number)) for number in range(len(looks))]
        found = list(stretches(Cells(Listed(places), bytes(looks))))
        assert [each.state for each in found for _ in range(each.count)] == [look.word for look in looks]
        assert all(a.state != b.state for a, b in pairwise(found))
        assert all(int(each.last_key) - int(each.first_key) + 1 == each.count for each in found)


DAYS, REGIONS, SIZES = DailyPartitions("2026-03-01", end="2026-03-08"), StaticPartitions(["tw", "jp"]), "sml"
DEFINITIONS = [
    {"region": REGIONS, "day": DAYS},
    {"day": DAYS, "region": REGIONS},
    {"region": REGIONS, "day": DAYS, "size": StaticPartitions(list(SIZES))},
]


def one_by_one(of, wanted, has):
    """Lanes as they are met, and of each the keys that lie side by side and look alike."""
    lanes = {}
    for at, place in enumerate(of.places):
        lanes.setdefault(place.others, []).append((of.look(at) if has(place.key) else None, place.key))
    same = [list(group) for lane in lanes.values() for _, group in groupby(lane, key=lambda each: each[0])]
    return [Stretch(a[0][1], a[-1][1], a[0][0].word, len(a)) for a in same if a[0][0] in wanted]


class TestLanes:
    @given(st.sampled_from(DEFINITIONS), st.data())
    def test_are_as_when_they_are_read_one_by_one(self, dimensions, data):
        definition = MultiPartitions(dimensions)
        count = definition.count(None)
        looks = data.draw(st.lists(st.sampled_from(Look), min_size=count, max_size=count))
        wanted = data.draw(st.sets(st.sampled_from(Look)))
        of = Cells(Defined(definition, axis_of(definition), count, None), bytes(looks))
        chosen = data.draw(st.sets(st.integers(0, count - 1)))
        keys = {of.places[at].key for at in chosen}
        listed = Cells(Listed(list(of.places)), of.looks)
        for each in (of, listed):
            assert named(each, spans_in_lanes(each, wanted)) == one_by_one(each, wanted, lambda key: True)
            some = one_by_one(each, wanted, keys.__contains__)
            assert named(each, spans_in_lanes(each, wanted, keys.__contains__)) == some
            assert named(each, spans_in_lanes(each, wanted, among=Subset.of(chosen))) == some
