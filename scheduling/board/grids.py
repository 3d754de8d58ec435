"""A grid fitted to an asset: days × hours, months × days, years × months, or one segment × another."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date

from scheduling.board.bars import period_words
from scheduling.board.cells import Cells, Look, Tally
from scheduling.board.choice import around_of
from scheduling.board.labels import DAY, HOUR, MINUTE, MONTH, YEAR, Place
from scheduling.board.lateness import Late
from scheduling.board.orders import Name, Order, Table
from scheduling.board.room import MOST_OF_A_GRID, room_for
from scheduling.board.shortness import Short
from scheduling.board.squares import Cell, Grid, Group, Head, Row

MOST_CELLS = 1000
"""Squares on one page: what a browser and a person take in at once."""

WIDEST = 62
"""Columns of a matrix of two segments at most."""

MOST_BLOCKS = 12
"""Lanes that are shown as a calendar each; more are the rows of a matrix."""

LADDER = ((HOUR, MINUTE), (DAY, HOUR), (MONTH, DAY), (YEAR, MONTH))
"""Row and column unit of each layout, finest first."""

Units = tuple[int, int]

MOST_NAMED = 500
"""Keys without time that are shown with their names; of more there is a list."""

MOST_NAMES, LINE = 8, 96
"""Named keys in a row at most, and the characters that a row has room for."""

Selected = Callable[[int, Look], bool]
"""Whether the partition at a position, which looks so, is selected."""


def lay_out(
    cells: Cells,
    zoom: str = "",
    *,
    first_row: int = 0,
    selected: Selected | None = None,
    late: Late = (),
    short: Short = (),
) -> Grid | None:
    """The finest grid of the period `zoom` that fits on one page; None where a list says it better.

    :param late: positions of partitions that are late: their squares are marked.
    :param short: the same of those whose run was fired without some keys.
    """
    sheet = _Sheet(cells, selected, late, short)
    if selected is None:
        return cells.keep(("grid", zoom, first_row, late, short), lambda: _laid_out(sheet, zoom, first_row))
    return _laid_out(sheet, zoom, first_row)


def dated(cells: Cells, zoom: str) -> range:
    """The positions in one period, without those of keys that have no place in the calendar of the others."""
    positions = cells.positions(zoom)
    if cells.unit:
        positions = range(max(positions.start, cells.places.stray_count), positions.stop)
    return positions


def units_of(cells: Cells, positions: range, zoom: str) -> Units | None:
    """How long the labels of rows and columns are in the grid of one period; None where there is none."""
    return cells.keep(("units", zoom), lambda: _units(cells, positions, zoom))


def page_size(table: Table) -> int:
    """How many rows one page has."""
    return max(1, MOST_CELLS // len(table.heads))


def _laid_out(sheet: "_Sheet", zoom: str, first_row: int) -> Grid | None:
    cells = sheet.cells
    positions = dated(cells, zoom)
    if not positions:
        return None
    if not cells.unit:
        return _without_time(sheet, positions, first_row)
    units = units_of(cells, positions, zoom)
    return _page(sheet, cells.places.table(positions, *units), first_row, zoom) if units else None


def _units(cells: Cells, positions: range, zoom: str) -> Units | None:
    unit, order = cells.unit, cells.places
    if unit <= YEAR:
        return None
    if any(letter in order[positions.start].label for letter in "WQ"):
        return YEAR, unit
    if order.lane_count(positions) > MOST_BLOCKS:
        finest_first = [size for size in (MINUTE, HOUR, DAY, MONTH) if len(zoom) < size <= unit]
        return 0, next((size for size in finest_first if _are_few(order, positions, size)), YEAR)
    rungs = [rung for rung in LADDER if rung[1] <= unit]
    rungs = [rung for rung in rungs if rung[0] >= len(zoom)] or rungs[:1]
    return next((rung for rung in rungs if order.fits(positions, *rung, MOST_CELLS)), rungs[-1])


def _are_few(order: Order, positions: range, size: int) -> bool:
    """Whether the periods of that size are as many as a matrix has columns."""
    return order.roughly(size, positions) <= 4 * WIDEST and len(order.cuts(size, positions)) <= WIDEST


def _without_time(sheet: "_Sheet", positions: range, first_row: int) -> Grid | None:
    order = sheet.cells.places
    if all(place.others for place in order):
        table = order.table(positions, 0, 0)
        return _page(sheet, table, first_row, "") if len(table.heads) <= WIDEST else None
    return _wall(sheet, positions)


def _wall(sheet: "_Sheet", positions: range) -> Grid | None:
    """Keys without time or segments, in their order, each with its name beside its square."""
    if len(positions) > MOST_NAMED:
        return None
    keys = [place.key for place in sheet.cells.places.places_at(positions)]
    if room_for(keys, MOST_OF_A_GRID) < len(keys):
        return None
    longest = max(len(place.key) for place in sheet.cells.places)
    wide = max(1, min(MOST_NAMES, LINE // (longest + 4)))
    parts = [positions[at : at + wide] for at in range(0, len(positions), wide)]
    rows = [sheet.named(part) for part in parts]
    return Grid([Head("") for _ in range(wide)], [Group("", rows)], len(rows), is_line=True, is_named=True)


def _page(sheet: "_Sheet", table: Table, first_row: int, zoom: str) -> Grid:
    cells, heads = sheet.cells, table.heads
    shown = table.rows(first_row, page_size(table))
    flat = bool(cells.unit) and table.is_flat
    groups: dict[str, list[Row]] = {}
    for name, found in shown:
        words = " · ".join(name[0])
        row = sheet.row(name, found, heads, words if flat else _row_words(name[1], cells))
        groups.setdefault("" if flat else words, []).append(row)
    return Grid(
        heads=[
            Head(_head_words(head, cells, zoom), Tally.sum(map(cells.tally_of, table.column(head))))
            for head in heads
        ],
        groups=[Group(head, rows) for head, rows in groups.items()],
        row_count=table.row_count,
        first_row=first_row,
        is_line=bool(cells.unit) and not flat,
    )


def _head_words(head: str, cells: Cells, zoom: str) -> str:
    if not cells.unit:
        return head
    return head.lstrip("-T:") if head[:1] in "-T:" else period_words(head, zoom)


class _Sheet:
    """Squares of the partitions at some positions."""

    def __init__(self, cells: Cells, selected: Selected | None, late: Late, short: Short) -> None:
        self.cells, self.selected, self.late, self.short = cells, selected, late, short

    def row(self, name: Name, found: Mapping[str, Sequence[int]], heads: Sequence[str], words: str) -> Row:
        few = [at for part in found.values() if len(part) <= 2 for at in part]
        places = dict(zip(few, self.cells.places.places_at(few), strict=True))
        boxes = [self._box(name[1] + head, found.get(head, ()), places) for head in heads]
        zoom = name[1] if self.cells.unit else ""
        around = around_of(self.cells.places[next(iter(found.values()))[0]])
        tally = Tally.sum(map(self.cells.tally_of, found.values()))
        return Row(words, boxes, tally, zoom, around)

    def named(self, positions: range) -> Row:
        """A row of single partitions."""
        places = self.cells.places.places_at(positions)
        boxes = [[self._single(at, place)] for at, place in zip(positions, places, strict=True)]
        return Row("", boxes, self.cells.tally_of(positions), "", ("", ""), is_named=True)

    def _box(self, column: str, found: Sequence[int], places: Mapping[int, Place]) -> list[Cell]:
        """A square for each of two keys, as an autumn fold has them; one for many."""
        if len(found) <= 2 and all(places[at].label in ("", column) for at in found):
            return [self._single(at, places[at]) for at in found]
        tally = self.cells.shown_of(found)
        chosen = bool(self.selected) and self._are_selected(found)
        among = found if isinstance(found, range) else frozenset(found if self.late or self.short else ())
        is_late = bool(tally[Look.HELD]) and any(at in among for at in self.late)
        is_short = any(at in among for at in self.short)
        return [
            Cell(
                tally.worst,
                tally,
                zoom=column,
                unexpected=len(outside := self.cells.unexpected_among(found)),
                early=sum(self.cells.places[at].key in self.cells.early for at in outside),
                is_chosen=chosen,
                is_late=is_late,
                is_short=is_short,
            )
        ]

    def _are_selected(self, positions: Sequence[int]) -> bool:
        return self.selected is not None and all(self.selected(at, self.cells.look(at)) for at in positions)

    def _single(self, at: int, place: Place) -> Cell:
        look = self.cells.look(at)
        return Cell(
            look,
            Tally.of(bytes([look])),
            key=place.key,
            outside=self.cells.outside(place.key),
            is_chosen=self._are_selected([at]),
            is_late=look is Look.HELD and at in self.late,
            is_short=at in self.short,
        )


def _row_words(label: str, cells: Cells) -> str:
    if not cells.unit:
        return label
    if len(label) == DAY:
        return f"{date.fromisoformat(label):%a} {label}"
    return period_words(label)
