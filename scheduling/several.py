"""One deed done to several: each in a transaction of its own, so that no refusal holds up the others."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db import OperationalError, transaction

from core import locks
from core.models import DagRun
from scheduling import corrections
from scheduling.algebra.errors import PartitionError
from scheduling.runs import NotRunnable

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


def _unless_undone(row: Row, do: Callable[[Row], object]) -> None:
    for left in reversed(range(MOST_UNDONE)):
        try:
            do(row)
            return
        except OperationalError as error:
            if not (left and locks.was_undone(error)):
                raise
