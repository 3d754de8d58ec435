"""Partita in memory: how events come to held runs (section 6), one after another."""

from collections.abc import Iterable
from datetime import datetime

from scheduling.algebra.errors import PartitionError
from scheduling.algebra.keys import validate_key
from tests.model import judgement
from tests.model.records import UNKEYED, Consumer, Event, Held, Late, Run
from tests.model.running import Runs

MOST_DOWNSTREAM_KEYS = 1000
Name = tuple[str, str]


class Filing(Runs):
    """`now` is set by whoever drives it."""

    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self.consumers: dict[str, Consumer] = {}
        self.events: list[Event] = []
        self.held: list[Held] = []
        self.problems: set[tuple[int, str]] = set()

    def open(self, consumer: str | None = None) -> list[Held]:
        return [each for each in self.held if each.state == "held" and consumer in (None, each.consumer.name)]

    def fired(self, name: Name) -> list[Held]:
        return [each for each in self._rounds(name) if each.state == "fired"]

    def was_consumed(self, event: Event, name: Name) -> bool:
        """Whether the newest event of a partition is in a round that fired: then it is not fresh."""
        return any(event in each.events for each in self.fired(name))

    def is_present(self, asset: str) -> bool:
        """An asset without partitions that has had an event is there for every key (TC-34)."""
        if asset in self.listed:
            return False
        is_written = any(asset in each.writes and not each.is_plain for each in self.consumers.values())
        return not is_written and not self.partitions[asset] and any(e.asset == asset for e in self.events)

    def _map_all(self, events: list[Event], consumer: Consumer, *, anew: bool = False) -> None:
        for event in events:
            self._map(event, consumer, anew=anew)
        for held, event in self._beyond_limit(events, consumer):
            self._arrive(event, consumer, held.key, anew)
        for event in events if not anew else ():
            self._outdate(event, consumer)

    def _outdate(self, event: Event, consumer: Consumer) -> None:
        """What was made of an older event of a key is stale (section 9), though it is over the limit."""
        opened = [held.key for held in self.open(consumer.name)]
        for key in () if consumer.is_plain or event.key is None else self._too_many(event, consumer):
            name = (consumer.name, key)
            used = self.fired(name)[-1].counted if self.fired(name) else ()
            if key not in opened and place_of(event) in used and not self._is_spent(event, name):
                self._make_stale(consumer, key)

    def _beyond_limit(self, events: Iterable[Event], consumer: Consumer) -> list[tuple[Held, Event]]:
        """An event over the limit opens nothing; as long as its partition is what it says, it has data."""
        return [
            (held, event)
            for event in events
            if event.key is not None and not consumer.is_plain
            if (part := self.partitions[event.asset].get(event.key)) and part.data is event
            for held in self.open(consumer.name)
            if held.key in self._too_many(event, consumer) and self._is_counted(event, consumer, held.key)
        ]

    def _map(self, event: Event, consumer: Consumer, *, anew: bool = False) -> None:
        if consumer.is_plain:
            if event.key is None or consumer.counts_keyed:
                self._arrive(event, consumer, UNKEYED, anew)
        elif event.key is None:
            if self.is_present(event.asset) and len(consumer.mappers) > 1:
                if event is next(each for each in self.events if each.asset == event.asset):
                    self._wake(self.open(consumer.name))
            else:
                self.problems.add((event.number, consumer.name))
        else:
            for key in self._downstream(event, consumer):
                self._arrive(event, consumer, key, anew)

    def _downstream(self, event: Event, consumer: Consumer) -> tuple[str, ...]:
        if consumer.is_plain:
            return (UNKEYED,)
        keys = self._written(event, consumer)
        if keys is None or self._too_many(event, consumer):
            self.problems.add((event.number, consumer.name))
            return ()
        return keys

    def _written(self, event: Event, consumer: Consumer) -> tuple[str, ...] | None:
        try:
            keys = consumer.mappers[event.asset].to_downstream(event.key)
            for key in keys:
                validate_key(key)
        except PartitionError:
            return None
        return keys

    def _too_many(self, event: Event, consumer: Consumer) -> tuple[str, ...]:
        """The keys of an event that has more than are allowed."""
        keys = self._written(event, consumer) or ()
        limit = consumer.mappers[event.asset].max_downstream_keys or MOST_DOWNSTREAM_KEYS
        return keys if len(keys) > limit else ()

    def _arrive(self, event: Event, consumer: Consumer, key: str, anew: bool) -> None:
        """`anew`: it came before and is only filed anew, so that nothing has to settle again."""
        name = (consumer.name, key)
        if not self._is_spent(event, name) and self.fired(name):
            self._make_stale(consumer, key)
        if not self._is_counted(event, consumer, key):
            return
        held = next((each for each in self.open(consumer.name) if each.key == key), None)
        if held is None:
            came = event.at if anew else self.now
            held = Held(consumer, key, len(self._rounds(name)) + 1, self.now, came)
            self.held.append(held)
            self._fill(held)
        self._count(held, event)
        held.events |= {
            each
            for each in self.events
            if place_of(each) == place_of(event) and each.number < event.number
            if not each.is_routed and not self._is_spent(each, name)
        }
        held.judge_at, held.last_at = self.now, max(held.last_at, event.at) if anew else self.now

    def _is_counted(self, event: Event, consumer: Consumer, key: str) -> bool:
        """Not what a round has had already, nor what only marks its partition stale."""
        name = (consumer.name, key)
        is_marking = consumer.late is Late.MARK_STALE and self.fired(name)
        return not self._is_spent(event, name) and not is_marking

    def _is_spent(self, event: Event, name: Name) -> bool:
        """A round that is closed has counted it already, through its partition."""
        return any(event in each.events for each in self._rounds(name) if each.state != "held")

    def _fill(self, held: Held, *, even_if_one_is_enough: bool = False) -> None:
        """Completeness is a property of the data: what is there already counts, whenever it came.

        One key is enough for a consumer that needs only one, and it comes by itself.
        """
        consumer = held.consumer
        if consumer.is_plain or (consumer.needs_one_key and not even_if_one_is_enough):
            return
        before = self._rounds((consumer.name, held.key))[held.round - 2 : held.round - 1]
        for asset, mapper in consumer.mappers.items():
            keys = {key for each in before for other, key in each.counted if other == asset}
            keys |= judgement.enumerable(mapper, held.key, self.known(asset))
            for key in keys:
                part = self.partitions[asset].get(key)
                if part and part.data and judgement.feeds(mapper, key, held.key):
                    self._count(held, part.data)
                    for event in self.events:
                        is_waiting = (event.asset, event.key) == (asset, key) and not event.is_routed
                        if is_waiting and not self._is_spent(event, (consumer.name, held.key)):
                            held.events.add(event)

    def known(self, asset: str) -> tuple[str, ...]:
        """Every key that has data, first seen first."""
        return tuple(key for key, part in self.partitions[asset].items() if part.data)

    def _count(self, held: Held, event: Event) -> None:
        held.events.add(event)
        place = place_of(event)
        if place not in held.counted or held.counted[place].number < event.number:
            held.counted[place] = event

    def _close(self, held: Held, run: Run) -> None:
        held.state, held.run, held.judge_at = "fired", run, None
        run.consumed |= held.events

    def _order(self, before: int) -> None:
        """Held runs opened together have no order that matters: by Dag and key, so that there is one."""
        self.held[before:] = self._in_order(self.held[before:])

    def _in_order(self, held: Iterable[Held]) -> list[Held]:
        dags = list(self.consumers)
        return sorted(held, key=lambda each: (dags.index(each.consumer.name), each.key))

    def _wake(self, held: Iterable[Held]) -> None:
        for each in held:
            each.judge_at = self.now

    def _rounds(self, name: Name) -> list[Held]:
        return [each for each in self.held if (each.consumer.name, each.key) == name]


def place_of(event: Event) -> tuple[str, str]:
    return event.asset, event.key or UNKEYED
