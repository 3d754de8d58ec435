"""What people say of a run afterwards (section 7), and what goes when it is old."""

from collections.abc import Collection

from tests.model.backfilling import Backfills
from tests.model.records import Attempt, Event, Held, Run


class Corrections(Backfills):
    """`now` is set by whoever drives it."""

    def mark(self, run: Run, state: str) -> None:
        """A person says how it ended; whatever it was at is over. Nothing is emitted."""
        run.state, run.cancel_requested, run.ended_at = state, False, run.ended_at or self.now
        if state == "success":
            run.failed_keys = ()
        if not run.started_at:
            run.begun, run.started_at = self._next(), self.now
        for part in self._own(run, run.keys):
            part.attempts = [each for each in part.attempts if (each.run, each.begun) != (run, run.begun)]
            part.attempts.append(Attempt(run, run.begun, state))
        self.follow(run)

    def delete_run(self, run: Run) -> bool:
        """Not while it runs. Its events stay; the held run that became it has not fired, then."""
        if run.state == "running":
            return False
        for held in self.held:
            if held.run is run:
                held.state, held.run = "superseded", None
                self._wake(each for each in self.open(held.consumer.name) if each.key == held.key)
        self._forget(run)
        return True

    def forget_keys(self, run: Run) -> None:
        """It counts for no partition any more, whatever it is at; what it wrote is there still."""
        run.key, run.range, run.failed_keys = None, (), ()
        self._forget_attempts(run)

    def prune(self, runs: Collection[Run], events: Collection[Event], held: Collection[Held]) -> None:
        """What is old and not needed is gone, and nothing else changes by it.

        Which that is the engine says: what would be missed, the rest of the history misses.
        """
        for each in held:
            assert each.state != "held"
            each.is_pruned = True
        for run in {each.run for each in held if each.run}:
            kept = [each.events for each in self.held if each.run is run and not each.is_pruned]
            run.consumed = set().union(*kept)
        for run in runs:
            assert not run.is_under_way
            self._forget(run)
        for event in events:
            assert event.is_routed
            self.events.remove(event)
            self.problems = {problem for problem in self.problems if problem[0] != event.number}

    def _forget(self, run: Run) -> None:
        self.runs.remove(run)
        self._forget_attempts(run)
        for backfill in self.backfills:
            backfill.runs = [each for each in backfill.runs if each is not run]
            for target in backfill.targets:
                for item in target.items:
                    item.run = None if item.run is run else item.run

    def _forget_attempts(self, run: Run) -> None:
        for parts in self.partitions.values():
            for part in parts.values():
                # What it wrote is there still, and so is that it wrote it.
                part.attempts = [
                    each for each in part.attempts if each.run is not run or each.outcome == "success"
                ]
