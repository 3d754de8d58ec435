"""The Dags of the engine: defined, redefined, paused."""

from datetime import datetime
from typing import Any

from core.models import Dag, Dependency, Pool
from scheduling import configuration, dynamic, holds, reach, refiling, ticks
from scheduling.algebra import specs
from scheduling.algebra.conditions import AssetLeaf
from scheduling.algebra.partitions import DynamicPartitions, StaticPartitions
from scheduling.algebra.timetables import (
    AssetTimetable,
    CronPartitionTimetable,
    PartitionedAssetTimetable,
    PartitionedAtRuntime,
)
from scheduling.configuration import pools
from scheduling.journal import Deed
from tests.engine import world
from tests.model.definitions import Definition
from tests.model.limits import Limit
from tests.model.records import ONCE, Attempts

ALICE = Deed(by="alice", via="web")
SHOPS = "shops"


class Defined:
    """`now` is set by whoever drives it."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def listen(
        self, name: str, definition: Definition, writes: tuple[str, ...], attempts: Attempts = ONCE
    ) -> None:
        dag = world.dag(name, _schedule(definition), writes=writes, **self._options(attempts))
        self._depend(dag, definition)

    def make(self, name: str, writes: tuple[str, ...], attempts: Attempts) -> None:
        """A Dag that only backfills start."""
        schedule = specs.dump(PartitionedAtRuntime())
        world.dag(name, schedule, writes=writes, **self._options(attempts))

    def keep(self, asset: str) -> None:
        """An asset of dynamic partitions."""
        world.asset(asset, partitions=specs.dump(DynamicPartitions(SHOPS)))

    def list_keys(self, asset: str, *keys: str) -> None:
        """The definition of an asset has these keys and no others."""
        row = world.asset(asset)
        row.partitions = specs.dump(StaticPartitions(keys))
        row.save()
        holds.judge_again(reach.counting_on([row.pk]), at=self.now)

    def add_keys(self, *keys: str) -> list[str]:
        return dynamic.add(SHOPS, keys, deed=ALICE, at=self.now)

    def remove_keys(self, *keys: str) -> list[str]:
        return dynamic.remove(SHOPS, keys, deed=ALICE, at=self.now)

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
            max_keys_per_run=None,
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

    def pause(self, name: str, paused: bool) -> None:
        configuration.set_paused(self.dag(name), paused, deed=ALICE, at=self.now)

    def limit(self, name: str, limit: Limit) -> None:
        pool = self._pool() if limit.slots else None
        fields = {"max_active_runs": limit.active, "pool": pool, "pool_slots": limit.slots or 1}
        Dag.objects.filter(dag_id=name).update(**fields)

    def resize_pool(self, slots: int) -> None:
        pools.change(self._pool(), slots=slots, deed=ALICE, at=self.now)

    def _pool(self) -> Pool:
        fields = {"slots": 3, "created_at": self.now, "updated_at": self.now}
        return Pool.objects.get_or_create(name="lane", defaults=fields)[0]

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


def _schedule(definition: Definition) -> dict[str, Any]:
    timetable = PartitionedAssetTimetable(
        definition.condition,
        partition_mapper_config={AssetLeaf(name): mapper for name, mapper in definition.mappers.items()},
        late=definition.late.value,
        settle=definition.settle,
    )
    return specs.dump(timetable)
