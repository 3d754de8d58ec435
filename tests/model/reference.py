"""Partita in memory: sections 3, 5, 6, 7 and 9 of the semantics, one step after another.

Written from that paper and not from the engine. Values of the algebra read keys; whether a held run may fire
is decided here a second time, on purpose. Nothing is fast, and nothing happens at the same time.
"""

from collections.abc import Iterable
from datetime import datetime

from scheduling.algebra.errors import PartitionError
from scheduling.algebra.keys import validate_key
from tests.model import judgement
from tests.model.records import UNKEYED, Consumer, Event, Held, Late, Partition, Run
from tests.model.running import Runs

MOST_DOWNSTREAM_KEYS = 1000
Name = tuple[str, str]


class Model(Runs):
    """`now` is set by whoever drives it."""

    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self.consumers: dict[str, Consumer] = {}
        self.events: list[Event] = []
        self.held: list[Held] = []
        self.problems: set[tuple[int, str]] = set()
        self._numbered = 0

    # Events (section 5)

    def record(self, asset: str, *keys: str | None, run: Run | None = None) -> list[Event]:
        """Recording never waits for mapping; the partition has data from now on."""
        recorded = []
        for key in sorted({key for key in keys if key is not None}):
            self.partitions[asset].setdefault(key, Partition())
        for key in keys:
            self._numbered += 1
            event = Event(self._numbered, asset, key, self.now)
            self.events.append(event)
            recorded.append(event)
            if key is not None:
                self._give(asset, key, event, run)
        return recorded

    def route(self, limit: int, at_once: int = 1000) -> int:
        """Map the oldest events that wait for it; what they complete fires, unless they came to too many."""
        waiting, before = [event for event in self.events if not event.is_routed][:limit], len(self.held)
        for consumer in self.consumers.values():
            self._map_all([event for event in waiting if event.asset in consumer.mappers], consumer)
        for event in waiting:
            event.is_routed = True
        self._order(before)
        reached = [each for each in self.open() if each.last_at == self.now]
        if len(reached) <= at_once:
            for each in self._in_order(reached):
                if judgement.of(each, self).kind == "ready":
                    self.fire(each)
        return len(waiting)

    def wipe(self, asset: str, key: str) -> None:
        """[ok, wiped] has no data and no attempt; what was said of it before is void."""
        self._empty(self.partitions[asset][key])
        for event in self.events:
            if (event.asset, event.key) == (asset, key):
                event.is_routed = True
                self.problems = {problem for problem in self.problems if problem[0] != event.number}
        self._unreceive(asset, key)

    def delete(self, event: Event) -> bool:
        """Take an event back, unless a run consumed it; its partition is as the event before left it."""
        if any(event in run.consumed for run in self.runs):
            return False
        self.events.remove(event)
        self.problems = {problem for problem in self.problems if problem[0] != event.number}
        before = None
        if event.key is not None:
            part = self.partitions[event.asset][event.key]
            if part.data is event:
                same = [each for each in self.events if (each.asset, each.key) == (event.asset, event.key)]
                part.data = same[-1] if same else None
                if part.data is None:
                    self._empty(part)
            before = part.data
        self._unreceive(event.asset, event.key or UNKEYED, event, before)
        if event.key is None:
            self._wake(each for each in self.open() if event.asset in each.consumer.mappers)
        return True

    # Held runs (section 6)

    def open(self, consumer: str | None = None) -> list[Held]:
        return [each for each in self.held if each.state == "held" and consumer in (None, each.consumer.name)]

    def judge(self, limit: int) -> int:
        """Judge the held runs that something happened to, longest ago first."""
        due = [each for each in self.open() if each.judge_at is not None and each.judge_at <= self.now]
        due = sorted(due, key=lambda each: each.judge_at)[:limit]
        for each in due:
            verdict = judgement.of(each, self)
            each.verdict, each.judge_at = verdict.kind, verdict.until
            if verdict.kind == "ready":
                self.fire(each)
            elif verdict.gives_up:
                self.cancel(each)
        return len(due)

    def fire(self, held: Held) -> Run:
        """A held run becomes a queued run, with the events that it consumed."""
        key = None if held.consumer.is_plain else held.key
        run = self._queue(held.consumer, key, "asset_triggered")
        self._close(held, run)
        for asset in held.consumer.mappers if not held.consumer.is_plain else ():
            if self.is_present(asset):
                run.consumed.add([each for each in self.events if each.asset == asset][-1])
        return run

    def open_round(self, consumer: Consumer, key: str) -> Held:
        """The next round of a key for a backfill: it counts what is there, even if one key is enough."""
        held = Held(consumer, key, len(self._rounds((consumer.name, key))) + 1, self.now, self.now)
        self.held.append(held)
        self._fill(held, even_if_one_is_enough=True)
        return held

    def fire_for_backfill(self, held: Held) -> Run:
        run = self._queue(held.consumer, held.key, "backfill")
        self._close(held, run)
        return run

    def cancel(self, held: Held) -> None:
        held.state, held.judge_at = "cancelled", None

    def fired(self, name: Name) -> list[Held]:
        return [each for each in self._rounds(name) if each.state == "fired"]

    def was_consumed(self, event: Event, name: Name) -> bool:
        """Whether the newest event of a partition is in a round that fired: then it is not fresh."""
        return any(event in each.events for each in self.fired(name))

    def is_present(self, asset: str) -> bool:
        """An asset without partitions that has had an event is there for every key (TC-34)."""
        is_written = any(asset in each.writes and not each.is_plain for each in self.consumers.values())
        return not is_written and not self.partitions[asset] and any(e.asset == asset for e in self.events)

    def redefine(self, consumer: Consumer) -> None:
        """What open held runs have counted is filed anew, and what could not be mapped; what fired stays."""
        self.consumers[consumer.name] = consumer
        before, count = self.open(consumer.name), len(self.held)
        events = {event for each in before for event in each.events}
        failed = {number for number, name in self.problems if name == consumer.name}
        events |= {event for event in self.events if event.number in failed and event.key is not None}
        events = [event for event in self.events if event in events and event.asset in consumer.mappers]
        self.problems -= {(event.number, consumer.name) for event in events}
        for each in before:
            each.consumer, each.counted, each.events, each.judge_at = consumer, {}, set(), self.now
        reached = {
            (consumer.name, key)
            for event in events
            for key in self._downstream(event, consumer)
            if self._is_counted(event, consumer, key)
        } | {(consumer.name, each.key) for each, _ in self._beyond_limit(events, consumer)}
        for each in before:
            if (consumer.name, each.key) in reached:
                self._fill(each)
            else:
                each.state, each.judge_at = "superseded", None
        self._map_all(events, consumer, anew=True)
        self._order(count)

    def pause(self, consumer: Consumer, paused: bool) -> None:
        consumer.is_paused = paused
        if not paused:
            if consumer.name in self.ticked_until:
                self.ticked_until[consumer.name] = self.now
            self._wake(self.open(consumer.name))

    def trigger(self, consumer: Consumer, key: str, *, settles: bool) -> Run | None:
        """By hand; a held run of that key is settled by it unless the person says no.

        A key that the consumer can never have is refused.
        """
        if not judgement.takes(consumer, key):
            return None
        run = self._queue(consumer, key, "manual")
        for each in self.open(consumer.name):
            if settles and each.key == key:
                self._close(each, run)
        return run

    # Runs (section 7)

    def succeed(self, run: Run) -> None:
        run.state = "success"
        for asset in run.consumer.writes:
            self.record(asset, run.key, run=run)
        self._end(run, "success")

    # How events come to held runs

    def _map_all(self, events: list[Event], consumer: Consumer, *, anew: bool = False) -> None:
        for event in events:
            self._map(event, consumer, anew=anew)
        for held, event in self._beyond_limit(events, consumer):
            self._arrive(event, consumer, held.key, anew)

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
        place = _place(event)
        if place not in held.counted or held.counted[place].number < event.number:
            held.counted[place] = event

    def _close(self, held: Held, run: Run) -> None:
        held.state, held.run, held.judge_at = "fired", run, None
        run.consumed = held.events

    def _unreceive(
        self, asset: str, key: str, event: Event | None = None, before: Event | None = None
    ) -> None:
        """Open held runs no longer have `event` (all of the partition); `before` is what is left of it."""
        place = (asset, key)
        for held in self.open():
            if place not in held.counted:
                continue
            held.judge_at = self.now
            gone = {event} if event else {each for each in held.events if _place(each) == place}
            held.events -= gone
            if held.counted[place] in gone or event is None:
                held.counted.pop(place)
                left = [each for each in held.events if _place(each) == place]
                last = max(left, key=lambda each: each.number, default=None)
                if found := last if held.consumer.is_plain else before:
                    self._count(held, found)

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


def _place(event: Event) -> tuple[str, str]:
    return event.asset, event.key or UNKEYED
