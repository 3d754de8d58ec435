"""A plan of a backfill as its page shows it: key by key, or neighbours with the same fate as one line."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from core.models import Dag
from scheduling import backfills as engine
from scheduling import board
from scheduling.backfills import Place, Plan
from scheduling.backfills.plans import Part
from scheduling.board import Excerpt

LISTED = 200
"""Lines on one page of a plan."""

ROOM = 300_000
"""Bytes of their keys, as addresses have them: written out, they are a third of that."""

MOST_SINGLE = 50
"""Keys that a plan shows each by itself; of more, neighbours with the same fate are one line."""

FEWEST = 4
"""Neighbours that become one line; fewer stay alone."""

Fate = tuple[str, bool]
"""Why a key does not run, if it does not, and whether it waits for others of the plan."""


@dataclass(frozen=True, slots=True)
class Line:
    """One key, or `count` of them side by side, from the `first` to the `last` in the order of the plan.

    `why` they do not run; `waits`: they come after others of the plan.
    """

    dag: Dag
    first: str
    last: str
    count: int = 1
    why: str = ""
    waits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines(Excerpt[Line]):
    """One page of lines: which keys it shows, and whether it folds them."""

    show: str
    is_folded: bool


def lines_of(plan: Plan, show: str, first: int, *, each: bool = False) -> Lines:
    """What of `plan` one page shows: a long one is folded, unless `each` is asked for.

    :param show: `run` or `skipped` for just those keys.
    """
    is_folded = not each and _amount(plan, show) > MOST_SINGLE
    rows: list[Line] = []
    for part in plan.parts:
        places = engine.places_of(part.dag, part.order, now=plan.at) if is_folded else None
        rows += _of_part(part, show, places)
    first = min(first, max(0, len(rows) - 1))
    shown = rows[first : first + LISTED]
    ends = (line.first if line.count == 1 else line.first + line.last for line in shown)
    shown = shown[: board.room_for(ends, ROOM)]
    return Lines(shown, len(rows), first, show=show, is_folded=is_folded)


def reasons_of(plan: Plan) -> list[tuple[str, int]]:
    """Why keys are left out and how many of them, the most frequent first."""
    found: dict[str, int] = {}
    for part in plan.parts:
        for reason, count in part.reasons():
            found[reason] = found.get(reason, 0) + count
    return sorted(found.items(), key=lambda each: -each[1])


def time_needed(plan: Plan) -> timedelta | None:
    """None for runs of several keys: nobody knows how long one of those takes."""
    if plan.ask.keys_per_run != 1:
        return None
    counts = [(part.dag, part.count) for part in plan.parts if part.count]
    return board.time_needed(counts, 1 if plan.ask.is_chained else plan.ask.max_active_runs)


def _amount(plan: Plan, show: str) -> int:
    counts = {"run": plan.count, "skipped": plan.skipped}
    return counts.get(show, plan.count + plan.skipped)


def _of_part(part: Part, show: str, places: dict[str, Place] | None) -> Iterator[Line]:
    """A line for each key; where they have `places`, one for neighbours with the same fate."""
    skipped, waiting = part.skipped, part.waiting
    fates = ((skipped.get(key, ""), key in waiting) for key in part.order)
    wanted = (
        (fate, key)
        for fate, key in zip(fates, part.order, strict=True)
        if show != ("run" if fate[0] else "skipped")
    )
    alike = ((fate, [key]) for fate, key in wanted) if places is None else _side_by_side(wanted, places)
    for (why, waits), keys in alike:
        if len(keys) >= FEWEST:
            yield Line(part.dag, keys[0], keys[-1], len(keys), why, waits)
        else:
            yield from (Line(part.dag, key, key, 1, why, waits) for key in keys)


def _side_by_side(
    wanted: Iterable[tuple[Fate, str]], places: dict[str, Place]
) -> Iterable[tuple[Fate, list[str]]]:
    """Keys next to each other with the same fate, in the order in which the first of each would start."""
    found: list[tuple[Fate, list[str]]] = []
    latest: dict[tuple[str, ...], tuple[Fate, list[str], int]] = {}
    for fate, key in wanted:
        row, number = places.get(key, (None, 0))
        if row is None:
            found.append((fate, [key]))
            continue
        before = latest.get(row)
        if before and before[0] == fate and abs(before[2] - number) == 1:
            keys = before[1]
            keys.append(key)
        else:
            keys = [key]
            found.append((fate, keys))
        latest[row] = (fate, keys, number)
    return found
