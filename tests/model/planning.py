"""What a backfill would do (section 8): which keys of which Dags run, which do not, and which wait."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from tests.model import judgement
from tests.model.filing import Filing
from tests.model.plans import Ask, Backfill, Parts, Plan
from tests.model.records import Consumer, Counted
from tests.model.supposing import AsIf, mapped, needs


class Planning(Filing):
    """`now` is set by whoever drives it."""

    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self.backfills: list[Backfill] = []

    def plan(self, ask: Ask) -> Plan:
        """Nothing if a key cannot be one of its Dag."""
        named = self.expected() if ask.keys is None else ask.keys
        if not all(self._may_have(name, key) for name in ask.names for key in named):
            return Plan()
        keys = {name: dict.fromkeys(named) for name in ask.names}
        offers = self._lacking(keys)
        for name, missing in offers.items() if ask.with_upstream else ():
            keys.setdefault(name, {}).update(dict.fromkeys(missing))
        if ask.with_downstream:
            self._follow(keys)
        return Plan(self._staged(keys), {} if ask.with_upstream else offers)

    def sources(self, asset: str, names: Iterable[str]) -> list[str]:
        """Those of the Dags that write it."""
        return [name for name in names if asset in self.consumers[name].writes]

    def _lacking(self, keys: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
        """What would have to run first: the keys that are missing of what one Dag alone makes, and theirs.

        Not those that the Dag cannot have, nor those that something is at work on.
        """
        running = {name: [key for key in keys[name] if not self._is_busy(name, key)] for name in keys}
        added: dict[str, dict[str, None]] = {}
        for name in reversed(self._upstream_first(self.consumers)):
            consumer = self.consumers[name]
            coming = self._heard(consumer, running) | self._heard(consumer, added)
            world = AsIf(self, coming=coming)
            for key in (*running.get(name, ()), *added.get(name, ())) if not consumer.is_plain else ():
                for asset, missing in world.lacks(consumer, key):
                    if len(writers := self.sources(asset, self.consumers)) == 1:
                        added.setdefault(writers[0], {}).update(dict.fromkeys(missing))
        possible = {name: set(self._possible(name, missing)) for name, missing in added.items()}
        return {name: missing for name, missing in possible.items() if missing}

    def _possible(self, name: str, keys: Iterable[str]) -> Iterator[str]:
        for key in keys:
            if self._may_have(name, key) and not self._is_busy(name, key):
                yield key

    def _may_have(self, name: str, key: str) -> bool:
        consumer = self.consumers[name]
        return judgement.takes(consumer, key) and not (consumer.is_dynamic and key not in self.expected())

    def _heard(self, consumer: Consumer, keys: Mapping[str, Collection[str]]) -> set[Counted]:
        """What a consumer hears of these keys of these Dags."""
        return {
            (asset, key)
            for asset in consumer.mappers
            for source in self.sources(asset, keys)
            for key in keys[source]
        }

    def _follow(self, keys: dict[str, dict[str, None]]) -> None:
        """What listens to a key that runs runs after it."""
        for name in self._upstream_first(self.consumers):
            for listener in self.consumers.values() if name in keys else ():
                if listener.is_plain:
                    continue
                led = {
                    downstream: None
                    for asset, mapper in listener.mappers.items()
                    if asset in self.consumers[name].writes
                    for key in keys[name]
                    if not self._is_busy(name, key)
                    for downstream in mapped(mapper, key)
                }
                if led:
                    keys.setdefault(listener.name, {}).update(led)

    def _staged(self, keys: Mapping[str, Collection[str]]) -> Parts:
        """Of a consumer runs what will have what it needs; it waits for what of that is to run before."""
        plan: Parts = {}
        running: dict[str, list[str]] = {}
        for name in self._upstream_first(keys):
            consumer = self.consumers[name]
            free = [key for key in keys[name] if not self._is_busy(name, key)]
            coming = self._heard(consumer, running)
            world = AsIf(self, coming=coming)
            running[name] = [key for key in free if world.is_complete(consumer, key)]
            plan[name] = dict.fromkeys(keys[name], "skipped")
            for key in running[name]:
                plan[name][key] = "waiting" if self._waits(consumer, key, coming) else "ready"
        return plan

    def _waits(self, consumer: Consumer, key: str, coming: Collection[Counted]) -> bool:
        for asset, mapper in consumer.mappers.items():
            needed = needs(mapper, key)
            if any(other == asset and (needed is None or each in needed) for other, each in coming):
                return True
        return False

    def _upstream_first(self, names: Iterable[str]) -> list[str]:
        names = sorted(names, key=list(self.consumers).index)
        return sorted(names, key=lambda name: self.layer(name, names))

    def layer(self, name: str, names: Sequence[str]) -> int:
        """How many of the Dags wait for each other before it."""
        before = {
            source
            for asset in self.consumers[name].mappers
            for source in self.sources(asset, names)
            if not self.consumers[name].is_plain
        }
        return max((self.layer(source, names) + 1 for source in before), default=0)

    def _is_busy(self, name: str, key: str) -> bool:
        """Something is at work on it: a run, or a backfill that has it ahead."""
        ahead = [
            item.key
            for backfill in self.backfills
            for target in backfill.targets
            if target.name == name
            for item in target.items
            if item.is_open
        ]
        under_way = [run for run in self.runs if run.consumer.name == name and run.is_under_way]
        return key in ahead or any(key in run.keys for run in under_way)
