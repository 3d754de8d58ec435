"""A grid fitted to an asset: days × hours, months × days, years × months, or one segment × another."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from datetime import date

from scheduling.board.bars import period_words
from scheduling.board.cells import Cells, Look, Tally
from scheduling.board.choice import around_of
from scheduling.board.labels import DAY, HOUR, MINUTE, MONTH, YEAR

MOST_CELLS = 1000
"""Squares on one page: what a browser and a person take in at once."""

WIDEST = 62
"""Columns of a matrix of two segments at most."""

LADDER = ((HOUR, MINUTE), (DAY, HOUR), (MONTH, DAY), (YEAR, MONTH))
"""Row and column unit of each layout, finest first."""

Units = tuple[int, int]
Name = tuple[tuple[str, ...], str]
"""Where a position belongs: its group and the label of its row."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One square: a partition (`key`), or several of one period (`zoom`)."""

    look: Look
    tally: Tally
    key: str = ""
    zoom: str = ""
    is_unexpected: bool = False
    is_chosen: bool = False

    @property
    def share(self) -> int:
        """1 to 3: how much of the square looks like its worst."""
        return 3 if self.key else self.tally.tint

    @property
    def words(self) -> str:
        more = ", selected" if self.is_chosen else ""
        if self.key:
            stray = ", not in the definition" if self.is_unexpected else ""
            return f"{self.key}: {self.look.word}{stray}{more}"
        return f"{self.zoom}: {self.tally.words}{more}"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of boxes. Most hold one square, in an autumn fold two; where nothing was expected none.

    `tally` leaves out keys that the definition does not have: the row is done without them. `around` is what
    stands before and after the segment of a column in a selection; none if none can be written.
    """

    head: str
    boxes: Sequence[Sequence[Cell]]
    tally: Tally
    zoom: str = ""
    around: tuple[str, str] | None = None

    @property
    def done(self) -> int:
        return self.tally[Look.MATERIALIZED] + self.tally[Look.STALE]


@dataclass(frozen=True, slots=True)
class Group:
    head: str
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Grid:
    """One page of rows: from `first_row` on, of `row_count`.

    `is_line`: time goes on from the end of a row to the beginning of the next.
    """

    columns: Sequence[str]
    groups: Sequence[Group]
    row_count: int
    first_row: int = 0
    is_line: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether one page shows every row."""
        return not self.first_row and self.last_row == self.row_count

    @property
    def last_row(self) -> int:
        return self.first_row + sum(len(group.rows) for group in self.groups)

    @property
    def next_row(self) -> int:
        return self.last_row if self.last_row < self.row_count else 0


def lay_out(
    cells: Cells, zoom: str = "", *, first_row: int = 0, chosen: Set[int] = frozenset()
) -> Grid | None:
    """The finest grid of the period `zoom` that fits on one page; None where a list says it better.

    :param chosen: positions to show as selected.
    """
    positions = cells.positions(zoom)
    if cells.unit:
        positions = range(max(positions.start, len(cells.strays())), positions.stop)
    if not positions:
        return None
    sheet = _Sheet(cells, chosen)
    if not cells.unit:
        return _matrix(sheet, positions, first_row)
    units = _units(cells, positions, zoom)
    return _calendar(sheet, positions, units, first_row) if units else None


def _units(cells: Cells, positions: Sequence[int], zoom: str) -> Units | None:
    if cells.unit <= YEAR:
        return None
    if any(letter in cells.places[positions[0]].label for letter in "WQ"):
        return YEAR, cells.unit
    rungs = [rung for rung in LADDER if rung[1] <= cells.unit]
    rungs = [rung for rung in rungs if rung[0] >= len(zoom)] or rungs[:1]
    return next((rung for rung in rungs if _size(cells, positions, rung) <= MOST_CELLS), rungs[-1])


def _size(cells: Cells, positions: Sequence[int], units: Units) -> int:
    row, column = units
    rows = {(cells.places[at].others, cells.places[at].label[:row]) for at in positions}
    return len(rows) * len({cells.places[at].label[row:column] for at in positions})


def _calendar(sheet: "_Sheet", positions: Sequence[int], units: Units, first_row: int) -> Grid:
    row, column = units
    for at in positions:
        place = sheet.cells.places[at]
        sheet.put(at, (place.others, place.label[:row]), place.label[row:column])
    groups = {group: order for order, (group, _) in enumerate(sheet.boxes)}
    names = sorted(sheet.boxes, key=lambda name: (groups[name[0]], name[1]))
    return sheet.page(names, sorted(sheet.heads), first_row)


def _matrix(sheet: "_Sheet", positions: Sequence[int], first_row: int) -> Grid | None:
    if not all(sheet.cells.places[at].others for at in positions):
        return None
    for at in positions:
        *rest, last = sheet.cells.places[at].others
        sheet.put(at, ((), "|".join(rest)), last)
    return None if len(sheet.heads) > WIDEST else sheet.page(list(sheet.boxes), list(sheet.heads), first_row)


class _Sheet:
    """Positions put into boxes by row and column."""

    def __init__(self, cells: Cells, chosen: Set[int]) -> None:
        self.cells, self.chosen = cells, chosen
        self.boxes: dict[Name, dict[str, list[int]]] = {}
        self.heads: dict[str, None] = {}

    def put(self, at: int, name: Name, head: str) -> None:
        self.boxes.setdefault(name, {}).setdefault(head, []).append(at)
        self.heads[head] = None

    def page(self, names: Sequence[Name], heads: Sequence[str], first_row: int) -> Grid:
        fits = max(1, MOST_CELLS // len(heads))
        shown = names[first_row : first_row + fits]
        flat = len({row for _, row in names}) == 1 and len(names) > 1
        groups: dict[str, list[Row]] = {}
        for name in shown:
            words = " · ".join(name[0])
            row = self._row(name, heads, (lambda _: words) if flat else _row_words)  # noqa: B023
            groups.setdefault("" if flat else words, []).append(row)
        return Grid(
            columns=[head.lstrip("-T:") if self.cells.unit else head for head in heads],
            groups=[Group(head, rows) for head, rows in groups.items()],
            row_count=len(names),
            first_row=first_row,
            is_line=bool(self.cells.unit) and not flat,
        )

    def _row(self, name: Name, heads: Sequence[str], words: Callable[[str], str]) -> Row:
        found = self.boxes[name]
        boxes = [self._box(name[1] + head, found.get(head, ())) for head in heads]
        unexpected = self.cells.unexpected
        everything = [at for part in found.values() for at in part]
        if unexpected:
            everything = [at for at in everything if self.cells.places[at].key not in unexpected]
        zoom = name[1] if self.cells.unit else ""
        around = around_of(self.cells.places[next(iter(found.values()))[0]])
        return Row(words(name[1]), boxes, self.cells.tally_of(everything), zoom, around)

    def _box(self, column: str, found: Sequence[int]) -> list[Cell]:
        """A square for each of two keys, as an autumn fold has them; one for many."""
        if len(found) <= 2 and all(self.cells.places[at].label in ("", column) for at in found):
            return [self._single(at) for at in found]
        if not found:
            return []
        tally = self.cells.tally_of(found)
        chosen = bool(self.chosen) and all(at in self.chosen for at in found)
        return [Cell(tally.worst, tally, zoom=column, is_chosen=chosen)]

    def _single(self, at: int) -> Cell:
        place, look = self.cells.places[at], self.cells.look(at)
        return Cell(
            look,
            Tally.of(bytes([look])),
            key=place.key,
            is_unexpected=place.key in self.cells.unexpected,
            is_chosen=at in self.chosen,
        )


def _row_words(label: str) -> str:
    if len(label) == DAY:
        return f"{date.fromisoformat(label):%a} {label}"
    return period_words(label)
