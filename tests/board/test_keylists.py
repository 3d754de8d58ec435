"""Partitions as a list: a page of it costs what is on it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.board.cells import PORTION, Cells, Look
from scheduling.board.keylists import listed
from scheduling.board.labels import Place
from scheduling.board.orders import Listed
from tests.board.drawing import cells, days

LOOKS = st.lists(st.sampled_from(list(Look)), min_size=1, max_size=300)


def keys(found):
    return [line.key for line in found.rows]


class TestListed:
    def test_time_goes_back(self):
        found = listed(cells(days("2026-03-01", 9)), size=2)
        assert (keys(found), found.count) == (["2026-03-09", "2026-03-08"], 9)

    def test_other_keys_stand_in_their_order(self):
        assert keys(listed(cells(["red", "green", "blue"]), size=2)) == ["red", "green"]

    def test_one_state_alone(self):
        looks = dict.fromkeys(["2026-03-02", "2026-03-04", "2026-03-05"], Look.FAILED)
        found = listed(cells(days("2026-03-01", 9), looks), only=Look.FAILED, first=1, size=5)
        assert (keys(found), found.count) == (["2026-03-04", "2026-03-02"], 3)
        assert {line.look for line in found.rows} == {Look.FAILED}

    def test_one_period_alone(self):
        drawn = cells(days("2026-02-20", 20), {"2026-02-22": Look.FAILED, "2026-03-02": Look.FAILED})
        assert keys(listed(drawn, "2026-02", only=Look.FAILED)) == ["2026-02-22"]

    def test_beyond_the_end_there_is_nothing(self):
        found = listed(cells(days("2026-03-01", 9)), only=Look.MATERIALIZED, first=9)
        assert (keys(found), found.count) == ([], 9)

    def test_what_nobody_expects(self):
        drawn = cells([*days("2026-03-01", 5), "oops"], unexpected=["oops", "2026-03-02"])
        found = listed(drawn, only_unexpected=True)
        assert keys(found) == ["oops", "2026-03-02"]
        assert all(line.outside for line in found.rows)

    def test_what_nobody_expects_is_not_among_those_in_its_state(self):
        drawn = cells([*days("2026-03-01", 5), "oops"], unexpected=["oops", "2026-03-02"])
        found = listed(drawn, only=Look.MATERIALIZED, first=1)
        assert (keys(found), found.count) == (["2026-03-04", "2026-03-03", "2026-03-01"], 4)
        assert keys(listed(drawn, "2026-03-02", only_unexpected=True)) == ["2026-03-02"]

    def test_what_nobody_expects_may_stand_apart(self):
        apart = {"late": Look.FAILED, "early": Look.MATERIALIZED}
        drawn = Cells(Listed([Place("k")]), bytes([Look.MISSING]), frozenset(apart), apart)
        found = listed(drawn, only_unexpected=True, size=1)
        assert ([(line.key, line.look) for line in found.rows], found.count) == ([("late", Look.FAILED)], 2)


class TestSomeOf:
    @given(LOOKS, st.sampled_from(list(Look)), st.integers(0, 40), st.integers(1, 40), st.booleans())
    def test_are_those_that_one_finds_by_looking_at_each(self, looks, look, first, size, backwards):
        drawn = Cells(Listed([Place(str(at)) for at in range(len(looks))]), bytes(looks))
        positions = range(len(looks) // 5, len(looks))
        every = [at for at in positions if looks[at] is look]
        expected = (every[::-1] if backwards else every)[first : first + size]
        found = drawn.some_of(look, positions, first=first, size=size, backwards=backwards)
        assert found == expected

    @pytest.mark.parametrize("backwards", [False, True])
    def test_far_into_very_many(self, backwards):
        count = 3 * PORTION + 17
        drawn = Cells(Listed([Place(str(at)) for at in range(count)]), bytes([Look.MISSING]) * count)
        found = drawn.some_of(Look.MISSING, range(count), first=2 * PORTION + 5, size=2, backwards=backwards)
        begin = count - 1 - (2 * PORTION + 5) if backwards else 2 * PORTION + 5
        assert found == [begin, begin - 1 if backwards else begin + 1]
