"""The log of a run by its attempts: which each line is of, when it began and how it ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from core.models import DagRun, JournalEntry, LogLine

FAILED, LOST, RETRIED = "run failed, will be retried", "worker lost", "run retried"
"""What the journal says of an attempt that has ended, and was not the last."""


@dataclass(frozen=True, slots=True)
class LoggedAttempt:
    """Of one attempt what is shown: `at` is when its first line was written.

    `outcome`: a state or `LOST`; empty where none is on record.
    """

    number: int
    at: datetime
    outcome: str
    lines: Sequence[LogLine]


def by_attempt(run: DagRun, lines: Sequence[LogLine]) -> list[LoggedAttempt]:
    """`lines`, in their order, by attempt. One query, none for a run that was tried once."""
    parts = [(number, list(part)) for number, part in groupby(lines, key=lambda line: line.attempt)]
    outcomes = _outcomes(run) if parts and run.attempt > 1 else {}
    outcomes |= {run.attempt: run.state} if run.state != DagRun.State.QUEUED else {}
    return [LoggedAttempt(number, part[0].at, outcomes.get(number, ""), part) for number, part in parts]


def _outcomes(run: DagRun) -> dict[int, str]:
    """How attempts before the last ended, as the journal holds it."""
    entries = JournalEntry.objects.filter(
        dag_id=run.dag.dag_id, run_id=run.run_id, event__in=(FAILED, LOST, RETRIED)
    )
    told = entries.order_by("pk").values_list("event", "extra")
    said = {FAILED: DagRun.State.FAILED.value, LOST: LOST}
    return {
        extra["attempt"]: said.get(event) or extra.get("was", "")
        for event, extra in told
        if extra.get("attempt")
    }
