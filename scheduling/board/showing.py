"""Where the square of one key is: the period to zoom into, and the page of its grid."""

from scheduling.board.cells import Cells
from scheduling.board.grids import dated, page_size, units_of
from scheduling.board.labels import DAY, HOUR, MONTH, YEAR


def shown_at(cells: Cells, key: str) -> tuple[str, int] | None:
    """The widest period in whose grid `key` has a square of its own, and the first row of the page with it.

    None where no grid shows it: without time there is one grid or a list, and a stray key stands beside.
    """
    at = next(iter(cells.places.where([key])), None) if cells.unit else None
    label = "" if at is None else cells.places[at].label
    if at is None or not label:
        return None
    for zoom in ("", *_periods_around(label)):
        positions = dated(cells, zoom)
        units = units_of(cells, positions, zoom) if positions else None
        if units and units[1] >= len(label):
            table = cells.places.table(positions, *units)
            return zoom, table.row_of(at) // page_size(table) * page_size(table)
    return None


def _periods_around(label: str) -> list[str]:
    """The periods that a label lies in, widest first."""
    sizes = (YEAR,) if any(letter in label for letter in "WQ") else (YEAR, MONTH, DAY, HOUR)
    return [label[:size] for size in sizes if size < len(label)]
