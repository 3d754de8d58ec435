"""Where the square of one key is: the period to zoom into, and the page of its grid."""

from scheduling.board.cells import Cells
from scheduling.board.grids import dated, page_size, units_of
from scheduling.board.labels import DAY, HOUR, MONTH, YEAR, Place
from scheduling.board.orders import Table

MOST_PAGES = 100
"""Pages of a grid that are looked through for a key."""


def shown_at(cells: Cells, key: str) -> tuple[str, int] | None:
    """The widest period in whose grid `key` has a square of its own, and the first row of the page with it.

    None where no grid shows it: without time there is one grid or a list, and a stray key stands beside.
    """
    at = next(iter(cells.places.where([key])), None) if cells.unit else None
    place = None if at is None else cells.places[at]
    if place is None or not place.label:
        return None
    for zoom in ("", *_periods_around(place.label)):
        positions = dated(cells, zoom)
        units = units_of(cells, positions, zoom) if positions else None
        if units and units[1] >= len(place.label):
            return zoom, _first_row(cells.places.table(positions, *units), place, units[0])
    return None


def _periods_around(label: str) -> list[str]:
    """The periods that a label lies in, widest first."""
    sizes = (YEAR,) if any(letter in label for letter in "WQ") else (YEAR, MONTH, DAY, HOUR)
    return [label[:size] for size in sizes if size < len(label)]


def _first_row(table: Table, place: Place, row: int) -> int:
    size = page_size(table)
    for first in range(0, min(table.row_count, MOST_PAGES * size), size):
        if any(name == (place.others, place.label[:row]) for name, _ in table.rows(first, size)):
            return first
    return 0
