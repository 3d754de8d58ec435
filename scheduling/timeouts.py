"""An attempt at a run may take so long and no longer (`run_timeout`).

1. Its task hears of it where it asks, and is interrupted where Python can do that: in the main thread of its
   process, as run workers have it, even while it waits for a network or another program.
2. The attempt has failed, whatever its task does, `GRACE` after that: the keeper of its lease says so, or the
   next sweep where there is no keeper. What the task does then is not recorded.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from datetime import datetime, timedelta
from types import FrameType

from django.db import transaction

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


def sentence(run: DagRun) -> str:
    return f"timed out after {duration_words(run.dag.run_timeout)}" if run.dag.run_timeout else "timed out"


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
    ends = ends_at(run)
    if ends is None or now < ends + GRACE or _is_being_ended(run):
        return False
    try:
        retries.fail(copy(run), sentence(run), at=now)
    except LeaseLost:  # it has ended, or is executed anew: that attempt has its own time
        return False
    return True


@transaction.atomic
def _is_being_ended(run: DagRun) -> bool:
    """Whether somebody has its row, to end or to change it: nobody waits for that, it is looked at again."""
    return not DagRun.objects.filter(pk=run.pk).select_for_update(no_key=True, skip_locked=True).first()
