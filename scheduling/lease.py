"""Keeps a run this worker's while it is executed: renews its lease, stores its log, hears of its end."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import Error, connection

from core.models import DagRun
from scheduling import claims, timeouts
from scheduling.runlog import Clock, RunLog

log = logging.getLogger(__name__)

PACE = timedelta(seconds=1)
"""How often the log is stored."""

RENEW_EVERY = min(timedelta(seconds=5), claims.LEASE / 4)
"""How often the lease is renewed, and so how soon a cancellation is heard. Far less than `claims.LEASE`."""


class Lease:
    """`is_over`: somebody cancelled the run, or it is not this worker's any more. Asking costs nothing.

    `is_timed_out`: the attempt has taken as long as it may.
    """

    def __init__(self, run: DagRun, lines: RunLog, clock: Clock) -> None:
        self.run = run
        self._lines, self._clock = lines, clock
        self._over, self._done = threading.Event(), threading.Event()
        self._renewed_at = clock()
        self._ends_at = timeouts.ends_at(run)
        self._is_told = False

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    @property
    def is_timed_out(self) -> bool:
        return self._ends_at is not None and self._clock() >= self._ends_at

    @property
    def left(self) -> timedelta | None:
        """How long the attempt may go on; None for ever."""
        return None if self._ends_at is None else self._ends_at - self._clock()

    def renew(self) -> None:
        """Renew now."""
        self._renewed_at = now = self._clock()
        if not claims.renew(self.run, now=now):
            self._over.set()

    def keep(self) -> None:
        """Renew and store until `end`, in a thread with a database connection of its own."""
        try:
            while not self._done.wait(PACE.total_seconds()):
                self._look()
        finally:
            connection.close()

    def end(self) -> None:
        self._done.set()

    def _look(self) -> None:
        try:
            self._lines.flush()
            now = self._clock()
            if timeouts.end_if_overdue(self.run, now=now) or now - self._renewed_at >= RENEW_EVERY:
                self.renew()
            if self.is_over and timeouts.is_overdue(self.run, now=now) and not self._is_told:
                self._tell()
        except Error:
            log.warning("cannot reach the database for %s, trying again", self.run, exc_info=True)
            connection.close()

    def _tell(self) -> None:
        """The run has ended, and its task has not: who reads either log should know."""
        self._is_told = True
        sentence = timeouts.sentence(self.run)
        self._lines.add(f"The run {sentence}. Its task goes on all the same.")
        log.warning("%s %s; its task goes on, and keeps this worker from other work", self.run, sentence)


@contextmanager
def keeping(run: DagRun, lines: RunLog, clock: Clock) -> Iterator[Lease]:
    """The lease of `run`, kept by a thread as long as this lasts."""
    lease = Lease(run, lines, clock)
    keeper = threading.Thread(target=lease.keep, name=f"lease of run {run.pk}", daemon=True)
    keeper.start()
    try:
        yield lease
    finally:
        lease.end()
        keeper.join()
