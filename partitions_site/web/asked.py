"""What an address asks of the board of an asset: read once, and the rest of it left out."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.http import QueryDict

from core.models import Asset
from partitions_site.web.http import whole
from scheduling import board
from scheduling.algebra.keys import MAX_KEY_LENGTH
from scheduling.board import Dimension, Look

NARROWING = ("missing", "failed", "stale")
"""The states to which a selection can be narrowed: those of which a backfill can be asked alone."""

UNEXPECTED = "unexpected"
"""In place of a state: keys that the definition does not have."""

SHORT = "short"
"""In place of a state: partitions whose run a person fired without some keys."""

MOST_REPEATED = 300
"""Characters of a selection that each of the links around a board repeats."""

WITHIN = "in."
"""What the name of a dimension stands after in the address, with the value that it is narrowed to."""

ZOOM = re.compile(r"[0-9]{4}(-([0-9]{2}(-[0-9]{2}(T[0-9]{2})?)?|W[0-9]{2}|Q[1-4]))?")


def look_of(word: str) -> Look | None:
    return next((look for look in Look if look.word == word), None)


MEANS: dict[str, Callable[[str], object]] = {
    "key": lambda text: len(text) <= MAX_KEY_LENGTH,
    "zoom": ZOOM.fullmatch,
    "state": lambda word: word in (UNEXPECTED, SHORT) or look_of(word) is not None,
    "row": lambda text: whole(text, -1) >= 0,
    "heat": lambda name: len(name) <= MAX_KEY_LENGTH,
    "sel": lambda text: True,
    "only": lambda word: word in NARROWING,
}
"""All that a board can be asked for, beside the values of dimensions, and what means something there."""


@dataclass(frozen=True, slots=True)
class Asked:
    """`query`: what of the address means something.

    With a key it has a zoom, if an empty one: an address without leads on to the square of the key.
    """

    query: QueryDict
    dimensions: list[Dimension]

    @property
    def repeated(self) -> QueryDict:
        """What links to the same board repeat: a long selection is left out, and live.js puts it back."""
        if len(self.selection) <= MOST_REPEATED:
            return self.query
        query = self.query.copy()
        del query["sel"]
        query.pop("only", None)
        return query

    @property
    def zoom(self) -> str:
        return self.query.get("zoom", "")

    @property
    def wanted(self) -> str:
        """The state whose keys are listed, if one is asked for."""
        return self.query.get("state", "")

    @property
    def only(self) -> str:
        """The state to which the selection is narrowed, if to one."""
        return self.query.get("only", "")

    @property
    def selection(self) -> str:
        return self.query.get("sel", "").strip()

    @property
    def heat(self) -> str:
        return self.query.get("heat", "")

    @property
    def first_row(self) -> int:
        return whole(self.query.get("row"))

    @property
    def is_slice(self) -> bool:
        return any(each.value for each in self.dimensions)

    @property
    def beside_selection(self) -> list[tuple[str, str]]:
        """What stays when somebody selects by typing."""
        return [(name, self.query.get(name, "")) for name in self.query if name not in ("sel", "only")]

    @property
    def beside_slice(self) -> list[tuple[str, str]]:
        """What stays when somebody narrows the board to a slice."""
        names = (name for name in self.query if name != "row" and not name.startswith(WITHIN))
        return [(name, self.query.get(name, "")) for name in names]


def read(given: QueryDict, row: Asset, now: datetime) -> Asked:
    """What an address asks of the board of `row`."""
    every = {name: given.get(name, "") for name in given}
    within = {name.removeprefix(WITHIN): text for name, text in every.items() if name.startswith(WITHIN)}
    dimensions = board.dimensions_of(row, within, now=now)
    narrowed = {f"{WITHIN}{each.name}" for each in dimensions if each.value}
    kept = {
        name: text
        for name, text in every.items()
        if name in narrowed or (name in MEANS and MEANS[name](text))
    }
    if kept.get("key"):
        kept.setdefault("zoom", "")
    return Asked(QueryDict(urlencode(kept)), dimensions)
