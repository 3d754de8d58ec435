"""What a grid is made of: squares, rows of them, and the heads of its columns."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from scheduling.algebra.keys import DEFAULT_DELIMITER
from scheduling.algebra.selections import quoted
from scheduling.board.cells import NOT_DEFINED, NOT_DUE, Look, Tally

MOST_SPELLED = 100
"""Rows of a column that are selected one by one."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One square: a partition (`key`), or several of one period (`zoom`).

    `outside`: in which way the definition does not have the key. Of several, so many are `unexpected`, and of
    those so many only `early`.
    """

    look: Look
    tally: Tally
    key: str = ""
    zoom: str = ""
    outside: str = ""
    unexpected: int = 0
    early: int = 0
    is_chosen: bool = False
    is_late: bool = False
    is_short: bool = False

    @property
    def share(self) -> int:
        """1 to 3: how much of the square looks like its worst."""
        return 3 if self.key else self.tally.tint

    @property
    def words(self) -> str:
        more = (", late" if self.is_late else "") + (", fired without some keys" if self.is_short else "")
        more += ", selected" if self.is_chosen else ""
        if self.key:
            stray = f", {self.outside}" if self.outside else ""
            return f"{self.key}: {self.look.word}{stray}{more}"
        others = ((self.unexpected - self.early, NOT_DEFINED), (self.early, NOT_DUE))
        apart = "".join(f", {count:,} {words}" for count, words in others if count)
        return f"{self.zoom}: {self.tally.words}{apart}{more}"


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
    is_named: bool = False

    def selection(self, zoom: str = "") -> str:
        """What selects all of it on a board that shows the period `zoom`; empty if it cannot be written."""
        if self.around is None:
            return ""
        period = max(self.zoom, zoom, key=len)
        return f"[{period}...{period}]".join(self.around) if period else "*".join(self.around)

    @property
    def done(self) -> int:
        return self.tally[Look.MATERIALIZED] + self.tally[Look.STALE]

    def spelled(self, at: int) -> list[str]:
        """What selects each square of its box in one column, of those that are expected."""
        before, after = self.around or ("", "")
        expected = [cell for cell in self.boxes[at] if not cell.outside]
        return [cell.key or f"{before}[{cell.zoom}...{cell.zoom}]{after}" for cell in expected]


@dataclass(frozen=True, slots=True)
class Group:
    head: str
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column, and how all of it looks, on this page and on others."""

    words: str
    tally: Tally = field(default_factory=Tally)


@dataclass(frozen=True, slots=True)
class Grid:
    """One page of rows: from `first_row` on, of `row_count`.

    `is_line`: time goes on from the end of a row to the beginning of the next. `is_named`: each
    square has its key written beside it.
    """

    heads: Sequence[Head]
    groups: Sequence[Group]
    row_count: int
    first_row: int = 0
    is_line: bool = False
    is_named: bool = False
    kept: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    """How it was written before: it never changes."""

    @property
    def columns(self) -> list[str]:
        return [head.words for head in self.heads]

    def column(self, at: int, is_slice: bool = False) -> str:
        """What selects all of a column, or what this page shows of it; empty if that cannot be written.

        :param is_slice: whether there are others than those rows.
        """
        rows = [row for group in self.groups for row in group.rows]
        if not rows or any(row.around is None for row in rows):
            return ""
        if not self.is_line and not is_slice:
            return _in_every_row(rows, at)
        if len(rows) > MOST_SPELLED:
            return ""
        return ", ".join(each for row in rows for each in row.spelled(at))

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


def _in_every_row(rows: Sequence[Row], at: int) -> str:
    """A column of lanes: the segment of its squares with any others. None of two keys of one moment."""
    found = [(row.around or ("", ""), row.boxes[at]) for row in rows if row.boxes[at]]
    if not found or any(len(box) > 1 for _, box in found):
        return ""
    (before, after), [cell] = found[0]
    first = before.count(DEFAULT_DELIMITER)
    segment = cell.key.split(DEFAULT_DELIMITER)[first] if cell.key else f"[{cell.zoom}...{cell.zoom}]"
    if cell.key and quoted(segment, DEFAULT_DELIMITER) != segment:
        return ""
    return DEFAULT_DELIMITER.join([*["*"] * first, segment, *["*"] * after.count(DEFAULT_DELIMITER)])
