"""Backfills of keys of one consumer (section 8): planned, advanced, steered. A run takes one or several."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tests.model import judgement
from tests.model.filing import Filing
from tests.model.records import Brief, Consumer, Held, Run

AHEAD = 2
"""How many times its limit a backfill has queued and running."""

FAILED = ("failed",)
UNDONE = (*FAILED, "cancelled")


@dataclass(eq=False)
class Item:
    """One planned key: skipped, ready, started with its run, or ended."""

    key: str
    state: str = "ready"
    run: Run | None = None


@dataclass(eq=False, repr=False)
class Backfill(Brief):
    """`items` in the order in which they start; a run takes `size` of them, or all; `limit` may run."""

    consumer: Consumer
    items: list[Item]
    size: int | None
    limit: int
    is_paused: bool = False
    is_cancelled: bool = False
    is_completed: bool = False
    runs: list[Run] = field(default_factory=list)

    def of(self, *states: str) -> list[Item]:
        return [item for item in self.items if item.state in states]

    @property
    def open(self) -> list[Item]:
        return self.of("ready", "started")

    @property
    def is_over(self) -> bool:
        return self.is_completed or self.is_cancelled

    def __repr__(self) -> str:
        return f"backfill of {self.consumer.name}: {[(item.key, item.state) for item in self.items]}"


class Backfills(Filing):
    """`now` is set by whoever drives it."""

    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self.backfills: list[Backfill] = []

    def plan(self, consumer: Consumer, keys: Collection[str]) -> dict[str, str]:
        """What becomes of each of `keys` if it is asked for; nothing of any if one cannot be a key."""
        if not all(judgement.takes(consumer, key) for key in keys):
            return {}
        return {key: "ready" if self._runs_now(consumer, key) else "skipped" for key in keys}

    def start(
        self, consumer: Consumer, plan: dict[str, str], order: Sequence[str], size: int | None, limit: int
    ) -> None:
        """:param order: that of the keys, which is a matter of their dates."""
        self.backfills.append(Backfill(consumer, [Item(key, plan[key]) for key in order], size, limit))

    def advance(self) -> None:
        """Whatever can go on does: nothing has to be woken."""
        for each in self.backfills:
            while not each.is_completed and self._advance(each):
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
                run.state = "cancelled"
        backfill.is_paused = backfill.is_cancelled = True
        self._advance(backfill)
        return True

    def retry_backfill(self, backfill: Backfill) -> bool:
        return self._open_again(backfill, FAILED)

    def _runs_now(self, consumer: Consumer, key: str) -> bool:
        """Neither in progress nor without what it needs."""
        ahead = [item.key for each in self._of(consumer) for item in each.open]
        under_way = [run for run in self.runs if run.consumer.name == consumer.name and run.is_under_way]
        if key in ahead or any(key in run.keys for run in under_way):
            return False
        return judgement.is_complete(self._as_if_opened(consumer, key), self)

    def _as_if_opened(self, consumer: Consumer, key: str) -> Held:
        """A held run that has counted every upstream key that has data and leads to `key`."""
        held = Held(consumer, key, 1, self.now, self.now)
        for asset, mapper in consumer.mappers.items():
            for upstream in self.known(asset):
                if judgement.feeds(mapper, upstream, key):
                    held.counted[asset, upstream] = self.partitions[asset][upstream].data
        return held

    def _of(self, consumer: Consumer) -> list[Backfill]:
        return [each for each in self.backfills if each.consumer.name == consumer.name]

    def _advance(self, backfill: Backfill) -> bool:
        """Whether it should be looked at once more."""
        for item in backfill.of("started"):
            if item.run and not item.run.is_under_way:
                item.state = self._outcome(item.run, item.key)
        refused = False
        if backfill.is_cancelled:
            for item in backfill.of("ready"):
                item.state = "cancelled"
        elif not backfill.is_paused:
            refused = self._launch(backfill)
        backfill.is_completed = not backfill.open
        return refused

    def _outcome(self, run: Run, key: str) -> str:
        if run.state != "success":
            return run.state
        if key in run.failed_keys:
            return "failed"
        written = {event.key for event in self.events if event.run is run}
        is_written = key in written if run.range else bool(written)
        return "done" if is_written or not run.consumer.writes else "skipped"

    def _launch(self, backfill: Backfill) -> bool:
        consumer = self.consumers[backfill.consumer.name]
        size = backfill.size or len(backfill.items)
        room = AHEAD * backfill.limit - sum(map(self._is_ahead, backfill.runs))
        coming = backfill.of("ready")[: max(0, room) * size]
        coming = [item for item in coming if not self._is_adopted(item, consumer)]
        refused = [item for item in coming if not judgement.takes(consumer, item.key)]
        for item in refused:
            item.state = "failed"
        coming = [item for item in coming if item not in refused]
        for at in range(0, len(coming), size):
            backfill.runs.append(self._begin(consumer, coming[at : at + size]))
        return bool(refused)

    def _is_ahead(self, run: Run) -> bool:
        could = run.state == "queued" and (run.run_after is None or run.run_after <= self.now)
        return run.state == "running" or could

    def _is_adopted(self, item: Item, consumer: Consumer) -> bool:
        """A run of that key that is under way does it."""
        others = [run for run in self.runs if run.consumer.name == consumer.name and item.key in run.keys]
        if under_way := [run for run in others if run.is_under_way]:
            item.state, item.run = "started", under_way[-1]
        return bool(under_way)

    def _begin(self, consumer: Consumer, items: Sequence[Item]) -> Run:
        """A run, in which the held run of its key ends; those of several keys make way for it."""
        keys = tuple(item.key for item in items)
        alone = keys[0] if len(keys) == 1 else None
        run = self._queue(consumer, alone, "backfill", () if alone else keys)
        dates = [date for key in keys if (date := judgement.date_of(consumer, key))]
        run.run_after = max([self.now, *dates])
        for item in items:
            item.state, item.run = "started", run
        for held in self._held_of(consumer, keys if consumer.mappers else ()):
            if alone:
                self._close(held, run)
            else:
                held.state, held.judge_at = "superseded", None
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
        ended = backfill.of(*states)
        for item in ended:
            item.state, item.run = "ready", None
        if ended:
            backfill.is_paused = backfill.is_cancelled = backfill.is_completed = False
        return bool(ended)
