"""Neighbours that look alike, as ranges."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.subsets import Subset
from scheduling.board.cells import Cells, Look
from scheduling.board.labels import Place
from scheduling.board.orders import Listed
from scheduling.board.stretches import Stretch, named, spans

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
