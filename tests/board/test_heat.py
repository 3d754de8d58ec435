"""Numbers of the partitions on a grid."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import example, given
from hypothesis import strategies as st

from core.models import Partition
from scheduling.board.cells import Look
from scheduling.board.grids import lay_out
from scheduling.board.heat import FEWEST, MOST_FIELDS, SAMPLE, STEPS, _measured, far_out_of, measure, number
from scheduling.board.plots import MOST_LINES, lines_of
from tests.board.drawing import cells, days, hours
from tests.engine import world
from tests.engine.world import NOW

DAYS = days("2026-03-01", 31)

NUMBERS = st.floats(-1e300, 1e300) | st.integers(-(10**18), 10**18).map(float)


def keyed(*values):
    return {key: float(value) for key, value in zip(DAYS, values, strict=False)}


@pytest.fixture
def shown(db):
    """Partitions with what their events said of them, and the number `wanted` of the grid that shows them."""

    def shown(extras, wanted="", looks=Look.MATERIALIZED, keys=None):
        asset = world.asset("sales")
        Partition.objects.filter(asset=asset).delete()
        rows = [Partition(asset=asset, key=key, extra=extras[key], updated_at=NOW) for key in extras]
        Partition.objects.bulk_create(rows)
        return measure(asset, lay_out(cells(keys or list(extras), looks)), wanted)

    return shown


def counted(values):
    return {key: {"rows": value} for key, value in keyed(*values).items()}


class TestFields:
    def test_are_the_numbers_of_what_is_shown(self, shown):
        extra = {"rows": 3, "mean": 2.5, "city": "sf", "is_full": True, "parts": [1], "none": None}
        assert shown({"2026-03-01": extra, "2026-03-02": {"late": 1}}).fields == ["late", "mean", "rows"]

    def test_may_lie_deeper_in_what_was_said(self, shown):
        extra = {"stats": {"rows": 3, "by": {"city": {"sf": 1, "too": {"deep": 2}}}, "note": "x"}, "rows": 1}
        found = shown({"2026-03-01": extra}, "stats.rows")
        assert found.fields == ["rows", "stats.rows"]
        assert found.values == {"2026-03-01": 3}

    def test_inside_periods_are_told_and_chosen_there(self, shown):
        keys = hours("2026-03-01T00", 24 * 60)
        found = shown({key: {"rows": 1} for key in keys[-30:]}, "rows", keys=keys)
        assert found is None
        Partition.objects.update(data_at=NOW, partition_date=NOW)
        grid = lay_out(cells(keys))
        deeper = measure(world.asset("sales"), grid, "rows")
        assert (deeper.is_deeper, deeper.fields, deeper.name) == (True, ["rows"], "")

    def test_without_any_there_is_nothing(self, shown):
        assert shown({"2026-03-01": {}, "2026-03-02": {"city": "sf"}}) is None
        assert shown({"2026-03-01": ["rows", 3]}) is None

    def test_numbers_that_cannot_be_measured_are_none(self, shown):
        assert shown({"2026-03-01": {"rows": 10**400}}) is None

    def test_a_field_that_nothing_has_is_not_chosen(self, shown):
        found = shown({"2026-03-01": {"rows": 3}}, "columns")
        assert (found.name, found.fields, found.values) == ("", ["rows"], {})

    def test_the_most_frequent_are_offered_and_the_one_chosen(self, shown):
        extras = {day: {f"field {n:02}": n for n in range(20) if n < 18 or day == DAYS[0]} for day in DAYS}
        assert shown(extras).fields == [f"field {n:02}" for n in range(MOST_FIELDS)]
        assert shown(extras, "field 19").fields[-1] == "field 19"

    def test_a_grid_of_periods_has_none_and_asks_once(self, db):
        asset = world.asset("sales")
        year = lay_out(cells(hours("2026-01-01T00", 24 * 365)))
        with CaptureQueriesContext(connection) as queries:
            assert measure(asset, year, "rows") is None
            assert measure(asset, None, "rows") is None
        assert len(queries) == 1

    def test_keys_without_a_row_are_not_asked_for(self, shown):
        assert shown({"2026-03-01": {"rows": 3}}, "rows", looks=Look.MISSING) is None
        assert shown({"2026-03-01": {"rows": 3}}, "rows", looks=Look.HELD) is None

    def test_only_some_of_the_newest_are_looked_at_while_none_is_chosen(self, shown):
        keys = hours("2026-03-01T00", SAMPLE + 1)
        extras = {key: {"late" if at else "early": 1} for at, key in enumerate(keys)}
        assert shown(extras).fields == ["late"]
        assert shown(extras, "early").fields == ["early", "late"]

    def test_it_is_one_query_however_many_there_are(self, shown):
        asset = world.asset("sales")
        for count in (2, 31):
            shown(counted([1] * count))
            grid = lay_out(cells(DAYS[:count]))
            with CaptureQueriesContext(connection) as queries:
                measure(asset, grid, "rows")
            assert len(queries) == 1


class TestTints:
    def test_go_from_the_least_to_the_most(self, shown):
        found = shown(counted([0, 10, 20, 30, 40, 60]), "rows")
        assert list(found.tints.values()) == [1, 2, 3, 4, 5, 6]

    def test_equal_numbers_are_tinted_alike(self, shown):
        assert set(shown(counted([7, 7, 7]), "rows").tints.values()) == {3}

    def test_a_key_without_the_number_has_none(self, shown):
        found = shown({"2026-03-01": {"rows": 3}, "2026-03-02": {}}, "rows", keys=DAYS[:3])
        assert found.values == {"2026-03-01": 3.0, "2026-03-02": None, "2026-03-03": None}
        assert (found.tints["2026-03-02"], found.count) == (0, 1)

    def test_an_outlier_does_not_stretch_them(self, shown):
        found = shown(counted([*range(1, 13), 100_000, -100_000]), "rows")
        assert list(found.tints.values())[:12] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
        assert list(found.tints.values())[12:] == [6, 1]

    def test_a_usual_value_that_never_changes_stands_between_those_that_do(self, shown):
        found = shown(counted([*[24] * 20, 3, 90]), "rows")
        assert list(found.tints.values())[-3:] == [3, 1, 6]

    @example([*[0.0] * 9, 6.9e-218, 2.1e90])
    @given(st.lists(NUMBERS, min_size=1, max_size=31))
    def test_there_is_one_of_the_steps_for_every_number(self, values):
        found = _measured(["rows"], "rows", keyed(*values))
        assert all(1 <= tint <= STEPS for tint in found.tints.values())
        assert found.least <= found.middle <= found.most
        [line] = lines_of({"": DAYS}, found.values, (), (found.least, found.middle, found.most))
        assert "nan" not in line.steps + line.level + found.words


class TestOutliers:
    def test_lie_three_ranges_between_the_quartiles_outside(self):
        usual = [10, 11, 12, 13, 14, 15, 16, 17, 18]  # quartiles 12 and 16: from 0 to 28 is usual
        assert far_out_of(keyed(*usual, 0, 28)) == []
        assert far_out_of(keyed(*usual, -20, 60)) == DAYS[9:11]

    def test_one_short_day_among_whole_ones_stands_out(self):
        assert far_out_of(keyed(*[24] * 20, 3)) == [DAYS[20]]

    def test_many_different_ones_are_usual(self):
        assert far_out_of(keyed(*[24] * 16, 1, 2, 3, 4)) == []

    def test_among_few_none_stands_out(self):
        assert far_out_of(keyed(*[1] * (FEWEST - 2), 1000)) == []

    @given(st.lists(NUMBERS, max_size=31))
    def test_the_least_usual_is_never_most_of_them(self, values):
        assert len(far_out_of(keyed(*values))) <= len(values) / 2

    def test_are_a_selection_unless_one_has_to_be_quoted(self, shown):
        found = shown(counted([*[24] * 20, 3]), "rows")
        assert found.selection == DAYS[20]
        extras = {f"a, {at:02}": {"rows": 24 if at else 3} for at in range(20)}
        assert len(shown(extras, "rows").outliers) == 1
        assert shown(extras, "rows").selection == ""


class TestPlot:
    def test_is_one_step_for_each_key_with_a_gap_where_there_is_none(self, shown):
        found = shown({day: {"rows": n} for day, n in zip(DAYS, (0, 5, None, 10), strict=False)}, "rows")
        [line] = found.lines
        assert line.steps == "M0 100H1V50H2M3 0H4"
        assert line.level == "M0 50H4"
        assert line.ends == (DAYS[0], DAYS[3])

    def test_equal_numbers_are_a_line_in_the_middle(self, shown):
        assert shown(counted([7, 7]), "rows").lines[0].steps == "M0 50H1V50H2"

    def test_outliers_are_drawn_again(self, shown):
        assert shown(counted([*[24] * 20, 3]), "rows").lines[0].far_out == "M20 100h1"

    def test_several_segments_are_a_line_each_of_one_scale(self, shown):
        extras = {f"{city}|{day}": {"rows": n} for city, n in (("sea", 1), ("sf", 3)) for day in DAYS[:2]}
        found = shown(extras | {"ny|2026-03-01": {}}, "rows")
        assert [line.name for line in found.lines] == ["sea", "sf"]  # nothing is told of ny
        assert [line.steps for line in found.lines] == ["M0 100H1V100H2", "M0 0H1V0H2"]
        assert found.lines[1].ends == ("sf|2026-03-01", "sf|2026-03-02")

    def test_those_of_a_year_are_a_line_each_too(self, shown):
        year = days("2026-01-01", 365)
        found = shown({f"{city}|{day}": {"rows": 1} for city in ("sea", "sf") for day in year}, "rows")
        assert [(line.name, len(line.values)) for line in found.lines] == [("sea", 365), ("sf", 365)]

    def test_more_lines_than_one_tells_apart_are_counted(self, shown):
        extras = {f"{number}|{day}": {"rows": number} for number in range(MOST_LINES + 3) for day in DAYS[:2]}
        found = shown(extras, "rows")
        assert (len(found.drawn), found.left_off) == (MOST_LINES, 3)

    def test_is_told_in_words(self, shown):
        assert shown(counted([1200, 3, 5000.5]), "rows").words == "least 3, median 1,200, most 5,000.5"

    @pytest.mark.parametrize(
        ("value", "words"),
        [(3.0, "3"), (1234567.0, "1,234,567"), (0.125, "0.125"), (61.23456, "61.23"), (1e18, "1e+18")],
    )
    def test_numbers_are_written_as_people_do(self, value, words):
        assert number(value) == words
