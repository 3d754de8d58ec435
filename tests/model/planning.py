"""What a backfill would do (section 8): which keys of which Dags run, which do not, and which wait."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from scheduling.algebra.errors import PartitionError
from scheduling.algebra.mappers import Mapper
from tests.model import judgement
from tests.model.filing import Filing
from tests.model.records import Brief, Consumer, Counted, Event, Held, Run


@dataclass(eq=False)
class Item:
    """One planned key: skipped, waiting, ready, started with its run, or ended.

    `ripe_at` is when the last run that it waited for ended.
    """

    key: str
    state: str = "ready"
    run: Run | None = None
    ripe_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        return self.state in ("waiting", "ready", "started")


@dataclass(eq=False)
class Target:
    """One Dag of a backfill, by name; `items` in the order in which they start."""

    name: str
    layer: int
    items: list[Item]

    def of(self, *states: str) -> list[Item]:
        return [item for item in self.items if item.state in states]


@dataclass(frozen=True)
class Ask:
    """These keys of these Dags. A run takes `size` keys or, if that is none, all; `limit` may run."""

    names: tuple[str, ...]
    keys: tuple[str, ...]
    size: int | None = 1
    limit: int = 1
    is_newest_first: bool = False
    is_chained: bool = False
    with_downstream: bool = False


@dataclass(eq=False, repr=False)
class Backfill(Brief):
    """`targets` upstream first; `limit` of its runs may run now."""

    ask: Ask
    targets: list[Target]
    limit: int
    is_paused: bool = False
    is_cancelled: bool = False
    is_completed: bool = False
    runs: list[Run] = field(default_factory=list)

    @property
    def open(self) -> list[Item]:
        return [item for target in self.targets for item in target.items if item.is_open]

    @property
    def is_over(self) -> bool:
        return self.is_completed or self.is_cancelled

    def set_limit(self, limit: int) -> bool:
        self.limit = self.limit if self.is_over else limit
        return not self.is_over

    def __repr__(self) -> str:
        items = {target.name: [(item.key, item.state) for item in target.items] for target in self.targets}
        return f"backfill of {items}"


Plan = dict[str, dict[str, str]]
"""By Dag, upstream first: what becomes of each key."""


class AsIf:
    """The model as it would be with some upstream keys more, and without others; nothing has fired in it."""

    def __init__(
        self, model: Filing, *, coming: Collection[Counted] = (), gone: Collection[Counted] = ()
    ) -> None:
        self._model, self._coming, self._gone = model, coming, gone
        self.now = model.now

    def known(self, asset: str) -> tuple[str, ...]:
        more = [key for other, key in self._coming if other == asset]
        every = dict.fromkeys((*self._model.known(asset), *more))
        return tuple(key for key in every if (asset, key) not in self._gone)

    def is_present(self, asset: str) -> bool:
        return self._model.is_present(asset)

    def was_consumed(self, event: Event, name: tuple[str, str]) -> bool:
        return False

    def is_complete(self, consumer: Consumer, key: str) -> bool:
        """Whether a held run of `key` could fire that had counted every key that is there and leads to it.

        Where a mapper lists keys, those are looked for, as when one is opened; else whatever leads to it.
        """
        held = Held(consumer, key, 1, self.now, self.now)
        for asset, mapper in consumer.mappers.items():
            known = self.known(asset)
            listed = known if needs(mapper, key) is None else judgement.enumerable(mapper, key, known)
            for upstream in known:
                if upstream in listed and judgement.feeds(mapper, upstream, key):
                    held.counted[asset, upstream] = Event(0, asset, upstream, self.now)
        return judgement.is_complete(held, self)


class Planning(Filing):
    """`now` is set by whoever drives it."""

    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self.backfills: list[Backfill] = []

    def plan(self, ask: Ask) -> Plan:
        """Nothing of anything if a key cannot be one of its Dag."""
        asked = [self.consumers[name] for name in ask.names]
        if not all(judgement.takes(consumer, key) for consumer in asked for key in ask.keys):
            return {}
        keys = {name: dict.fromkeys(ask.keys) for name in ask.names}
        if ask.with_downstream:
            self._follow(keys)
        busy = {(name, key) for name, each in keys.items() for key in each if self._is_busy(name, key)}
        return self._staged(keys, busy)

    def sources(self, asset: str, names: Iterable[str]) -> list[str]:
        """Those of the Dags that write it."""
        return [name for name in names if asset in self.consumers[name].writes]

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

    def _staged(self, keys: Mapping[str, Collection[str]], busy: Collection[tuple[str, str]]) -> Plan:
        """Of a consumer runs what will have what it needs; it waits for what of that is to run before."""
        plan: Plan = {}
        running: dict[str, list[str]] = {}
        for name in self._upstream_first(keys):
            consumer = self.consumers[name]
            free = [key for key in keys[name] if (name, key) not in busy]
            coming = {
                (asset, key)
                for asset in consumer.mappers
                for source in self.sources(asset, keys)
                for key in running.get(source, ())
            }
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


def mapped(mapper: Mapper, key: str) -> tuple[str, ...]:
    try:
        return mapper.to_downstream(key)
    except PartitionError:
        return ()


def needs(mapper: Mapper, key: str) -> Collection[str] | None:
    """The upstream keys that lead to `key`; none where they cannot be listed."""
    if mapper.needs_known:
        return None
    try:
        return mapper.upstream_keys(key)
    except PartitionError:
        return ()
