"""A key is shown where the grid of a period has a square for it alone."""

import pytest

from scheduling.algebra.dimensions import MultiPartitions
from scheduling.board.cells import Cells
from scheduling.board.defined import Defined
from scheduling.board.grids import MOST_CELLS, lay_out
from scheduling.board.showing import shown_at
from scheduling.sdk import DailyPartitions, HourlyPartitions, StaticPartitions
from tests.board.drawing import cells, days, hours
from tests.engine.world import NOW


def defined(definition, axis):
    count = definition.count(NOW)
    return Cells(Defined(definition, axis, count, NOW), bytes(count))


def shops(count):
    axis = DailyPartitions("2025-01-01")
    shop = StaticPartitions([f"shop{number:03}" for number in range(count)])
    return defined(MultiPartitions((("shop", shop), ("day", axis))), axis)


def listed(count):
    return cells([f"shop{number:03}|2025-12-24" for number in range(count)])


def defined_hours():
    axis = HourlyPartitions("2024-01-01")
    return defined(axis, axis)


@pytest.mark.parametrize(
    ("shown", "key", "where"),
    [
        (cells(hours("2026-03-01T00", 24 * 7)), "2026-03-02T07", ("", 0)),
        (cells(hours("2025-01-01T00", 24 * 800)), "2026-02-28T07", ("2026-02", 0)),
        (cells(days("1996-01-01", 365 * 90)), "2026-03-10", ("2026", 0)),
        (
            cells([f"2026-03-{day:02}T{minute:02}:{minute:02}" for day in (9, 10) for minute in range(24)]),
            "2026-03-10T09:09",
            ("2026-03-10", 0),
        ),
        (cells(["2026-W01", "2026-W02", "2027-W01"]), "2026-W02", ("", 0)),
        (defined_hours(), "2025-05-02T07", ("2025-05", 0)),
        (shops(2), "shop001|2025-12-24", ("", 0)),
        (shops(100), "shop001|2025-12-24", ("2025-12", 0)),
        (shops(100), "shop077|2025-12-24", ("2025-12", MOST_CELLS // 31 * 2)),
        (shops(5000), "shop4077|2025-12-24", ("2025-12", 4077 // (MOST_CELLS // 31) * (MOST_CELLS // 31))),
        (listed(5000), "shop4077|2025-12-24", ("", 4000)),
    ],
)
def test_it_is_the_widest_that_has_one(shown, key, where):
    assert shown_at(shown, key) == where
    zoom, row = where
    assert key in squares(shown, zoom, row)
    wider = [zoom[:size] for size in (0, 4, 7, 10) if size < len(zoom)]
    assert not any(key in squares(shown, each, row) for each in wider for row in rows(shown, each))


@pytest.mark.parametrize("key", ["nonsense", "1970-01-01", "2031-01-01", ""])
def test_one_that_no_grid_shows_is_nowhere(key):
    assert shown_at(cells(days("2024-01-01", 900)), key) is None
    assert shown_at(cells(["small", "large"]), key) is None


def rows(shown, zoom):
    """The first row of each page of a grid."""
    grid = lay_out(shown, zoom)
    size = sum(len(group.rows) for group in grid.groups)
    return range(0, grid.row_count, size)


def squares(shown, zoom, row):
    grid = lay_out(shown, zoom, first_row=row)
    return {cell.key for group in grid.groups for each in group.rows for box in each.boxes for cell in box}
