"""Backfills (section 8): started as planned, advanced, steered. A run takes one key or several."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from tests.model import judgement
from tests.model.adopting import Adopting
from tests.model.plans import Ask, Backfill, Item, Plan, Target
from tests.model.records import Consumer, Held, Run
from tests.model.supposing import AsIf

AHEAD = 2
"""How many times its limit a backfill has queued and running of each Dag."""

FAILED = ("failed", "blocked")
UNDONE = (*FAILED, "cancelled")


class Backfills(Adopting):
    """`now` is set by whoever drives it."""

    def start(self, ask: Ask, plan: Plan, order: dict[str, Sequence[str]]) -> None:
        """:param order: that of the Dags, which matters to none, and of the keys of each, oldest first."""
        names = list(order)
        targets = []
        for name in names:
            keys = order[name][::-1] if ask.is_newest_first else order[name]
            items = [Item(key, plan[name][key]) for key in keys]
            targets.append(Target(name, self.layer(name, names), items))
        self.backfills.append(Backfill(ask, targets, ask.limit, self.now))

    def advance(self) -> None:
        """Whatever can go on does: nothing has to be woken."""
        while sum(self._advance(each) for each in self.backfills if not each.is_completed):
            pass

    def pause_backfill(self, backfill: Backfill) -> bool:
        if backfill.is_over:
            return False
        backfill.is_paused = True
        return True

    def resume_backfill(self, backfill: Backfill) -> bool:
        """Goes on; of one that was cancelled, what was not done is open again."""
        if backfill.is_cancelled:
            return self._open_again(backfill, UNDONE)
        if not backfill.is_completed:
            backfill.is_paused = False
        return not backfill.is_completed

    def cancel_backfill(self, backfill: Backfill) -> bool:
        """Running ones finish, queued ones do not start."""
        if backfill.is_over:
            return False
        for run in backfill.runs:
            if run.state == "queued":
                run.state, run.ended_at = "cancelled", self.now
        for target in backfill.targets:
            _end(target.of("ready", "waiting"), "cancelled")
        backfill.is_paused = backfill.is_cancelled = True
        self._advance(backfill)
        return True

    def retry_backfill(self, backfill: Backfill) -> bool:
        """What failed is open again; one that is paused and not over stays so."""
        stays_paused = backfill.is_paused and not backfill.is_over
        opened = self._open_again(backfill, FAILED)
        backfill.is_paused |= stays_paused
        return opened

    def retry(self, run: Run) -> None:
        """What had ended with it has not; a backfill that had ended ends anew."""
        super().retry(run)
        for backfill in self.backfills:
            if ended := [item for item in _items_of(backfill, run) if not item.is_open]:
                _end(ended, "started")
                backfill.is_paused &= backfill.is_cancelled or not backfill.is_completed
                backfill.is_completed = False

    def follow(self, run: Run) -> None:
        """What has ended with `run` ended as that did, also when somebody says so afterwards."""
        for backfill in self.backfills:
            for item in _items_of(backfill, run):
                item.state = item.state if item.is_open else self._outcome(item)

    def _advance(self, backfill: Backfill) -> bool:
        """Whether anything has come of it."""
        has_moved = self._collect(backfill)
        if not backfill.is_paused:
            refused: list[Item] = []
            ready = _ready(backfill)
            for target in reversed(backfill.targets):
                own = [run for run in backfill.runs if run.consumer.name == target.name]
                room = AHEAD * backfill.limit - sum(map(self._is_ahead, own))
                self._launch(backfill, target, room, refused)
            has_moved |= _ready(backfill) < ready
            self._look(backfill, refused)
        backfill.is_completed = not backfill.open
        return has_moved

    def _collect(self, backfill: Backfill) -> bool:
        """What has ended says how; what needs it goes on, and when nothing else does, whatever can."""
        every: list[Item] = []
        for target in backfill.targets:
            ended = [item for item in target.of("started") if not (item.run and item.run.is_under_way)]
            for item in ended:
                item.state = self._outcome(item)
            every += [*ended, *self._stop_chain(backfill, target, ended)]
        self._look(backfill, every)
        if all(item.state == "waiting" for item in backfill.open):
            self._look(backfill)
        return bool(every)

    def _outcome(self, item: Item) -> str:
        run = item.run
        if run is None:  # it was deleted
            return "cancelled"
        if run.state != "success":
            return run.state
        if item.key in run.failed_keys:
            return "failed"
        written = {event.key for event in self.events if event.run is run}
        is_written = bool(written) if run.key is not None else item.key in written
        return "done" if is_written or not run.consumer.writes else "skipped"

    def _stop_chain(self, backfill: Backfill, target: Target, ended: Sequence[Item]) -> list[Item]:
        """Each key comes after the one before: the first failure ends it. What does not run then."""
        is_over = backfill.ask.is_chained and any(item.state in UNDONE for item in ended)
        return _end(target.of("ready", "waiting") if is_over else (), "blocked")

    def _look(self, backfill: Backfill, ended: Sequence[Item] | None = None) -> None:
        """Each downstream key goes on as soon as its own upstream keys are done; a failure blocks it.

        :param ended: only what needs one of these is looked at.
        """
        fresh = None if ended is None else list(ended)
        for target in backfill.targets:
            consumer = self.consumers[target.name]
            decided: list[Item] = []
            for item in target.of("waiting"):
                before = list(self._before(backfill, consumer, item.key))
                is_led = fresh is None or any(each in fresh for _, each in before)
                if is_led and not any(each.is_open for _, each in before):
                    self._decide(item, consumer, before)
                    decided.append(item)
            decided += self._stop_chain(backfill, target, decided)
            if fresh is not None:
                fresh += [item for item in decided if item.state == "blocked"]

    def _decide(self, item: Item, consumer: Consumer, before: Sequence[tuple[str, Item]]) -> None:
        gone = {(asset, each.key) for asset, each in before if each.state in UNDONE}
        item.state = "ready" if AsIf(self, gone=gone).is_complete(consumer, item.key) else "blocked"
        ends = [each.run.ended_at for _, each in before if each.run and each.run.ended_at]
        item.ripe_at = max(ends, default=self.now)

    def _launch(self, backfill: Backfill, target: Target, room: int, refused: list[Item]) -> None:
        """As many runs as there is room for, of the next keys; `refused` get those that end."""
        coming = self._coming(backfill, target, room)
        coming = [item for item in coming if not self._is_adopted(backfill, item, target.name)]
        consumer = self.consumers[target.name]
        bad = _end([item for item in coming if not judgement.takes(consumer, item.key)], "failed")
        coming = [item for item in coming if item not in bad]
        size = backfill.ask.size or len(coming) or 1
        chunks = [coming[at : at + size] for at in range(0, len(coming), size)]
        backfill.runs += [self._begin(consumer, chunk) for chunk in chunks]
        refused += [*bad, *self._stop_chain(backfill, target, bad)]

    def _coming(self, backfill: Backfill, target: Target, room: int) -> list[Item]:
        """In whole chunks, as long as more may come."""
        ready, size = target.of("ready"), backfill.ask.size or len(target.items)
        if backfill.ask.is_chained:
            room = 0 if target.of("started") else min(room, 1)
        if unmapped := [e.at for e in self.events if e.run in backfill.runs and not e.is_routed]:
            # What they start by themselves must be there first: it is the run of the key, then.
            ready = [item for item in ready if item.ripe_at is None or item.ripe_at < min(unmapped)]
        coming = ready[: max(0, room) * size]
        if size > 1 and target.of("waiting"):
            coming = coming[: len(coming) // size * size]
        return coming

    def _is_ahead(self, run: Run) -> bool:
        could = run.state == "queued" and (run.run_after is None or run.run_after <= self.now)
        return run.state == "running" or could

    def _begin(self, consumer: Consumer, items: Sequence[Item]) -> Run:
        """A run, in which the held runs of its keys end."""
        keys = tuple(item.key for item in items)
        alone = keys[0] if len(keys) == 1 else None
        run = self._queue(consumer, alone, "backfill", () if alone else keys)
        dates = [date for key in keys if (date := judgement.date_of(consumer, key))]
        run.run_after = max([self.now, *dates])
        for item in items:
            item.state, item.run = "started", run
        for held in self._held_of(consumer, keys if consumer.mappers else ()):
            self._close(held, run)
        return run

    def _held_of(self, consumer: Consumer, keys: Sequence[str]) -> Iterator[Held]:
        """The open held run of each key, or its next round: that counts what is there, whatever is enough."""
        for key in keys:
            held = next((each for each in self.open(consumer.name) if each.key == key), None)
            if held is None:
                held = Held(consumer, key, len(self._rounds((consumer.name, key))) + 1, self.now, self.now)
                self.held.append(held)
                self._fill(held, even_if_one_is_enough=True)
            yield held

    def _open_again(self, backfill: Backfill, states: Collection[str]) -> bool:
        ended = [(target, item) for target in backfill.targets for item in target.of(*states)]
        for target, item in ended:
            item.state, item.run, item.ripe_at = "waiting" if target.layer else "ready", None, None
        if ended:
            self._look(backfill)
            backfill.is_paused = backfill.is_cancelled = backfill.is_completed = False
        return bool(ended)


def _items_of(backfill: Backfill, run: Run) -> list[Item]:
    return [item for target in backfill.targets for item in target.items if item.run is run]


def _ready(backfill: Backfill) -> int:
    return sum(len(target.of("ready")) for target in backfill.targets)


def _end(items: Iterable[Item], state: str) -> list[Item]:
    ended = list(items)
    for item in ended:
        item.state = state
    return ended
