"""The engine, driven through its real functions, and what its rows say, in the words of the model."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from core.models import (
    AssetEvent,
    Backfill,
    BackfillPartition,
    ConsumedEvent,
    Dag,
    DagRun,
    Dependency,
    HeldRun,
    MappingProblem,
    Partition,
    ReceivedKey,
)
from scheduling import (
    backfills,
    claims,
    configuration,
    events,
    holds,
    refiling,
    retries,
    runs,
    ticks,
    timeouts,
    wiping,
)
from scheduling.algebra import specs
from scheduling.algebra.conditions import AssetLeaf
from scheduling.algebra.errors import InvalidKey, PartitionError
from scheduling.algebra.timetables import (
    AssetTimetable,
    CronPartitionTimetable,
    PartitionedAssetTimetable,
    PartitionedAtRuntime,
)
from scheduling.backfills import Reprocess
from scheduling.claims import Output
from scheduling.events import EventReport
from scheduling.journal import Deed
from scheduling.runs import Ask
from tests.engine import world
from tests.model.definitions import Definition
from tests.model.records import ONCE, Attempts

ALICE = Deed(by="alice", via="web")
WORKER = "worker"
HOUR = timedelta(hours=1)


class Engine:
    """`dags` by name; `numbers` gives events, by primary key, the numbers that the model gives them."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.numbers: dict[int, int] = {}

    # Definitions

    def listen(
        self, name: str, definition: Definition, writes: tuple[str, ...], attempts: Attempts = ONCE
    ) -> None:
        dag = world.dag(name, _schedule(definition), writes=writes, **self._options(attempts))
        self._depend(dag, definition)

    def make(self, name: str, writes: str, attempts: Attempts) -> None:
        """A Dag that only backfills start."""
        schedule = specs.dump(PartitionedAtRuntime())
        world.dag(name, schedule, writes=[writes], **self._options(attempts))

    def listen_plainly(self, name: str, asset: str, *, accept: bool) -> None:
        leaf = AssetLeaf(asset)
        schedule = specs.dump(AssetTimetable(leaf, accept_partitioned=accept))
        dag = world.dag(name, schedule, max_active_runs=2, created_at=self.now)
        Dependency.objects.create(
            dag=dag, asset=world.asset(asset), leaf=specs.dump(leaf), created_at=self.now
        )

    def tick_with(self, name: str, timetable: CronPartitionTimetable, catchup: str, writes: str) -> None:
        world.dag(
            name,
            specs.dump(timetable),
            writes=[writes],
            catchup=catchup,
            max_active_runs=2,
            created_at=self.now,
        )
        ticks.advance(now=self.now)

    def redefine(self, name: str, definition: Definition) -> None:
        dag = self.dag(name)
        dag.schedule, dag.revision, dag.updated_at = _schedule(definition), dag.revision + 1, self.now
        dag.save()
        dag.dependencies.all().delete()
        self._depend(dag, definition)
        refiling.refile(dag, deed=ALICE, at=self.now)
        holds.judge_again([dag], at=self.now)

    def dag(self, name: str) -> Dag:
        return Dag.objects.get(dag_id=name)

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

    def pause(self, name: str, paused: bool) -> None:
        configuration.set_paused(self.dag(name), paused, deed=ALICE, at=self.now)

    def trigger(self, name: str, key: str, *, settles: bool) -> bool:
        try:
            runs.trigger(self.dag(name), Ask(key, settle_held=settles), deed=ALICE, at=self.now)
        except InvalidKey:
            return False
        return True

    def backfill(self, name: str, keys: Sequence[str], size: int | None, limit: int) -> dict[str, str]:
        """What becomes of the keys, in their order; nothing if it is refused."""
        ask = backfills.Ask(
            (self.dag(name),),
            keys=tuple(keys),
            reprocess=Reprocess.COMPLETED,
            keys_per_run=size,
            max_active_runs=limit,
        )
        try:
            made = backfills.start(ask, deed=ALICE, at=self.now)
        except PartitionError:
            return {}
        rows = BackfillPartition.objects.filter(target__backfill=made).order_by("position")
        return dict(rows.values_list("key", "state"))

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

    def tick(self) -> None:
        ticks.advance(now=self.now)

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

    def end_overdue(self) -> None:
        timeouts.end_overdue(now=self.now)

    def ask_to_stop(self, place: int) -> None:
        runs.cancel(self.run(place), deed=ALICE, at=self.now)

    def stop(self, place: int) -> None:
        claims.stop(self.run(place), at=self.now)

    def retry(self, place: int) -> None:
        runs.retry(self.run(place), deed=ALICE, at=self.now)

    def lose(self, place: int) -> None:
        """The worker of this run is gone; those of the others are well."""
        lost = self.run(place)
        running = DagRun.objects.filter(state=DagRun.State.RUNNING)
        running.exclude(pk=lost.pk).update(lease_until=self.now + HOUR)
        running.filter(pk=lost.pk).update(lease_until=self.now - HOUR)
        claims.take_over_lost(now=self.now)

    # What the rows say

    def runs(self) -> list[tuple[Any, ...]]:
        consumed = self._consumed()
        runs = DagRun.objects.order_by("pk").select_related("dag", "held_run")
        return [
            (
                *(run.dag.dag_id, tuple(run.keys), tuple(run.failed_keys), run.run_type, run.state),
                *(run.attempt, run.failures),
                frozenset(consumed.get(run.held_run.pk, ()) if hasattr(run, "held_run") else ()),
            )
            for run in runs
        ]

    def backfills(self) -> dict[int, dict[str, Any]]:
        found = {}
        for place, row in enumerate(Backfill.objects.order_by("pk")):
            items = BackfillPartition.objects.filter(target__backfill=row).values_list("key", "state")
            found[place] = {
                "paused": row.is_paused,
                "cancelled": row.cancelled_at is not None,
                "completed": row.completed_at is not None,
                "items": dict(items),
            }
        return found

    def open(self) -> dict[tuple[str, str], dict[str, Any]]:
        consumed, received = self._consumed(), self._received()
        return {
            (row.dag.dag_id, row.partition_key): {
                "round": row.round,
                "verdict": row.verdict,
                "judged at": row.judge_after,
                "received": received.get(row.pk, {}),
                "events": set(consumed.get(row.pk, ())),
            }
            for row in HeldRun.objects.held().select_related("dag")
        }

    def partitions(self) -> dict[tuple[str, str], tuple[str, bool, bool]]:
        return {
            (row.asset.name, row.key): (row.state, row.data_at is not None, row.is_stale)
            for row in Partition.objects.select_related("asset")
        }

    def problems(self) -> set[tuple[int, str]]:
        rows = MappingProblem.objects.values_list("event_id", "dag__dag_id")
        return {(self.numbers[pk], name) for pk, name in rows}

    def unrouted(self) -> set[int]:
        return {self.numbers[pk] for pk in AssetEvent.objects.unrouted().values_list("pk", flat=True)}

    def _options(self, attempts: Attempts) -> dict[str, Any]:
        return {
            "retries": attempts.retries,
            "retry_delay": attempts.delay,
            "retry_backoff": attempts.backoff,
            "run_timeout": attempts.timeout,
            "max_active_runs": 2,
            "max_keys_per_run": None,
            "created_at": self.now,
        }

    def _depend(self, dag: Dag, definition: Definition) -> None:
        for name, mapper in definition.mappers.items():
            Dependency.objects.create(
                dag=dag,
                asset=world.asset(name),
                leaf={"asset": name},
                mapper=specs.dump(mapper),
                created_at=self.now,
            )

    def _number(self) -> None:
        last = max(self.numbers, default=0)
        for pk in AssetEvent.objects.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True):
            self.numbers[pk] = len(self.numbers) + 1

    def _consumed(self) -> dict[int, list[int]]:
        consumed: dict[int, list[int]] = {}
        for held_run_id, event_id in ConsumedEvent.objects.values_list("held_run_id", "event_id"):
            consumed.setdefault(held_run_id, []).append(self.numbers[event_id])
        return consumed

    def _received(self) -> dict[int, dict[tuple[str, str], bool]]:
        received: dict[int, dict[tuple[str, str], bool]] = {}
        rows = ReceivedKey.objects.values_list("held_run_id", "asset__name", "key", "is_fresh")
        for held_run_id, name, key, is_fresh in rows:
            received.setdefault(held_run_id, {})[name, key] = is_fresh
        return received


def _schedule(definition: Definition) -> dict[str, Any]:
    timetable = PartitionedAssetTimetable(
        definition.condition,
        partition_mapper_config={AssetLeaf(name): mapper for name, mapper in definition.mappers.items()},
        late=definition.late.value,
        settle=definition.settle,
    )
    return specs.dump(timetable)
