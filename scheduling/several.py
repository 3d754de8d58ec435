"""One deed done to several, so that no refusal holds up the others: each in a transaction of its own.

Where many are simple, a portion of these in one transaction: a commit each takes most of the time.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import IntegrityError, OperationalError, transaction

from core import locks
from core.models import DagRun
from scheduling import corrections
from scheduling.algebra.errors import PartitionError
from scheduling.runs import NotRunnable

log = logging.getLogger(__name__)

PORTION = 100
"""Rows that are locked at once."""

MOST_UNDONE = 5
"""How often in a row the database may undo one for the sake of another transaction."""

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Row]):
    """To which it was done, and to which not, each with the reason."""

    done: list[Row]
    refused: list[tuple[Row, str]]


def one_by_one(rows: Iterable[Row], do: Callable[[Row], object]) -> Outcome[Row]:
    """:param do: does it to one row, in one transaction; a `PartitionError` says why it does not."""
    outcome: Outcome[Row] = Outcome([], [])
    for row in rows:
        try:
            _unless_undone(row, do)
        except PartitionError as refusal:
            outcome.refused.append((row, str(refusal)))
        else:
            outcome.done.append(row)
    return outcome


def in_portions(
    rows: Sequence[Row], do_all: Callable[[Sequence[Row]], Collection[int]], do: Callable[[Row], object]
) -> Outcome[Row]:
    """:param do_all: does it to those of a portion to which it can simply be done, in one transaction, and
    returns their primary keys.
    :param do: does it to one, as in `one_by_one`: to the others, and to all where a portion is undone.
    """
    outcome: Outcome[Row] = Outcome([], [])
    for start in range(0, len(rows), PORTION):
        portion = rows[start : start + PORTION]
        done = _at_once(portion, do_all)
        others = one_by_one([row for row in portion if _pk(row) not in done], do)
        outcome.done.extend([*(row for row in portion if _pk(row) in done), *others.done])
        outcome.refused.extend(others.refused)
    return outcome


@transaction.atomic
def as_seen(run: DagRun, state: str, attempt: int, do: Callable[[], object]) -> None:
    """`do` it to `run`, of which somebody has seen `state` and `attempt`; nobody comes between.

    :raises NotRunnable: if it has gone on since.
    """
    now = corrections.lock(run)
    if (now.state, now.attempt) != (state, attempt):
        raise NotRunnable(f"it was {state} when you looked, and has gone on since: it is {now.state}")
    do()


def check_not_asked(run: DagRun) -> None:
    """:raises NotRunnable: if somebody has asked `run` to stop, which it does within some seconds."""
    run.refresh_from_db(fields=("cancel_requested",))
    if run.cancel_requested:
        raise NotRunnable("somebody has asked it to stop already")


def _at_once(portion: Sequence[Row], do_all: Callable[[Sequence[Row]], Collection[int]]) -> Collection[int]:
    try:
        return do_all(portion)
    except (PartitionError, OperationalError, IntegrityError) as error:
        expected = isinstance(error, PartitionError) or locks.was_undone(error)
        log.warning(
            "%s at once cannot be done, each is done alone: %s", len(portion), error, exc_info=not expected
        )
        return ()


def _pk(row: Any) -> int:
    return int(row.pk)


def _unless_undone(row: Row, do: Callable[[Row], object]) -> None:
    for left in reversed(range(MOST_UNDONE)):
        try:
            do(row)
            return
        except OperationalError as error:
            if not (left and locks.was_undone(error)):
                raise
