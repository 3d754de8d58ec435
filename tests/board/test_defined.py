"""An order that is worked out is the one that would be listed."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.board.bars import draw
from scheduling.board.cells import Cells, Look
from scheduling.board.defined import Defined, axis_of
from scheduling.board.grids import MOST_CELLS, lay_out
from scheduling.board.keylists import listed
from scheduling.board.labels import places
from scheduling.board.orders import Listed
from scheduling.sdk import (
    DailyPartitions,
    HourlyPartitions,
    MinutelyPartitions,
    MonthlyPartitions,
    MultiPartitions,
    QuarterlyPartitions,
    StaticPartitions,
    TimePartitions,
    WeeklyPartitions,
    YearlyPartitions,
)

NOW = datetime(2026, 3, 11, 9, 10, tzinfo=UTC)
CITIES = StaticPartitions(["sf", "la", "ny"])
DEFINITIONS = (
    DailyPartitions("2023-11-05"),
    HourlyPartitions("2025-10-20", timezone="Europe/Paris"),
    HourlyPartitions("2026-03-08", timezone="America/New_York"),
    HourlyPartitions("2026-01-01", key_format="%Y-%m-%dT%H:%M:%S"),
    MinutelyPartitions("2026-03-08T11:30"),
    WeeklyPartitions("2024-01-01"),
    WeeklyPartitions("2024-01-01", key_format="%G-W%V"),
    MonthlyPartitions("2020-02-01"),
    QuarterlyPartitions("2020-01-01"),
    YearlyPartitions("1999-01-01"),
    TimePartitions("*/20 6-9 * * mon-fri", "2026-01-01"),
    MultiPartitions({"city": CITIES, "day": DailyPartitions("2025-11-20")}),
    MultiPartitions(
        {"hour": HourlyPartitions("2026-03-01"), "city": CITIES, "size": StaticPartitions(["s", "m"])}
    ),
    MultiPartitions(
        {
            "city": StaticPartitions([f"c{number}" for number in range(40)]),
            "day": DailyPartitions("2026-01-20"),
        }
    ),
)
IDS = [definition.words() for definition in DEFINITIONS]


def both(definition, seed=0):
    """The same cells worked out and listed, with looks from a seed."""
    count = definition.count(NOW)
    worked_out = Defined(definition, axis_of(definition), count, NOW)
    found = places(definition.keys(0, count, NOW))
    order = Listed(sorted(found, key=lambda place: place.label))
    looks = bytes((seed * 31 + at * at) % 97 % 6 if at % 13 == seed % 13 else 0 for at in range(count))
    return Cells(worked_out, looks), Cells(order, looks)


def zooms(cells):
    """Every kind of period there is to look into, and one that is not there."""
    labels = [
        place.label for place in (cells.places[0], cells.places[len(cells.places) // 2], cells.places[-1])
    ]
    sizes = [size for size in (4, 7, 10, 13) if size < cells.unit and not set(labels[0]) & set("WQ")]
    return ["", "1900", *(label[:size] for label in labels for size in sizes)]


@pytest.mark.parametrize("definition", DEFINITIONS, ids=IDS)
class TestOrders:
    def test_places_are_the_same(self, definition):
        worked_out, order = both(definition)
        assert list(worked_out.places) == list(order.places)
        assert [worked_out.places[at] for at in (0, 5, -1)] == [order.places[at] for at in (0, 5, -1)]
        some = range(3, min(len(order.places), 200), 7)
        assert worked_out.places.places_at(some) == order.places.places_at(some)
        assert (worked_out.unit, worked_out.strays()) == (order.unit, order.strays())

    def test_periods_are_the_same(self, definition):
        worked_out, order = both(definition)
        for zoom in zooms(order):
            positions = order.positions(zoom)
            assert worked_out.positions(zoom) == positions
            for size in (4, 7, 10, 13):
                if positions and size <= order.unit:
                    assert worked_out.places.cuts(size, positions) == order.places.cuts(size, positions)
                    assert worked_out.places.roughly(size, positions) >= order.places.roughly(size, positions)

    @pytest.mark.parametrize("seed", range(3))
    def test_bars_are_the_same(self, definition, seed):
        worked_out, order = both(definition, seed)
        for zoom in zooms(order):
            mine, theirs = (draw(cells, zoom, with_segments=True) for cells in (worked_out, order))
            assert (mine.tally, mine.first, mine.last) == (theirs.tally, theirs.first, theirs.last)
            assert [(each.zoom, each.tally) for each in mine.segments] == [
                (each.zoom, each.tally) for each in theirs.segments
            ]

    @pytest.mark.parametrize("seed", range(3))
    def test_grids_are_the_same(self, definition, seed):
        worked_out, order = both(definition, seed)
        for zoom in zooms(order):
            for first_row in (0, 2):
                assert lay_out(worked_out, zoom, first_row=first_row) == lay_out(
                    order, zoom, first_row=first_row
                )

    def test_lists_are_the_same(self, definition):
        worked_out, order = both(definition, 4)
        for only in (None, Look.FAILED, Look.MISSING):
            assert listed(worked_out, only=only, first=3, size=9) == listed(order, only=only, first=3, size=9)


class TestLargeOrders:
    """Sizes at which nothing may be listed."""

    def test_a_million_minutes(self):
        minutes = MinutelyPartitions("2024-04-01")
        order = Defined(minutes, minutes, 1_000_000, NOW)
        looks = bytearray(1_000_000)
        looks[654_321] = Look.FAILED
        cells = Cells(order, bytes(looks))
        bar = draw(cells, with_segments=True)
        assert (bar.columns, bar.tally.words) == (400, "999,999 materialized, 1 failed")
        assert [(stroke.look, stroke.filled) for stroke in bar.strokes] == [
            (Look.MATERIALIZED, 0),
            (Look.FAILED, 3),
        ]
        assert [each.zoom for each in bar.segments] == ["2024", "2025", "2026"]
        grid = lay_out(cells)
        failed = [
            cell.zoom
            for row in grid.groups[0].rows
            for box in row.boxes
            for cell in box
            if cell.look is Look.FAILED
        ]
        assert failed == [minutes.key_at(654_321)[:10]]
        assert len(lay_out(cells, "2025-03").heads) == 24
        assert lay_out(cells, "2025-03-14T09").groups[0].rows[0].boxes[5][0].key == "2025-03-14T09:05"

    def test_five_hundred_stores_of_three_years_are_a_matrix(self):
        store = StaticPartitions([f"store-{number:03}" for number in range(500)])
        stores = MultiPartitions({"store": store, "day": DailyPartitions("2023-03-11")})
        cells = Cells(Defined(stores, axis_of(stores), stores.count(NOW), NOW), bytes(stores.count(NOW)))
        grid = lay_out(cells)
        assert (grid.row_count, len(grid.heads)) == (500, 37)
        assert grid.heads[1].tally.total == 500 * 30
        assert sum(len(row.boxes) for group in grid.groups for row in group.rows) <= MOST_CELLS
        month = lay_out(cells, "2025-02", first_row=480)
        assert [row.head for row in month.groups[0].rows] == [
            f"store-{number:03}" for number in range(480, 500)
        ]
        assert month.groups[0].rows[0].boxes[13][0].key == "store-480|2025-02-14"
        assert month.groups[0].rows[0].around == ("store-480|", "")

    @settings(max_examples=30)
    @given(st.integers(0, 999_999), st.integers(1, 999_999))
    def test_columns_are_equal_parts(self, first, size):
        minutes = MinutelyPartitions("2024-04-01")
        order = Defined(minutes, minutes, 1_000_000, NOW)
        positions = range(first, min(first + size, 1_000_000))
        columns = order.columns(positions, 400)
        assert len(columns) <= 400
        assert [column.start for column in columns[1:]] == [column.stop for column in columns[:-1]]
        assert (columns[0].start, columns[-1].stop) == (positions.start, positions.stop)


class TestKeysThatNoCalendarCanRead:
    def test_are_placed_by_the_clocks_of_the_zone(self):
        days = DailyPartitions("2026-03-01", timezone="Europe/Paris", key_format="%d.%m.%Y")
        order = Defined(days, days, days.count(NOW), NOW)
        assert [place.label for place in order][:2] == ["2026-03-01", "2026-03-02"]
        assert order[0].key == "01.03.2026"
        assert order.positions("2026-03") == range(10)

    def test_beyond_its_end_there_is_nothing(self):
        days = DailyPartitions("2026-03-01")
        with pytest.raises(IndexError):
            Defined(days, days, 5, NOW)[5]
