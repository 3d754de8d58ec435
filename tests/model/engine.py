"""The engine, driven through its real functions."""

from datetime import timedelta

from core.models import AssetEvent, Backfill, DagRun, HeldRun
from scheduling import (
    backfills,
    claims,
    corrections,
    events,
    holds,
    retention,
    retries,
    runs,
    ticks,
    timeouts,
    turns,
    wiping,
)
from scheduling.algebra.errors import InvalidKey, PartitionError
from scheduling.backfills import Order, Part, Reprocess
from scheduling.claims import Output
from scheduling.events import EventReport
from scheduling.retention import Ages
from tests.engine import world
from tests.model.defined import ALICE
from tests.model.plans import Ask, Plan
from tests.model.rows import Records, Rows

WORKER = "worker"
HOUR = timedelta(hours=1)


class Engine(Rows):
    """`now` is set by whoever drives it."""

    def held(self, name: str, key: str) -> HeldRun:
        return world.held(name, key)

    def run(self, place: int) -> DagRun:
        """The run that was made as the `place`th."""
        return DagRun.objects.select_related("dag").order_by("pk")[place]

    # What happens

    def record(self, asset: str, *keys: str | None) -> None:
        reports = [EventReport(world.asset(asset), key) for key in keys]
        events.register_events(reports, source=AssetEvent.Source.API, deed=ALICE, at=self.now)
        self._number()

    def wipe(self, asset: str, key: str) -> None:
        wiping.wipe(world.asset(asset), [key], deed=ALICE, at=self.now)

    def delete(self, number: int) -> bool:
        pk = next(pk for pk, other in self.numbers.items() if other == number)
        try:
            wiping.delete_event(AssetEvent.objects.get(pk=pk), deed=ALICE, at=self.now)
        except wiping.EventConsumed:
            return False
        return True

    def route(self, limit: int, at_once: int = holds.AT_ONCE) -> int:
        return holds.route_pending(now=self.now, limit=limit, at_once=at_once)

    def judge(self, limit: int) -> int:
        return holds.judge_due(now=self.now, limit=limit)

    def fire_now(self, name: str, key: str) -> None:
        holds.fire_now(self.held(name, key), deed=ALICE, at=self.now)

    def cancel_held(self, name: str, key: str) -> None:
        holds.cancel(self.held(name, key), deed=ALICE, at=self.now)

    def trigger(self, name: str, key: str, *, settles: bool) -> bool:
        try:
            runs.trigger(self.dag(name), runs.Ask(key, settle_held=settles), deed=ALICE, at=self.now)
        except InvalidKey:
            return False
        return True

    def plan(self, ask: Ask) -> Plan:
        """With the keys of each Dag the oldest first."""
        try:
            found = backfills.plan(self._ask(ask, Order.OLDEST), now=self.now)
        except PartitionError:
            return Plan()
        return Plan(
            {part.dag.dag_id: {key: _state(part, key) for key in part.order} for part in found.parts},
            {offer.dag.dag_id: set(offer.keys) for offer in found.offers},
        )

    def backfill(self, ask: Ask) -> bool:
        order = Order.NEWEST if ask.is_newest_first else Order.OLDEST
        try:
            backfills.start(self._ask(ask, order), deed=ALICE, at=self.now)
        except PartitionError:
            return False
        return True

    def advance(self) -> None:
        while backfills.advance(now=self.now):
            pass

    def steer(self, place: int, deed: str) -> bool:
        """The backfill that was started as the `place`th is paused, resumed, cancelled or tried again."""
        deeds = {
            "pause": backfills.pause,
            "resume": backfills.resume,
            "cancel": backfills.cancel,
            "retry": backfills.retry_failed,
        }
        try:
            deeds[deed](Backfill.objects.order_by("pk")[place], deed=ALICE, at=self.now)
        except PartitionError:
            return False
        return True

    def set_limit(self, place: int, limit: int) -> bool:
        try:
            backfills.set_limit(Backfill.objects.order_by("pk")[place], limit, deed=ALICE, at=self.now)
        except PartitionError:
            return False
        return True

    def tick(self) -> None:
        ticks.advance(now=self.now)

    def dispatch(self) -> list[int]:
        """The places of the runs whose turn it is."""
        places = {
            pk: place for place, pk in enumerate(DagRun.objects.order_by("pk").values_list("pk", flat=True))
        }
        return [places[pk] for pk in turns.dispatch(now=self.now)]

    def claim(self, place: int) -> bool:
        return claims.claim(self.run(place).pk, worker=WORKER, now=self.now) is not None

    def succeed(self, place: int, writes: tuple[str, ...]) -> None:
        claims.succeed(self.run(place), [Output(world.asset(name)) for name in writes], at=self.now)
        self._number()

    def give_up(self, place: int, writes: tuple[str, ...]) -> None:
        run = self.run(place)
        outputs = [Output(world.asset(name)) for name in writes]
        claims.succeed(run, outputs, at=self.now, failed_keys={run.keys[0]: "no file"})
        self._number()

    def fail(self, place: int, writes: tuple[str, ...]) -> None:
        retries.fail(self.run(place), "it failed", at=self.now)

    def mark(self, place: int, state: str) -> None:
        corrections.mark(self.run(place), DagRun.State(state), deed=ALICE, at=self.now)

    def delete_run(self, place: int) -> bool:
        try:
            corrections.delete(self.run(place), deed=ALICE, at=self.now)
        except runs.NotRunnable:
            return False
        return True

    def forget_keys(self, place: int) -> None:
        corrections.forget_keys([self.run(place)], deed=ALICE, at=self.now)

    def prune(self, age: timedelta) -> Records:
        """Take away what is older and not needed. What went."""
        before = self.records()
        retention.prune(Ages(runs=age, events=age), now=self.now)
        return before.without(self.records())

    def end_overdue(self) -> None:
        timeouts.end_overdue(now=self.now)

    def ask_to_stop(self, place: int) -> None:
        runs.cancel(self.run(place), deed=ALICE, at=self.now)

    def stop(self, place: int) -> None:
        claims.stop(self.run(place), at=self.now)

    def retry(self, place: int) -> None:
        corrections.retry(self.run(place), deed=ALICE, at=self.now)

    def lose(self, place: int) -> None:
        """The worker of this run is gone; those of the others are well."""
        lost = self.run(place)
        running = DagRun.objects.filter(state=DagRun.State.RUNNING)
        running.exclude(pk=lost.pk).update(lease_until=self.now + HOUR)
        running.filter(pk=lost.pk).update(lease_until=self.now - HOUR)
        claims.take_over_lost(now=self.now)

    def _ask(self, ask: Ask, order: Order) -> backfills.Ask:
        return backfills.Ask(
            tuple(self.dag(name) for name in ask.names),
            keys=ask.keys,
            reprocess=Reprocess.COMPLETED,
            order=order,
            is_chained=ask.is_chained,
            keys_per_run=ask.size,
            max_active_runs=ask.limit,
            with_upstream=ask.with_upstream,
            with_downstream=ask.with_downstream,
        )

    def _number(self) -> None:
        last = max(self.numbers, default=0)
        for pk in AssetEvent.objects.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True):
            self.numbers[pk] = len(self.numbers) + 1


def _state(part: Part, key: str) -> str:
    if key in part.skipped:
        return "skipped"
    return "waiting" if key in part.waiting else "ready"
