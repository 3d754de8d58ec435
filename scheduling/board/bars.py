"""A partition bar: a whole history in one line, where the worst state of each column shows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby

from scheduling.board.cells import Cells, Look, Tally
from scheduling.board.labels import DAY, HOUR, MONTH, YEAR

COLUMNS = 400
"""Columns at most: about one for every two pixels of a bar."""

FEWEST_COLUMNS = 24

SEGMENTS = 40
"""Links under a bar at most."""

SHAPES: dict[Look, tuple[tuple[int, int], ...]] = {
    Look.MATERIALIZED: ((5, 15),),
    Look.STALE: ((5, 4), (11, 9)),
    Look.RUNNING: ((5, 4), (16, 4)),
    Look.MISSING: ((15, 5),),
    Look.HELD: ((5, 3), (11, 3), (17, 3)),
    Look.FAILED: ((0, 20),),
}
"""Top and height of the strips of each look, of 20: failed sticks out, missing lies low, held is striped."""


@dataclass(frozen=True, slots=True)
class Stroke:
    """All columns of one look and tint as one SVG path."""

    look: Look
    tint: int
    path: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of the bar that one can zoom into: where it lies (shares of the width) and what is in it."""

    zoom: str
    words: str
    start: float
    width: float
    tally: Tally


@dataclass(frozen=True, slots=True)
class Bar:
    columns: int
    strokes: Sequence[Stroke]
    tally: Tally
    first: str = ""
    last: str = ""
    segments: Sequence[Segment] = field(default_factory=tuple)

    @property
    def width(self) -> int:
        """Columns that there is room for: a single partition is no long bar."""
        return max(self.columns, FEWEST_COLUMNS)

    @property
    def words(self) -> str:
        """The bar as a sentence, for those who cannot see it."""
        if not self.columns:
            return "no partitions"
        return f"{self.tally.words}; from {self.first} to {self.last}"


def draw(cells: Cells, zoom: str = "", *, with_segments: bool = False) -> Bar:
    """The bar of one period of `cells`, or of all. Keys of one moment share a column."""
    positions = cells.positions(zoom)
    slots = _slots(cells, positions)
    if not slots:
        return Bar(0, (), Tally())
    wide = -(-len(slots) // COLUMNS)
    columns = [
        cells.tally_of(range(slots[at].start, slots[min(at + wide, len(slots)) - 1].stop))
        for at in range(0, len(slots), wide)
    ]
    places = cells.places
    return Bar(
        columns=len(columns),
        strokes=tuple(_strokes(columns)),
        tally=cells.tally_of(positions),
        first=places[positions.start].label or places[positions.start].key,
        last=places[positions.stop - 1].label or places[positions.stop - 1].key,
        segments=tuple(_segments(cells, slots, wide * max(len(columns), FEWEST_COLUMNS), zoom))
        if with_segments
        else (),
    )


def next_unit(cells: Cells, zoom: str, positions: Sequence[int]) -> int:
    """The unit one level below `zoom` in which its labels differ; 0 where there is nothing below."""
    for size in (YEAR, MONTH, DAY, HOUR):
        if size <= len(zoom) or size >= cells.unit:
            continue
        if len({cells.places[at].label[:size] for at in (positions[0], positions[-1])}) > 1:
            return size
    return 0


def period_words(label: str, within: str = "") -> str:
    """A label as people say it, without what the period around it says: `Mar`, `14`, `09`."""
    if "W" in label or "Q" in label:
        return label[5:] if within else label
    if len(label) == MONTH:
        month = date(int(label[:4]), int(label[5:7]), 1).strftime("%b")
        return month if len(within) >= YEAR else f"{month} {label[:4]}"
    if len(label) == DAY:
        return label[8:] if len(within) >= MONTH else label
    if len(label) == HOUR:
        return label[11:] if len(within) >= DAY else label
    return label[11:] if len(label) > HOUR and within else label


def _slots(cells: Cells, positions: range) -> list[range]:
    """Positions of one label together; without labels each position for itself."""
    if not cells.unit:
        return [range(at, at + 1) for at in positions]
    slots, start = [], positions.start
    for _, group in groupby(cells.places[at].label for at in positions):
        stop = start + sum(1 for _ in group)
        slots.append(range(start, stop))
        start = stop
    return slots


def _strokes(columns: Sequence[Tally]) -> Iterator[Stroke]:
    """One path for each look and tint, neighbours joined."""
    paths: dict[tuple[Look, int], list[str]] = {}
    at = 0
    for name, group in groupby((tally.worst, tally.tint) for tally in columns):
        wide = sum(1 for _ in group)
        strips = (f"M{at} {top}h{wide}v{height}h-{wide}z" for top, height in SHAPES[name[0]])
        paths.setdefault(name, []).extend(strips)
        at += wide
    for (look, tint), pieces in sorted(paths.items()):
        yield Stroke(look, tint, "".join(pieces))


def _segments(cells: Cells, slots: Sequence[range], width: int, zoom: str) -> Iterator[Segment]:
    positions = range(slots[0].start, slots[-1].stop)
    size = next_unit(cells, zoom, positions)
    if not size:
        return
    groups = [
        (label, list(group))
        for label, group in groupby(slots, lambda slot: cells.places[slot.start].label[:size])
    ]
    if len(groups) > SEGMENTS:
        return
    at = 0
    within = zoom or (groups[0][0][:YEAR] if groups[0][0][:YEAR] == groups[-1][0][:YEAR] else "")
    for label, group in groups:
        tally = cells.tally_of(range(group[0].start, group[-1].stop))
        yield Segment(label, period_words(label, within), at / width, len(group) / width, tally)
        at += len(group)
