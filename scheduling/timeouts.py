"""An attempt at a run may take so long and no longer (`run_timeout`).

1. Its task hears of it where it asks, and is interrupted where Python can do that: in the main thread of its
   process, as run workers have it, even while it waits for a network or another program.
2. The attempt has failed, whatever its task does, `GRACE` after that: the keeper of its lease says so, or the
   next sweep where there is no keeper. What the task does then is not recorded.
3. The process that is at it still is ended another `GRACE` later, by the limit that its message brings
   (`longest`): what swallows every interruption keeps no process from other runs. Threads cannot be ended.
"""

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from datetime import datetime, timedelta
from types import FrameType

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from core.models import DagRun
from scheduling import retries
from scheduling.algebra.durations import LONGEST, duration_words
from scheduling.authoring.context import RunTimedOut
from scheduling.claims import LeaseLost

GRACE = timedelta(seconds=10)
"""How long a task has to end by itself after its time is up."""


def ends_at(run: DagRun) -> datetime | None:
    """When the attempt under way must have ended; None if it may take as long as it likes."""
    timeout = run.dag.run_timeout
    if not timeout or not run.started_at:
        return None
    return run.started_at + min(timeout, LONGEST)  # a row may be older than that limit


def is_overdue(run: DagRun, *, now: datetime) -> bool:
    """Whether the time of the attempt under way is over, and its grace."""
    ends = ends_at(run)
    return ends is not None and now >= ends + GRACE


def sentence(run: DagRun) -> str:
    return f"timed out after {duration_words(run.dag.run_timeout)}" if run.dag.run_timeout else "timed out"


def longest(run_pks: Sequence[int]) -> dict[int, float]:
    """Seconds after which the process that is at an attempt is ended, by the primary key of the run.

    Those that may take as long as they like, or longer than any run on this site, are not named.
    """
    limited = DagRun.objects.filter(pk__in=run_pks, dag__run_timeout__isnull=False)
    times = limited.values_list("pk", "dag__run_timeout")
    limits = {pk: (min(time, LONGEST) + 2 * GRACE).total_seconds() for pk, time in times if time}
    return {pk: seconds for pk, seconds in limits.items() if seconds < settings.RUN_TIME_LIMIT}


def is_too_short(run_pk: int, limit: float) -> bool:
    """Whether a message that brings `limit` was sent before its Dag got more time, or as much as it likes."""
    more = Q(dag__run_timeout=None) | Q(dag__run_timeout__gt=timedelta(seconds=limit) - 2 * GRACE)
    return DagRun.objects.filter(more, pk=run_pk, state=DagRun.State.QUEUED).exists()


@contextmanager
def interrupting(left: timedelta | None) -> Iterator[None]:
    """End this block with RunTimedOut after so much time; None for never.

    Only in the main thread, the only one that Python can interrupt. Elsewhere it does nothing.
    """
    if left is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    is_inside = True

    def interrupt(number: int, frame: FrameType | None) -> None:
        if is_inside:
            raise RunTimedOut

    before = signal.signal(signal.SIGALRM, interrupt)
    timer = signal.setitimer(signal.ITIMER_REAL, max(left.total_seconds(), 0.001))
    try:
        try:
            yield
        finally:
            is_inside = False
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, before)


def end_overdue(*, now: datetime) -> int:
    """End every attempt whose time, and grace, is over. Returns how many."""
    running = DagRun.objects.filter(state=DagRun.State.RUNNING, dag__run_timeout__isnull=False)
    return sum(end_if_overdue(run, now=now) for run in running.select_related("dag"))


def end_if_overdue(run: DagRun, *, now: datetime) -> bool:
    """End the attempt at `run` if its time and grace are over; `run` itself stays what it was."""
    if not is_overdue(run, now=now) or not _is_free(run):
        return False
    try:
        retries.fail(copy(run), sentence(run), at=now)
    except LeaseLost:  # it has ended, or is executed anew: that attempt has its own time
        return False
    return True


@transaction.atomic
def _is_free(run: DagRun) -> bool:
    """Whether nobody has its row locked. Who has, ends it or changes it, however long that takes.

    Nobody waits for that here: it is looked at again. The lock is not kept: whoever ends a run must lock its
    backfill before it. If somebody is quicker after this look, the deed waits for them, or finds it ended.
    """
    row = DagRun.objects.filter(pk=run.pk).select_for_update(no_key=True, skip_locked=True)
    return bool(row.values_list("pk"))
