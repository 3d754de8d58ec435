"""Limits (section 7): of Dags, of backfills and of a pool. What may start, and what is kept waiting."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from tests.model.correcting import Corrections
from tests.model.plans import Backfill
from tests.model.records import Run


@dataclass(frozen=True)
class Limit:
    """`active` runs of a Dag may run, and each takes so many `slots` of the pool; none: it is outside."""

    active: int = 2
    slots: int = 0


class Limits(Corrections):
    """`now` is set by whoever drives it."""

    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self.limits: dict[str, Limit] = defaultdict(Limit)
        self.pool = 3

    def startable(self) -> list[Run]:
        return [
            run for run in self._but_for_the_pool() if self._slots(run) <= self.free or not self._slots(run)
        ]

    def is_kept_waiting(self, run: Run) -> bool:
        """Whether what is free in the pool is kept for a run that needs more of it, and whose turn it is.

        Nothing that takes no slot of the pool ever waits for one.
        """
        wanted = [self._slots(each) for each in self._but_for_the_pool()]
        return self._slots(run) > 0 and any(self.free < slots <= self.pool for slots in wanted)

    @property
    def free(self) -> int:
        """A run has the slots that it took when it started, whatever its Dag takes now."""
        return self.pool - sum(run.slots for run in self.runs if run.state == "running")

    def claim(self, run: Run) -> None:
        super().claim(run)
        run.slots = self._slots(run)

    def _but_for_the_pool(self) -> list[Run]:
        return [run for run in self.runs if run.state == "queued" and self._may_start(run)]

    def _may_start(self, run: Run) -> bool:
        name = run.consumer.name
        active = sum(each.consumer.name == name for each in self.runs if each.state == "running")
        return (
            active < self.limits[name].active
            and not self.consumers[name].is_paused
            and (run.run_after is None or run.run_after <= self.now)
            and all(_has_room(each) for each in self.backfills if run in each.runs)
        )

    def _slots(self, run: Run) -> int:
        return self.limits[run.consumer.name].slots


def _has_room(backfill: Backfill) -> bool:
    running = [run for run in backfill.runs if run.state == "running"]
    return (backfill.is_cancelled or not backfill.is_paused) and len(running) < backfill.limit
