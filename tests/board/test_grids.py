import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.board.cells import Cells, Look
from scheduling.board.grids import MOST_CELLS, lay_out
from scheduling.board.labels import places
from scheduling.board.orders import Listed
from tests.board.drawing import cells, days, hours


def squares(grid):
    return [cell for group in grid.groups for row in group.rows for box in row.boxes for cell in box]


class TestCalendar:
    def test_hours_are_days_by_hours(self):
        grid = lay_out(cells(hours("2026-03-01T00", 24 * 7)))
        assert list(grid.columns) == [f"{hour:02}" for hour in range(24)]
        assert [row.head for row in grid.groups[0].rows][:2] == ["Sun 2026-03-01", "Mon 2026-03-02"]
        assert all(cell.key for cell in squares(grid))

    def test_a_year_of_hours_is_months_by_days_of_many(self):
        grid = lay_out(cells(hours("2026-01-01T00", 24 * 365)))
        assert (len(grid.columns), grid.row_count) == (31, 12)
        assert {cell.key for cell in squares(grid)} == {""}
        assert squares(grid)[0].zoom == "2026-01-01"
        assert squares(grid)[0].tally.total == 24

    def test_zoomed_into_a_month_they_are_days_by_hours_again(self):
        grid = lay_out(cells(hours("2026-01-01T00", 24 * 365)), "2026-02")
        assert (grid.row_count, len(grid.columns), len(squares(grid))) == (28, 24, 28 * 24)

    def test_days_are_months_by_days(self):
        grid = lay_out(cells(days("2026-01-01", 365)))
        assert [row.head for row in grid.groups[0].rows][:2] == ["Jan 2026", "Feb 2026"]
        assert len(squares(grid)) == 365

    def test_thirty_years_of_days_are_years_by_months(self):
        grid = lay_out(cells(days("1996-01-01", 365 * 90)))
        assert list(grid.columns)[:3] == ["01", "02", "03"]
        assert squares(grid)[0].zoom == "1996-01"

    def test_minutes_are_hours_by_minutes(self):
        keys = [f"2026-03-10T{hour:02}:{minute:02}" for hour in (9, 10) for minute in range(60)]
        grid = lay_out(cells(keys))
        assert [row.head for row in grid.groups[0].rows] == ["2026-03-10T09", "2026-03-10T10"]
        assert list(grid.columns)[:2] == ["00", "01"]

    def test_weeks_and_quarters_are_years_by_their_number(self):
        assert list(lay_out(cells(["2026-W01", "2026-W02", "2027-W01"])).columns) == ["W01", "W02"]
        assert list(lay_out(cells(["2026-Q1", "2026-Q3"])).columns) == ["Q1", "Q3"]

    def test_years_are_better_listed(self):
        assert lay_out(cells(["2025", "2026"])) is None

    def test_a_gap_hour_leaves_its_box_empty(self):
        keys = [hour for hour in hours("2026-03-07T00", 48) if hour != "2026-03-08T02"]
        grid = lay_out(cells(keys))
        assert [len(box) for box in grid.groups[0].rows[1].boxes][:4] == [1, 1, 0, 1]

    def test_a_fold_hour_has_two_squares(self):
        keys = [
            "2026-11-01T00:00:00-0700",
            "2026-11-01T01:00:00-0700",
            "2026-11-01T01:00:00-0800",
            "2026-11-01T02:00:00-0800",
        ]
        [row] = lay_out(cells(keys)).groups[0].rows
        assert [len(box) for box in row.boxes] == [1, 2, 1]
        assert [cell.key for cell in row.boxes[1]] == keys[1:3]

    def test_strays_are_no_part_of_it(self):
        grid = lay_out(cells([*days("2026-03-01", 9), "oops"]))
        assert "oops" not in [cell.key for cell in squares(grid)]
        assert len(squares(grid)) == 9

    def test_an_empty_period_has_no_grid(self):
        assert lay_out(cells(days("2026-01-01", 9)), "2025") is None


class TestSegments:
    CITIES = ("seattle", "sf")

    def test_each_has_its_own_block(self):
        keys = [f"{city}|{day}" for city in self.CITIES for day in days("2026-01-01", 59)]
        grid = lay_out(cells(keys))
        assert [group.head for group in grid.groups] == ["seattle", "sf"]
        assert [row.head for row in grid.groups[1].rows] == ["Jan 2026", "Feb 2026"]

    def test_in_one_period_each_is_a_row(self):
        keys = [f"{city}|{day}" for city in self.CITIES for day in days("2026-01-01", 59)]
        [group] = lay_out(cells(keys), "2026-02").groups
        assert [row.head for row in group.rows] == ["seattle", "sf"]

    def test_many_are_shown_a_page_at_a_time(self):
        keys = [f"store {number:03}|{day}" for number in range(500) for day in days("2026-01-01", 31)]
        grid = lay_out(cells(keys), "2026-01")
        assert grid.row_count == 500
        assert len(squares(grid)) <= MOST_CELLS
        following = lay_out(cells(keys), "2026-01", first_row=grid.next_row)
        assert following.groups[0].rows[0].head == f"store {grid.next_row:03}"
        last = lay_out(cells(keys), "2026-01", first_row=499)
        assert (last.last_row, last.next_row) == (500, 0)

    def test_two_segments_without_time_are_a_matrix(self):
        keys = [f"{region}|{size}" for region in ("tw", "jp") for size in ("s", "m", "l")]
        grid = lay_out(cells(keys))
        assert list(grid.columns) == ["s", "m", "l"]
        assert [row.head for row in grid.groups[0].rows] == ["tw", "jp"]
        assert [cell.key for cell in squares(grid)] == keys

    def test_a_matrix_too_wide_to_see_is_a_list(self):
        assert lay_out(cells([f"a|{number}" for number in range(100)])) is None

    def test_plain_words_stand_beside_their_squares(self):
        grid = lay_out(cells(["red", "green", "blue"], {"green": Look.FAILED}))
        assert [cell.key for cell in squares(grid)] == ["red", "green", "blue"]
        assert (grid.is_named, grid.is_line, grid.row_count) == (True, True, 1)
        assert [cell.look for cell in squares(grid)] == [Look.MISSING, Look.FAILED, Look.MISSING]

    def test_the_longer_the_words_the_fewer_in_a_row(self):
        short, long = (
            lay_out(cells([f"{word}{number}" for number in range(100)])) for word in ("s", "s" * 40)
        )
        assert (len(short.heads), len(long.heads), long.row_count) == (8, 2, 50)

    def test_very_many_words_are_a_list(self):
        assert lay_out(cells([f"store {number}" for number in range(501)])) is None


class TestRows:
    def test_count_what_is_there(self):
        looks = {"2026-03-01": Look.MATERIALIZED, "2026-03-02": Look.STALE, "2026-03-03": Look.FAILED}
        [row] = lay_out(cells(days("2026-03-01", 10), looks)).groups[0].rows
        assert (row.done, row.tally.total) == (2, 10)

    def test_are_done_without_keys_that_nobody_expects(self):
        keys = hours("2026-03-14T00", 24)
        looks = dict.fromkeys(keys, Look.MATERIALIZED) | {"2026-03-14T03": Look.MISSING}
        [row] = lay_out(cells(keys, looks, unexpected=["2026-03-14T02"])).groups[0].rows
        assert (row.done, row.tally.total) == (22, 23)
        [cell] = row.boxes[2]
        assert cell.outside == "not in the definition"
        assert cell.words == "2026-03-14T02: materialized, not in the definition"

    @given(st.lists(st.sampled_from(list(Look)), min_size=2, max_size=900))
    def test_hold_every_partition_exactly_once(self, looks):
        keys = hours("2026-01-01T00", len(looks))
        grid = lay_out(Cells(Listed(places(keys)), bytes(looks)))
        assert sum(cell.tally.total for cell in squares(grid)) == len(looks)
        assert sum(row.tally.total for group in grid.groups for row in group.rows) == len(looks)
        if len(looks) <= 24 * 30:
            assert [(cell.key, cell.look) for cell in squares(grid)] == list(zip(keys, looks, strict=True))


@pytest.mark.parametrize(
    ("bad", "share", "words"),
    [(1, 1, "2026-01-01: 23 materialized, 1 failed"), (24, 3, "2026-01-01: 24 failed")],
)
def test_a_square_of_many_says_how_much_of_it_is_bad(bad, share, words):
    keys = hours("2026-01-01T00", 24 * 365)
    looks = dict.fromkeys(keys, Look.MATERIALIZED) | dict.fromkeys(keys[:bad], Look.FAILED)
    first = squares(lay_out(cells(keys, looks)))[0]
    assert (first.look, first.share, first.words) == (Look.FAILED, share, words)


@pytest.mark.parametrize("name", ["seattle", "north-east", "2026-13", "Q", "W", "1234567890123456"])
def test_the_name_of_a_row_without_time_is_no_period(name):
    """Names of the length of a month or a day were read as one."""
    grid = lay_out(cells([f"{name}|s", f"{name}|m", "tw|s"]))
    assert [row.head for group in grid.groups for row in group.rows] == [name, "tw"]
