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
        """A run of that key does it that is under way, or that read what its upstream has made, not badly."""
        runs = [run for run in self.runs if run.consumer.name == name and item.key in run.keys]
        if item.ripe_at is None:
            runs = [run for run in runs if run.is_under_way]
        else:
            others = [run for run in runs if run.state == "success" and run not in backfill.runs]
            runs = [run for run in runs if run.key and (run.is_under_way or run in others)]
            written = self._written_before(backfill, self.consumers[name], item.key)
            runs = [run for run in runs if self._has_read(run, written, item)]
        if runs:
            item.state, item.run = "started", runs[-1]
        return bool(runs)

    def _has_read(self, run: Run, written: Collection[Event], item: Item) -> bool:
        """What it or one before it consumed; where no held run became it, when it was queued says so."""
        rounds = [each for each in self.fired((run.consumer.name, item.key)) if not each.is_pruned]
        own = [each.round for each in rounds if each.run is run]
        if not own or not written:
            return run.queued_at >= item.ripe_at
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
