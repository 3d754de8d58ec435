"""A partition bar: a whole history in one line, where the worst state of each column shows."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import groupby

from scheduling.board.cells import Cells, Look, Tally
from scheduling.board.labels import DAY, HOUR, MONTH, YEAR
from scheduling.board.lateness import Late

COLUMNS = 400
"""Columns at most: about one for every two pixels of a bar."""

FEWEST_COLUMNS = 24

SEGMENTS = 40
"""Links under a bar at most."""

ROOM = 0.008
"""The share of the width that one letter takes."""

Strips = tuple[tuple[int, int], ...]
"""Top and height of each strip of a column, of 20."""

SHAPES: dict[Look, Strips] = {
    Look.MATERIALIZED: ((5, 15),),
    Look.STALE: ((5, 4),),
    Look.RUNNING: ((5, 4), (16, 4)),
    Look.MISSING: ((15, 5),),
    Look.HELD: ((5, 3), (11, 3), (17, 3)),
    Look.FAILED: ((0, 20),),
}
"""Columns of one look and no other data: failed sticks out, missing lies low, held is striped.

What is stale has data, and stands over it as over other data.
"""

CAPS: dict[Look, Strips] = {
    Look.STALE: ((5, 4),),
    Look.RUNNING: ((4, 2), (7, 2)),
    Look.MISSING: ((5, 3),),
    Look.HELD: ((3, 2), (7, 2)),
    Look.FAILED: ((0, 9),),
}
"""The worst of a column that has data, too: it stands over the data, however little there is of it."""

BELOW: tuple[Strips, ...] = ((), ((17, 3),), ((14, 6),), ((11, 9),))
"""What has data fills a column from below: none, little, about half, nearly all."""


LATE: Strips = ((0, 2),)
"""Over a column in which a partition is late."""


@dataclass(frozen=True, slots=True)
class Stroke:
    """All columns of one worst look that are as full, as two SVG paths: the look, and the data below it."""

    look: Look
    filled: int
    path: str
    below: str = ""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of the bar that one can zoom into: where it lies (shares of the width) and what is in it."""

    zoom: str
    words: str
    start: float
    width: float
    tally: Tally

    @property
    def has_room(self) -> bool:
        """Whether its words can stand below it without those of its neighbours."""
        return self.width >= ROOM * len(self.words)


@dataclass(frozen=True, slots=True)
class Bar:
    columns: int
    strokes: Sequence[Stroke]
    tally: Tally
    first: str = ""
    last: str = ""
    segments: Sequence[Segment] = field(default_factory=tuple)
    late: str = ""
    late_count: int = 0

    @property
    def width(self) -> int:
        """Columns that there is room for: a single partition is no long bar."""
        return max(self.columns, FEWEST_COLUMNS)

    @property
    def ends(self) -> tuple[str, ...]:
        """What stands below its two ends; a short bar has both in one at its beginning."""
        if self.columns >= FEWEST_COLUMNS:
            return self.first, self.last
        return (self.first if self.first == self.last else f"{self.first} to {self.last}",)

    @property
    def words(self) -> str:
        """The bar as a sentence, for those who cannot see it."""
        if not self.columns:
            return "no partitions"
        late = f", {self.late_count:,} late" if self.late_count else ""
        return f"{self.tally.words}{late}; from {self.first} to {self.last}"


def draw(
    cells: Cells, zoom: str = "", *, most: int = COLUMNS, with_segments: bool = False, late: Late = ()
) -> Bar:
    """The bar of one period of `cells`, or of all. Keys of one moment share a column.

    :param late: positions of partitions that are late: their columns are marked.
    """
    bar = cells.keep(("bar", zoom, most, with_segments), lambda: _drawn(cells, zoom, most, with_segments))
    positions = cells.positions(zoom) if late else range(0)
    here = late[bisect_left(late, positions.start) : bisect_left(late, positions.stop)]
    return replace(bar, late=_marks(cells, positions, most, here), late_count=len(here)) if here else bar


def next_unit(cells: Cells, zoom: str, positions: range) -> int:
    """The unit one level below `zoom` in which its labels differ; 0 where there is nothing below."""
    timed = _timed(cells, positions)
    if not timed:
        return 0
    first, last = (cells.places[at].label for at in (timed.start, timed.stop - 1))
    for size in (YEAR, MONTH, DAY, HOUR):
        if len(zoom) < size < cells.unit and first[:size] != last[:size]:
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


def _drawn(cells: Cells, zoom: str, most: int, with_segments: bool) -> Bar:
    positions = cells.positions(zoom)
    if not positions:
        return Bar(0, (), Tally())
    parts = cells.places.columns(positions, most)
    columns = [cells.shown_of(part) for part in parts]
    timed = _timed(cells, positions) or positions
    ends = cells.places.places_at([timed.start]) + cells.places.places_at([timed.stop - 1])
    share = len(columns) / max(len(columns), FEWEST_COLUMNS)
    return Bar(
        columns=len(columns),
        strokes=tuple(_strokes(columns)),
        tally=cells.tally_of(positions),
        first=ends[0].label or ends[0].key,
        last=ends[1].label or ends[1].key,
        segments=tuple(_segments(cells, positions, share, zoom)) if with_segments else (),
    )


def _strokes(columns: Sequence[Tally]) -> Iterator[Stroke]:
    """One for each look and filling, neighbours joined."""
    spans: dict[tuple[Look, int], list[tuple[int, int]]] = {}
    at = 0
    for name, group in groupby((tally.worst, tally.filled) for tally in columns):
        wide = sum(1 for _ in group)
        spans.setdefault(name, []).append((at, wide))
        at += wide
    for (look, filled), found in sorted(spans.items()):
        shape = CAPS[look] if filled else SHAPES[look]
        below = BELOW[-1] if look is Look.STALE and not filled else BELOW[filled]
        yield Stroke(look, filled, _path(found, shape), _path(found, below))


def _marks(cells: Cells, positions: range, most: int, late: Late) -> str:
    """A mark over each column that has a late partition."""
    parts = cells.places.columns(positions, most)
    starts = [part.start for part in parts]
    columns = dict.fromkeys(bisect_right(starts, at) - 1 for at in late)
    return _path([(column, 1) for column in columns], LATE)


def _path(spans: Sequence[tuple[int, int]], strips: Strips) -> str:
    return "".join(f"M{at} {top}h{wide}v{height}h-{wide}z" for at, wide in spans for top, height in strips)


def _segments(cells: Cells, positions: range, share: float, zoom: str) -> Iterator[Segment]:
    """Stretches of the bar, as wide as what is in them; together they take `share` of the width."""
    size = next_unit(cells, zoom, positions)
    if not size:
        return
    cuts = cells.places.cuts(size, positions)
    if len(cuts) > SEGMENTS:
        return
    moments = [cells.places.moments_in(cut.positions) for cut in cuts]
    total, at = sum(moments), 0
    years = {cut.label[:YEAR] for cut in cuts if cut.label}
    within = zoom or (years.pop() if len(years) == 1 else "")
    for cut, count in zip(cuts, moments, strict=True):
        if cut.label:
            words, tally = period_words(cut.label, within), cells.tally_of(cut.positions)
            yield Segment(cut.label, words, share * at / total, share * count / total, tally)
        at += count


def _timed(cells: Cells, positions: range) -> range:
    """`positions` without keys that have no place in the calendar of the others."""
    return range(max(positions.start, cells.places.stray_count), positions.stop)
