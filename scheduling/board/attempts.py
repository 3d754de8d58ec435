"""The log of a run by its attempts: which each line is of, when it began and how it ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from core.models import DagRun, JournalEntry, LogLine
from scheduling.journal import ATTEMPT_FAILED, RUN_RETRIED, WORKER_LOST

APART = timedelta(hours=1)
"""So far may clocks be apart, of whoever writes a log and of whoever ends its run."""


@dataclass(frozen=True, slots=True)
class LoggedAttempt:
    """Of one attempt what is shown: `at` is when its first line was written.

    `outcome`: a state or `WORKER_LOST`; empty where none is on record.
    """

    number: int
    at: datetime
    outcome: str
    lines: Sequence[LogLine]

    @property
    def is_lost(self) -> bool:
        return self.outcome == WORKER_LOST


def by_attempt(run: DagRun, lines: Sequence[LogLine]) -> list[LoggedAttempt]:
    """`lines`, in their order, by attempt. One query, none for a run that was tried once."""
    parts = [(number, list(part)) for number, part in groupby(lines, key=lambda line: line.attempt)]
    outcomes = _outcomes(run, since=lines[0].at - APART) if parts and run.attempt > 1 else {}
    outcomes |= {run.attempt: run.state} if run.state != DagRun.State.QUEUED else {}
    return [LoggedAttempt(number, part[0].at, outcomes.get(number, ""), part) for number, part in parts]


def _outcomes(run: DagRun, since: datetime) -> dict[int, str]:
    """How attempts before the last ended, as the journal holds it.

    By time, which it has an index for: of its Dag it may hold any number of entries.
    """
    within = {"at__gte": since}
    if run.started_at and run.state != DagRun.State.QUEUED:
        within["at__lte"] = run.started_at + APART
    entries = JournalEntry.objects.filter(
        dag_id=run.dag.dag_id,
        run_id=run.run_id,
        event__in=(ATTEMPT_FAILED, WORKER_LOST, RUN_RETRIED),
        **within,
    )
    told = entries.order_by("pk").values_list("event", "extra")
    said = {ATTEMPT_FAILED: DagRun.State.FAILED.value, WORKER_LOST: WORKER_LOST}
    return {
        extra["attempt"]: said.get(event) or extra.get("was", "")
        for event, extra in told
        if extra.get("attempt")
    }
