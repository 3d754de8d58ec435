"""The state of partitions (section 9): the newest event of each, and the attempts at it in their order."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from tests.model.records import Attempt, Consumer, Event, Partition, Run


class Partitions:
    """`now` is set by whoever drives it."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.partitions: dict[str, dict[str, Partition]] = defaultdict(dict)
        self._begun = 0

    def _give(self, asset: str, key: str, event: Event, run: Run | None) -> None:
        part = self.partitions[asset].setdefault(key, Partition())
        part.data = event
        if run is None:
            part.attempts.append(Attempt(None, self._next(), "success"))
        elif not any(each.run is run for each in part.attempts):
            part.attempts.append(Attempt(run, run.begun, "running"))
        if run is None or part.stale_since is None or part.stale_since <= run.queued_at:
            part.stale_since = None

    def _empty(self, part: Partition) -> None:
        """No data, and nothing to say of how it ended; who works on it still does."""
        part.data = part.stale_since = None
        part.attempts = [each for each in part.attempts if each.outcome == "running"]

    def _make_stale(self, consumer: Consumer, key: str) -> None:
        """An upstream key that it consumed has a newer event."""
        for asset in consumer.writes:
            part = self.partitions[asset].get(key)
            if part:
                part.stale_since = self.now

    def _own(self, run: Run, keys: Iterable[str]) -> list[Partition]:
        parts = self.partitions
        return [parts[asset].setdefault(key, Partition()) for asset in run.consumer.writes for key in keys]

    def _end(self, run: Run, outcome: str | None, keys: Iterable[str] | None = None) -> None:
        """Its attempts at `keys`, or at all that it has, end so; without an outcome they were none."""
        places = [
            (asset, key) for asset in run.consumer.writes for key in (run.keys if keys is None else keys)
        ]
        for part in [self.partitions[asset].get(key, Partition()) for asset, key in places]:
            for each in [each for each in part.attempts if each.run is run and each.outcome == "running"]:
                if outcome:
                    each.outcome = outcome
                else:
                    part.attempts.remove(each)

    def _next(self) -> int:
        self._begun += 1
        return self._begun
