"""Which partitions somebody has selected on a grid, by the text in the address."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from core.models import Asset
from scheduling import dynamic, listening
from scheduling.algebra.choosing import select, select_among
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.keys import DEFAULT_DELIMITER
from scheduling.algebra.selections import InvalidSelection, quoted
from scheduling.algebra.subsets import Subset, keys_of
from scheduling.board.cells import Cells, Look, Tally
from scheduling.board.defined import Defined
from scheduling.board.labels import Place, label_of, segments_of
from scheduling.board.room import written

LONGEST = 12_000
"""Bytes of a selection, as addresses have it: a page, and what it asks for, repeat it."""

SOME = 10
"""Keys before the last one with which an example begins."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What `text` means: positions in the order of the cells, narrowed to the look `only` if that was asked.

    `tally` counts those of all looks, `key` is the one there is, if it is one. `wrong` says why the text
    means nothing; `pointed` shows the character at which it went wrong.
    """

    text: str
    positions: Subset = field(default_factory=Subset)
    tally: Tally = field(default_factory=Tally)
    only: Look | None = None
    key: str = ""
    wrong: str = ""
    pointed: str = ""

    @property
    def count(self) -> int:
        return self.tally.total if self.only is None else self.tally[self.only]

    def has(self, at: int, look: Look) -> bool:
        """Whether the partition at a position, which looks so, is selected."""
        return (self.only is None or look is self.only) and at in self.positions


def choose(asset: Asset, cells: Cells, text: str, only: Look | None, *, now: datetime) -> Choice:
    """The partitions that a typed selection means. Its tally counts those of all looks."""
    if written(text) > LONGEST:
        size = f"{len(text):,} characters"
        return Choice("", wrong=f"A selection of {size} is too long: select by ranges, or all.")
    try:
        meant = _meant(asset, cells, text, now)
    except InvalidSelection as error:
        return Choice(text, wrong=str(error), pointed=error.pointed() if error.text == text else "")
    except PartitionError as error:
        return Choice(text, wrong=str(error))
    tally = cells.tally_in(meant)
    found = Choice(text, meant, tally, only)
    if found.count != 1:
        return found
    ends = meant.ranges if only is None else [(cells.find(only, *each), 0) for each in meant.ranges]
    return replace(found, key=cells.places[max(start for start, _ in ends)].key)


def chosen(cells: Cells, choice: Choice) -> list[tuple[str, Look]]:
    """The key and the look of each partition that is selected, in order."""
    found = [
        at
        for start, stop in choice.positions.ranges
        for at in range(start, stop)
        if choice.only is None or cells.look(at) is choice.only
    ]
    places = cells.places.places_at(found)
    return [(place.key, cells.look(at)) for at, place in zip(found, places, strict=True)]


def spelled(cells: Cells, zoom: str) -> str:
    """The selection of all keys of one period; of all there are, without one."""
    return _stretch(cells, cells.positions(zoom), zoom, zoom) if zoom else "*"


def spelled_stretch(cells: Cells, positions: range) -> str:
    """The selection of all keys from one position in time to another."""
    first, last = (cells.places[positions[end]].label for end in (0, -1))
    return _stretch(cells, positions, first, last)


def example(cells: Cells, zoom: str = "") -> str:
    """A selection that means something here: of the last keys in time; of the first without time."""
    places, count = cells.places, len(cells.places)
    positions = cells.positions(zoom) or cells.positions()
    if cells.unit:
        last = places[positions.stop - 1]
        around = around_of(last)
        if around is None:
            return "*"
        first = places[max(places.stray_count, positions.start, positions.stop - 1 - SOME)]
        at = around[0].count(DEFAULT_DELIMITER)
        ends = (quoted(segments_of(place.key)[at], DEFAULT_DELIMITER) for place in (first, last))
        return f"{around[0]}[{'...'.join(ends)}]{around[1]}"
    if not count:
        return "*"
    parts = [quoted(part, DEFAULT_DELIMITER) for part in segments_of(places[0].key)]
    if len(parts) > 1:
        return DEFAULT_DELIMITER.join([parts[0], *("*" for _ in parts[1:])])
    return ", ".join(quoted(place.key, DEFAULT_DELIMITER) for place in places[:2])


def around_of(place: Place) -> tuple[str, str] | None:
    """What stands before and after the time in a selection of this key; before the last segment without one.

    None for a key with segments that have to be written in quotation marks.
    """
    parts = segments_of(place.key)
    if any(quoted(part, DEFAULT_DELIMITER) != part for part in place.others):
        return None
    at = next(
        (
            number
            for number, part in enumerate(parts)
            if place.label
            and parts[:number] + parts[number + 1 :] == place.others
            and label_of(part).startswith(place.label)
        ),
        len(parts) - 1,
    )
    return "".join(f"{part}|" for part in parts[:at]), "".join(f"|{part}" for part in parts[at + 1 :])


def _stretch(cells: Cells, positions: range, first: str, last: str) -> str:
    before, after = (around_of(cells.places[positions[0]]) if positions else None) or ("", "")
    return f"{'*|' * before.count('|')}[{first}...{last}]{'|*' * after.count('|')}"


def _meant(asset: Asset, cells: Cells, text: str, now: datetime) -> Subset:
    definition = listening.partitions_of(asset)
    if definition is None or not isinstance(cells.places, Defined):
        keys = [place.key for place in cells.places]
        if definition is None:
            delimiter = DEFAULT_DELIMITER if any(place.others for place in cells.places) else None
            return select_among(text, keys, delimiter)
        bound = dynamic.bound(definition)
        meant = frozenset(keys_of(bound, select(text, bound, now), now))
        return Subset.of(at for at, key in enumerate(keys) if key in meant)
    return select(text, dynamic.bound(definition), now) & Subset.span(0, len(cells.places))
