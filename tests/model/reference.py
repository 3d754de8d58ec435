"""Partita in memory: sections 3 and 5 to 9 of the semantics, one step after another.

Written from that paper and not from the engine. Values of the algebra read keys; whether a held run may fire
is decided here a second time, on purpose. Nothing is fast, and nothing happens at the same time.
"""

from datetime import datetime

from tests.model import judgement
from tests.model.filing import place_of
from tests.model.limits import Limits
from tests.model.records import UNKEYED, Consumer, Event, Held, Partition, Run


class Model(Limits):
    """`now` is set by whoever drives it."""

    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self._numbered = 0

    # Events (section 5)

    def record(self, asset: str, *keys: str | None, run: Run | None = None) -> list[Event]:
        """Recording never waits for mapping; the partition has data from now on."""
        recorded = []
        for key in sorted({key for key in keys if key is not None}):
            self.partitions[asset].setdefault(key, Partition())
        for key in keys:
            self._numbered += 1
            event = Event(self._numbered, asset, key, self.now, run)
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
        for asset in held.consumer.mappers if not held.consumer.is_plain else ():
            if self.is_present(asset):
                held.events.add([each for each in self.events if each.asset == asset][-1])
        self._close(held, run)
        return run

    def cancel(self, held: Held) -> None:
        held.state, held.judge_at = "cancelled", None

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

    def list_keys(self, asset: str, *keys: str) -> None:
        """The definition of an asset changes: what waits for it may hope anew, or no more."""
        self.listed[asset] = keys
        self._wake(held for held in self.open() if asset in held.consumer.mappers)

    def pause(self, consumer: Consumer, paused: bool) -> None:
        consumer.is_paused = paused
        if not paused:
            if consumer.name in self.ticked_until:
                self.ticked_until[consumer.name] = self.now
            self._wake(self.open(consumer.name))

    def trigger(self, consumer: Consumer, key: str, *, settles: bool) -> Run | None:
        """By hand; a held run of that key is settled by it unless the person says no.

        Where none is held, the run counts as a firing of the key if it is complete. A key that the consumer
        can never have is refused.
        """
        if not judgement.takes(consumer, key):
            return None
        run = self._queue(consumer, key, "manual")
        for each in self._settled_by_hand(consumer, key) if settles else ():
            self._close(each, run)
        return run

    def _settled_by_hand(self, consumer: Consumer, key: str) -> list[Held]:
        held = [each for each in self.open(consumer.name) if each.key == key]
        if held or consumer.is_plain or not consumer.mappers or consumer.needs_one_key:
            return held
        made = Held(consumer, key, len(self._rounds((consumer.name, key))) + 1, self.now, self.now)
        self._fill(made)
        held = [made] if judgement.is_complete(made, self) else []
        self.held += held
        return held

    # Runs (section 7)

    def succeed(self, run: Run) -> None:
        run.state, run.ended_at = "success", self.now
        written = [key for key in run.keys if key not in run.failed_keys]
        for asset in run.consumer.writes:
            self.record(asset, *(written if run.keys else [None]), run=run)
        self._end(run, "failed", run.failed_keys)
        self._end(run, "success")

    def give_up(self, run: Run) -> None:
        """A ranged run does without one of its keys, which has failed then; the others are well."""
        run.failed_keys = run.keys[:1]
        if run.failed_keys == run.keys:
            self._fail_for_good(run)
        else:
            self.succeed(run)

    def _unreceive(
        self, asset: str, key: str, event: Event | None = None, before: Event | None = None
    ) -> None:
        """Open held runs no longer have `event` (all of the partition); `before` is what is left of it."""
        place = (asset, key)
        for held in self.open():
            if place not in held.counted:
                continue
            held.judge_at = self.now
            gone = {event} if event else {each for each in held.events if place_of(each) == place}
            held.events -= gone
            if held.counted[place] in gone or event is None:
                held.counted.pop(place)
                left = [each for each in held.events if place_of(each) == place]
                last = max(left, key=lambda each: each.number, default=None)
                if found := last if held.consumer.is_plain else before:
                    self._count(held, found)
