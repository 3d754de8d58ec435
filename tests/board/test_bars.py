import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.board.bars import CAPS, COLUMNS, FEWEST_COLUMNS, SHAPES, draw, period_words
from scheduling.board.cells import Cells, Look
from scheduling.board.labels import places
from scheduling.board.orders import Listed
from tests.board.drawing import cells, days, hours


def columns_of(bar, look):
    """The columns that the strokes of one look cover, read back from the paths."""
    covered = set()
    for stroke in bar.strokes:
        if stroke.look is look:
            for at, wide in re.findall(r"M(\d+) \d+h(\d+)", stroke.path):
                covered |= set(range(int(at), int(at) + int(wide)))
    return covered


class TestDraw:
    def test_each_partition_has_a_column_while_there_is_room(self):
        bar = draw(cells(days("2026-03-01", 30), {"2026-03-05": Look.FAILED}))
        assert bar.columns == 30
        assert columns_of(bar, Look.FAILED) == {4}
        assert columns_of(bar, Look.MISSING) == set(range(30)) - {4}

    def test_keys_of_one_moment_share_a_column(self):
        keys = [f"{city}|{day}" for city in ("sf", "seattle") for day in days("2026-03-01", 30)]
        bar = draw(cells(keys, dict.fromkeys(keys, Look.MATERIALIZED) | {"sf|2026-03-02": Look.HELD}))
        assert bar.columns == 30
        assert columns_of(bar, Look.HELD) == {1}

    def test_one_failed_among_very_many_is_still_seen(self):
        keys = hours("2020-01-01T00", 50_000)
        bar = draw(cells(keys, dict.fromkeys(keys, Look.MATERIALIZED) | {keys[30_000]: Look.FAILED}))
        assert bar.columns <= COLUMNS
        assert columns_of(bar, Look.FAILED) == {30_000 // 125}

    @given(st.lists(st.sampled_from(list(Look)), min_size=1, max_size=1500))
    def test_every_column_shows_the_worst_of_its_own_and_nothing_else(self, looks):
        keys = [f"k{number:05}" for number in range(len(looks))]
        bar = draw(Cells(Listed(places(keys)), bytes(looks)))
        wide = -(-len(looks) // COLUMNS)
        worst = [max(looks[at : at + wide]) for at in range(0, len(looks), wide)]
        for look in Look:
            assert columns_of(bar, look) == {at for at, each in enumerate(worst) if each is look}
        assert bar.tally.total == len(looks)

    def test_a_zoomed_bar_shows_only_its_period(self):
        bar = draw(cells(hours("2026-03-01T00", 24 * 40)), "2026-03-02")
        assert (bar.columns, bar.first, bar.last) == (24, "2026-03-02T00", "2026-03-02T23")

    def test_says_in_words_what_it_shows(self):
        bar = draw(cells(days("2026-03-01", 3), {"2026-03-01": Look.MATERIALIZED}))
        assert bar.words == "1 materialized, 2 missing; from 2026-03-01 to 2026-03-03"

    def test_an_empty_bar_is_drawn_too(self):
        bar = draw(Cells(Listed([]), b""))
        assert (bar.columns, bar.strokes, bar.words) == (0, (), "no partitions")

    def test_a_single_partition_is_no_long_bar(self):
        assert draw(cells(["2026"])).width == FEWEST_COLUMNS

    def test_a_stretch_of_one_look_is_one_piece(self):
        [stroke] = draw(cells(days("2026-01-01", 365))).strokes
        assert stroke.path == "M0 5h365v15h-365z"

    def test_each_look_has_a_shape_of_its_own(self):
        assert len(set(SHAPES.values())) == len(Look)
        assert len(set(CAPS.values())) == len(Look) - 1

    @pytest.mark.parametrize("worst", [look for look in Look if look is not Look.MATERIALIZED])
    def test_the_fuller_a_column_the_higher_its_data_and_never_over_its_worst(self, worst):
        keys = [f"k{number:05}" for number in range(10 * COLUMNS)]
        alone = 9 if worst is Look.STALE else None
        for there, height in ((0, alone), (2, 3), (5, 6), (9, 9)):
            looks = ([worst] * (10 - there) + [Look.MATERIALIZED] * there) * COLUMNS
            [stroke] = draw(Cells(Listed(places(keys)), bytes(looks))).strokes
            strips = re.findall(r"M0 (\d+)h\d+v(\d+)", stroke.below)
            assert [int(tall) for _, tall in strips] == ([] if height is None else [height])
            lowest = max(int(top) + int(tall) for top, tall in re.findall(r"M0 (\d+)h\d+v(\d+)", stroke.path))
            assert all(int(top) >= lowest for top, _ in strips)

    def test_what_has_no_data_fills_nothing(self):
        keys = [f"k{number:05}" for number in range(2 * COLUMNS)]
        [stroke] = draw(Cells(Listed(places(keys)), bytes([Look.FAILED, Look.MISSING] * COLUMNS))).strokes
        assert (stroke.look, stroke.below) == (Look.FAILED, "")

    def test_the_ends_of_a_short_bar_are_named_where_it_stands(self):
        assert draw(cells(days("2026-03-01", 1))).ends == ("2026-03-01",)
        assert draw(cells(days("2026-03-01", 3))).ends == ("2026-03-01 to 2026-03-03",)
        assert draw(cells(days("2026-03-01", 30))).ends == ("2026-03-01", "2026-03-30")

    def test_a_stray_key_does_not_name_its_ends(self):
        bar = draw(cells(["oops", *days("2026-03-01", 30)]))
        assert (bar.first, bar.last) == ("2026-03-01", "2026-03-30")


class TestSegments:
    def test_a_year_is_zoomed_into_by_months(self):
        bar = draw(cells(days("2026-01-01", 365)), with_segments=True)
        assert [segment.zoom for segment in bar.segments][:2] == ["2026-01", "2026-02"]
        assert [segment.words for segment in bar.segments][:3] == ["Jan", "Feb", "Mar"]

    @pytest.mark.parametrize("stray", ["oops", "1970-01-01", "2999-01-01"])
    def test_a_stray_key_does_not_coarsen_them(self, stray):
        found = cells([*days("2026-01-01", 365), stray])
        assert found.strays() == [stray]
        segments = draw(found, with_segments=True).segments
        assert [segment.words for segment in segments][:2] == ["Jan", "Feb"]
        assert segments[0].start == pytest.approx(1 / 366)

    def test_several_years_are_zoomed_into_by_years(self):
        bar = draw(cells(days("2024-01-01", 900)), with_segments=True)
        assert [segment.words for segment in bar.segments] == ["2024", "2025", "2026"]

    def test_a_month_of_hours_is_zoomed_into_by_days(self):
        bar = draw(cells(hours("2026-03-01T00", 24 * 31)), "2026-03", with_segments=True)
        assert [segment.words for segment in bar.segments][-1] == "31"

    def test_a_month_of_days_has_nothing_below(self):
        assert draw(cells(days("2026-01-01", 90)), "2026-02", with_segments=True).segments == ()

    def test_stretches_cover_the_bar_without_gaps(self):
        segments = draw(cells(days("2026-01-01", 365)), with_segments=True).segments
        edge = 0.0
        for segment in segments:
            assert segment.start == pytest.approx(edge)
            edge = segment.start + segment.width
        assert edge == pytest.approx(1, abs=0.01)

    def test_a_stretch_counts_what_is_in_it(self):
        bar = draw(cells(days("2026-01-01", 60), {"2026-02-03": Look.FAILED}), with_segments=True)
        assert bar.segments[1].tally.words == "27 missing, 1 failed"

    def test_more_stretches_than_one_can_point_at_are_left_out(self):
        assert draw(cells([f"{year}-01-01" for year in range(1900, 2026)]), with_segments=True).segments == ()

    def test_keys_without_time_have_none(self):
        assert draw(cells(["red", "green"]), with_segments=True).segments == ()


class TestPeriodWords:
    @pytest.mark.parametrize(
        ("label", "within", "words"),
        [
            ("2026", "", "2026"),
            ("2026-03", "", "Mar 2026"),
            ("2026-03", "2026", "Mar"),
            ("2026-03-14", "", "2026-03-14"),
            ("2026-03-14", "2026-03", "14"),
            ("2026-03-14T09", "2026-03-14", "09"),
            ("2026-03-14T09", "", "2026-03-14T09"),
            ("2026-03-14T09:30", "2026-03-14T09", "09:30"),
            ("2026-W11", "2026", "W11"),
            ("2026-Q1", "", "2026-Q1"),
        ],
    )
    def test_leave_out_what_the_period_around_says(self, label, within, words):
        assert period_words(label, within) == words
