"""Which blocks of a long list have its first rows, if it is narrowed by one time and ordered by another.

No index helps with both: by that of the order a million rows are passed over until the first that matches,
by that of the times half a million are read and sorted. But the counts that PostgreSQL keeps
(`core.counting`) say of each block of primary keys from when to when its times lie. Blocks in which no row
can match are passed over. Of the others those at the beginning of the order are read and sorted: few,
because primary keys come in the order of time, more or less.

Whether these were enough is seen by what is found: nothing else lies before it. If not, there is an index.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import inf
from typing import Any

from django.db.models import F, FloatField, Func, Max, Min, Value

from core.asked import Asked, Rows, asked_by
from core.counting import on
from core.models.counts import BLOCK

READ = (2 * BLOCK, 4 * BLOCK)
"""So many rows are read and sorted at first; and then, if those were too few."""

MUST_BE_READ = BLOCK
"""Rows of a part, if the list is narrowed by what no index of it tells."""


@dataclass(frozen=True, slots=True)
class Near:
    """`rows` of blocks at the beginning of the order. No other row is before `end`."""

    rows: Rows
    column: str
    descending: bool
    end: float

    def has_first(self, found: Sequence[Any], wanted: int) -> bool:
        """Whether `found`, the last `wanted` of its first rows, are those of the whole list, too."""
        if self.end == -inf:
            return True
        if len(found) < wanted:
            return False
        value = getattr(found[-1], self.column)
        at = value.timestamp() if isinstance(value, datetime) else value // BLOCK if value else inf
        return _place(at, self.descending) > self.end


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows of one block that are in one state: how many must be read, and which place the first may have."""

    block: int
    states: tuple[str, ...]
    rows: int
    first: float


def near(rows: Rows, column: str, *, descending: bool) -> Iterator[Near]:
    """Some `rows` at the beginning of the order, and then some more; none where that would be no help.

    Whoever sorts them must see to it that no index is walked: the database does not know that they are few.
    """
    asked = asked_by(rows)
    if asked is None or not any(name != column for name, _, _ in asked.spans):
        return
    parts = sorted(_parts(asked, column, descending), key=lambda part: -part.first)
    taken = 0
    for most in READ:
        some = _up_to(parts, most)
        end = parts[len(some)].first if len(some) < len(parts) else -inf
        if end == inf or len(some) == taken < len(parts):
            continue
        taken = len(some)
        blocks = defaultdict(list)
        for part in some:
            blocks[part.states].append(part.block)
        yield Near(rows.filter(on(blocks, asked.apart)) if some else rows.none(), column, descending, end)


def _parts(asked: Asked, column: str, descending: bool) -> Iterator[_Part]:
    """What may have rows of the list, at the beginning of the order if nothing tells where they are in it."""
    first: Any = None
    if column in ("pk", "id"):
        first = Max("block") if descending else Min("block")
    elif f"{column}_from" in asked.columns:
        first = Max(_seconds(f"{column}_to")) if descending else Min(_seconds(f"{column}_from"))
    found = asked.parts().annotate(first=first or Value(0))
    for block, *states, rows, at in found.values_list("block", *asked.apart, "total", "first"):
        place = _place(at, descending) if first else inf
        yield _Part(block, tuple(states), rows if asked.is_of_parts else MUST_BE_READ, place)


def _up_to(parts: Sequence[_Part], most: int) -> list[_Part]:
    """The first of them, with so many rows at most."""
    found = []
    for part in parts:
        most -= part.rows
        if most < 0:
            break
        found.append(part)
    return found


def _seconds(column: str) -> Func:
    """An instant that may be infinite, which Python's are not."""
    return Func(F(column), template="extract(epoch FROM %(expressions)s)::float8", output_field=FloatField())


def _place(at: float, descending: bool) -> float:
    """Greater is nearer to the beginning. What has no time is there going down, at the end going up."""
    return at if descending else -at
