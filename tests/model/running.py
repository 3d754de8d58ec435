"""Runs (section 7): queued, claimed, ended, tried again."""

from datetime import datetime, timedelta

from scheduling.algebra.timetables import Timetable
from tests.model.partitions import Partitions
from tests.model.records import Attempt, Consumer, Run

GRACE = timedelta(seconds=10)
MISSED_AFTER = timedelta(minutes=1)


class Runs(Partitions):
    """`now` is set by whoever drives it."""

    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self.runs: list[Run] = []
        self.ticked_until: dict[str, datetime] = {}

    def tick(self, consumer: Consumer, timetable: Timetable, catchup: str) -> None:
        """Each tick since the last look is a run; of those missed, all, the last or none are made up."""
        if consumer.is_paused:
            return
        found = list(timetable.ticks(self.ticked_until[consumer.name], self.now))
        self.ticked_until[consumer.name] = self.now
        for tick in found:
            is_missed = tick.at < self.now - MISSED_AFTER
            if not is_missed or catchup == "all" or (catchup == "last" and tick is found[-1]):
                self._queue(consumer, tick.partition_key, "scheduled")

    def claim(self, run: Run) -> None:
        run.state, run.begun, run.started_at = "running", self._next(), self.now
        run.attempt += 1
        for part in self._own(run, run.keys):
            part.attempts = [
                each for each in part.attempts if each.run is not run or each.outcome != "running"
            ]
            part.attempts.append(Attempt(run, run.begun, "running"))

    def fail(self, run: Run) -> None:
        """It waits for another attempt, each time longer, unless it had its last or somebody cancelled it."""
        attempts = run.consumer.attempts
        if run.failures >= attempts.retries or run.cancel_requested:
            return self._fail_for_good(run)
        run.state, run.run_after = "queued", self.now + attempts.delay * attempts.backoff**run.failures
        run.started_at = None
        run.failures += 1
        return self._end(run, None)

    def end_overdue(self) -> None:
        """An attempt that takes too long, and some seconds more, has failed."""
        for run in self.runs:
            timeout = run.consumer.attempts.timeout
            if run.state == "running" and timeout and self.now >= run.started_at + timeout + GRACE:
                self.fail(run)

    def _fail_for_good(self, run: Run) -> None:
        run.state, run.ended_at = "failed", self.now
        self._end(run, "failed")

    def stop(self, run: Run) -> None:
        """Cancelled: at once while queued, by its worker while running. No attempt, whatever it did."""
        run.state, run.ended_at = "cancelled", self.now
        self._end(run, None)

    def lose(self, run: Run, most_attempts: int) -> None:
        """Its worker is gone: taken again, unless somebody cancelled it or it was attempted too often."""
        if run.cancel_requested:
            self.stop(run)
        elif run.losses + 1 >= most_attempts:
            self._fail_for_good(run)
        else:
            run.state, run.losses = "queued", run.losses + 1
            self._end(run, None)

    def retry(self, run: Run) -> None:
        """Queued anew: what it reads now is the newest there is now."""
        run.state, run.cancel_requested, run.queued_at = "queued", False, self.now
        run.losses, run.failures, run.run_after, run.failed_keys = 0, 0, self.now, ()
        run.started_at = run.ended_at = None

    def _queue(
        self, consumer: Consumer, key: str | None, run_type: str, several: tuple[str, ...] = ()
    ) -> Run:
        run = Run(consumer, key, run_type, self.now, several)
        self.runs.append(run)
        return run
