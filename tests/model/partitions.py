"""The state of partitions (section 9): the newest event of each, and the attempts at it in their order.

And the keys of dynamic partitions (section 2), which come and go, and the keys that assets are to have and
no others, where those are listed.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from tests.model.records import Attempt, Consumer, DynamicKey, Event, Partition, Run


class Partitions:
    """`now` is set by whoever drives it."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.partitions: dict[str, dict[str, Partition]] = defaultdict(dict)
        self.dynamic: list[DynamicKey] = []
        self.listed: dict[str, Sequence[str]] = {}
        self._begun = 0

    def expected(self) -> list[str]:
        """The keys that dynamic partitions have, the oldest first."""
        return [each.key for each in self.dynamic if each.is_there]

    def add_keys(self, *keys: str) -> list[str]:
        """Those that were not there."""
        new = [key for key in dict.fromkeys(keys) if key not in self.expected()]
        self.dynamic += [DynamicKey(key) for key in new]
        return new

    def remove_keys(self, *keys: str) -> list[str]:
        """Those that were there. Nothing else changes: events, runs, backfills and states stay."""
        gone = [each for each in self.dynamic if each.is_there and each.key in keys]
        for each in gone:
            each.is_there = False
        return [each.key for each in gone]

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
