"""Which keys of a backfill (section 8) a run does that somebody else has begun: they do not run once more."""

from collections.abc import Collection, Iterator

from tests.model import judgement
from tests.model.planning import Planning
from tests.model.plans import Backfill, Item
from tests.model.records import Consumer, Event, Run
from tests.model.supposing import needs


class Adopting(Planning):
    """`now` is set by whoever drives it."""

    def _is_adopted(self, backfill: Backfill, item: Item, name: str) -> bool:
        """A run of that key does it that is under way, or that somebody else has queued in time, not badly.

        Of what was there at the start, all that is under way will do for a key that waited for nothing.
        """
        runs = [run for run in self.runs if run.consumer.name == name and item.key in run.keys]
        found = [run for run in runs if run.is_under_way and item.ripe_at is None]
        if not found:
            ended = [run for run in runs if run.state == "success" and run not in backfill.runs]
            others = [run for run in ended if not self._was_wiped(run)]
            runs = [run for run in runs if run.key and (run.is_under_way or run in others)]
            written = self._written_before(backfill, self.consumers[name], item.key) if item.ripe_at else ()
            found = [run for run in runs if self._has_read(run, written, item, backfill)]
        if found:
            item.state, item.run = "started", found[-1]
        return bool(found)

    def _was_wiped(self, run: Run) -> bool:
        wrote = [event for event in self.events if event.run is run and event.key is not None]
        return any(not self.partitions[event.asset][event.key].data for event in wrote)

    def _has_read(self, run: Run, written: Collection[Event], item: Item, backfill: Backfill) -> bool:
        """What it or one before it consumed; where no held run became it, when it was queued says so."""
        rounds = [each for each in self.fired((run.consumer.name, item.key)) if not each.is_pruned]
        own = [each.round for each in rounds if each.run is run]
        if not own or not written:
            return run.queued_at >= item.ripe_at if item.ripe_at else run.queued_at > backfill.started_at
        return all(any(event in each.events for each in rounds if each.round <= own[-1]) for event in written)

    def _written_before(self, backfill: Backfill, consumer: Consumer, key: str) -> list[Event]:
        """What the runs of the upstream keys wrote that leads to `key`."""
        runs = {(asset, item.run) for asset, item in self._before(backfill, consumer, key) if item.run}
        return [
            event
            for event in self.events
            if event.key is not None and (event.asset, event.run) in runs
            if judgement.feeds(consumer.mappers[event.asset], event.key, key)
        ]

    def _before(self, backfill: Backfill, consumer: Consumer, key: str) -> Iterator[tuple[str, Item]]:
        """What `key` needs of the upstream keys of the backfill; all of them where that is not known."""
        targets = {target.name: target for target in backfill.targets}
        for asset, mapper in consumer.mappers.items():
            needed = needs(mapper, key)
            for source in self.sources(asset, targets):
                for item in targets[source].items:
                    if needed is None or item.key in needed:
                        yield asset, item
