import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.board.bars import draw
from scheduling.board.cells import Cells, Look, Tally
from scheduling.board.grids import lay_out
from scheduling.board.orders import Listed
from tests.board.drawing import cells, days, hours

LOOKS = st.lists(st.sampled_from(list(Look)), min_size=1, max_size=60)


class TestTally:
    @given(LOOKS)
    def test_the_total_is_the_sum_of_the_parts(self, looks):
        tally = Tally.of(bytes(looks))
        assert tally.total == len(looks) == sum(count for _, count in tally.parts)

    @given(LOOKS)
    def test_the_worst_is_the_worst(self, looks):
        assert Tally.of(bytes(looks)).worst == max(looks)

    def test_one_failed_among_many_is_the_worst(self):
        tally = Tally.of(bytes([Look.MATERIALIZED] * 100_000 + [Look.FAILED]))
        assert (tally.worst, tally.tint) == (Look.FAILED, 1)

    @pytest.mark.parametrize(("bad", "tint"), [(1, 1), (3, 1), (5, 2), (7, 2), (8, 3), (10, 3)])
    def test_the_tint_grows_with_the_share_of_the_worst(self, bad, tint):
        assert Tally.of(bytes([Look.MISSING] * bad + [Look.MATERIALIZED] * (10 - bad))).tint == tint

    def test_words_count_each_state(self):
        tally = Tally.of(bytes([Look.MATERIALIZED] * 1234 + [Look.HELD]))
        assert tally.words == "1,234 materialized, 1 held"

    def test_nothing_has_words_too(self):
        assert Tally().words == "no partitions"


class TestCells:
    def test_counts_any_positions(self):
        drawn = cells(days("2026-03-01", 4), {"2026-03-02": Look.FAILED})
        assert drawn.tally.parts == [(Look.MISSING, 3), (Look.FAILED, 1)]
        assert drawn.tally_of([1, 2]).words == "1 missing, 1 failed"
        assert drawn.tally_of(range(2, 4)).words == "2 missing"

    def test_the_positions_of_a_period_lie_side_by_side(self):
        drawn = cells(hours("2026-02-27T00", 100))
        assert [drawn.places[at].key for at in drawn.positions("2026-02-28")] == hours("2026-02-28T00", 24)
        assert len(drawn.positions()) == len(drawn.positions("2026")) == 100
        assert len(drawn.positions("2025")) == 0

    def test_segments_of_one_moment_lie_side_by_side(self):
        keys = [f"{city}|{day}" for city in ("sf", "seattle") for day in days("2026-03-01", 3)]
        assert [drawn.key for drawn in cells(keys).places][:2] == ["sf|2026-03-01", "seattle|2026-03-01"]

    def test_strays_are_the_keys_without_a_place_in_the_calendar(self):
        assert cells([*days("2026-03-01", 9), "oops"]).strays() == ["oops"]

    def test_keys_without_any_calendar_are_no_strays(self):
        assert cells(["red", "green"]).strays() == []

    def test_an_empty_asset_has_empty_cells(self):
        empty = Cells(Listed([]), b"")
        assert (empty.unit, empty.tally.total, empty.newest_at, list(empty.positions())) == (0, 0, -1, [])


class TestUnexpected:
    """Keys that the definition does not have stand among the others and are counted apart."""

    KEYS = hours("2026-03-14T00", 48)
    ODD = ("2026-03-14T02", "2026-03-15T05", "rubbish")

    def drawn(self):
        return cells([*self.KEYS, "rubbish"], dict.fromkeys(self.ODD, Look.FAILED), unexpected=self.ODD)

    def test_are_no_part_of_any_tally(self):
        drawn = self.drawn()
        assert drawn.tally.words == "46 missing"
        assert drawn.tally_of(drawn.positions("2026-03-14")).words == "23 missing"
        assert drawn.tally_of(list(drawn.positions("2026-03-14"))[:3]).words == "2 missing"

    def test_are_those_of_one_period_or_all(self):
        drawn = self.drawn()
        assert drawn.unexpected_in("2026-03-14") == ["2026-03-14T02"]
        assert drawn.unexpected_in() == sorted(self.ODD)

    def test_too_many_of_them_are_told_by_their_names(self):
        apart = dict.fromkeys(self.ODD, Look.FAILED)
        drawn = Cells(cells(self.KEYS).places, bytes(48), frozenset(apart), apart)
        assert drawn.tally.total == 48
        assert drawn.unexpected_in("2026-03") == ["2026-03-14T02", "2026-03-15T05"]

    def test_show_where_nothing_else_does(self):
        drawn = cells(self.KEYS, Look.FAILED, unexpected=self.KEYS[:24])
        assert drawn.tally_of(drawn.positions("2026-03-14")).total == 0
        assert drawn.shown_of(drawn.positions("2026-03-14")).words == "24 failed"
        bar, grid = draw(drawn, "2026-03-14"), lay_out(drawn, "2026-03-14")
        assert (bar.tally.total, {stroke.look for stroke in bar.strokes}) == (0, {Look.FAILED})
        assert grid is not None
