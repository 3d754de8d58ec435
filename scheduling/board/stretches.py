"""Neighbouring partitions that look alike, as one range: a year of days may be three lines."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import groupby

from scheduling.board.cells import Cells, Look


@dataclass(frozen=True, slots=True)
class Stretch:
    """`count` partitions in a row, in the order of the definition, both ends included."""

    first_key: str
    last_key: str
    state: str
    count: int


def stretches(
    cells: Cells, looks: Collection[Look] = tuple(Look), has: Callable[[str], bool] | None = None
) -> Iterator[Stretch]:
    """The partitions that look like one of `looks`, and whose key `has` accepts, as ranges of one look.

    A partition that is left out ends the range before it.
    """
    wanted = frozenset(looks)

    def look_at(at: int) -> Look | None:
        look = cells.look(at)
        return look if look in wanted and (has is None or has(cells.places[at].key)) else None

    for look, run in groupby(range(len(cells.places)), look_at):
        if look is not None:
            positions = list(run)
            first, last = cells.places[positions[0]].key, cells.places[positions[-1]].key
            yield Stretch(first, last, look.word, len(positions))
