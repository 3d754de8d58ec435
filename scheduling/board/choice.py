"""Which partitions somebody has selected on a grid, by the text in the address."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from core.models import Asset
from scheduling import dynamic, listening
from scheduling.algebra.choosing import select, select_among
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.keys import DEFAULT_DELIMITER
from scheduling.algebra.selections import InvalidSelection, quoted
from scheduling.algebra.subsets import keys_of
from scheduling.board.cells import Cells, Look, Tally
from scheduling.board.labels import Place, label_of, segments_of


@dataclass(frozen=True, slots=True)
class Choice:
    """What `text` means: positions in the order of the cells, narrowed to one look if that was asked.

    `wrong` says why it means nothing; `pointed` shows the character at which it went wrong.
    """

    text: str
    positions: frozenset[int] = frozenset()
    tally: Tally = field(default_factory=Tally)
    key: str = ""
    wrong: str = ""
    pointed: str = ""

    @property
    def count(self) -> int:
        return len(self.positions)


def choose(asset: Asset, cells: Cells, text: str, only: Look | None, *, now: datetime) -> Choice:
    """The partitions that a typed selection means. Its tally counts those of all looks."""
    try:
        meant = _meant(asset, cells, text, now)
    except InvalidSelection as error:
        return Choice(text, wrong=str(error), pointed=error.pointed() if error.text == text else "")
    except PartitionError as error:
        return Choice(text, wrong=str(error))
    kept = frozenset(at for at in meant if only is None or cells.look(at) is only)
    key = cells.places[next(iter(kept))].key if len(kept) == 1 else ""
    return Choice(text, kept, cells.tally_of(meant), key)


def spelled(cells: Cells, zoom: str) -> str:
    """The selection of all keys of one period; of all there are, without one."""
    if not zoom:
        return "*"
    positions = cells.positions(zoom)
    before, after = (around_of(cells.places[positions[0]]) if positions else None) or ("", "")
    return f"{'*|' * before.count('|')}[{zoom}...{zoom}]{'|*' * after.count('|')}"


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


def _meant(asset: Asset, cells: Cells, text: str, now: datetime) -> Sequence[int]:
    definition = listening.partitions_of(asset)
    keys = [place.key for place in cells.places]
    if definition is None:
        delimiter = DEFAULT_DELIMITER if any(place.others for place in cells.places) else None
        return list(select_among(text, keys, delimiter))
    bound = dynamic.bound(definition)
    meant = frozenset(keys_of(bound, select(text, bound, now), now))
    return [at for at, key in enumerate(keys) if key in meant]
