"""When is a key of an asset expected, and who owes it?

1. By the timetable of a Dag that writes the asset: the tick that makes the key, and as long as its runs take.
2. Else by the asset's history: as long after the partition date as its last partitions usually came.
3. Else nobody knows, and the answer says so.

Those times are past for a key that a later round of a held run lacks and that one before had counted when it
fired: it is expected from when the round was opened, which is when its first key came anew. What the rounds
before fired without never came, and is expected as ever.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property

from django.db.models import F, Max

from core.models import Asset, AssetEvent, Dag, DagRun, HeldRun, Outlet, Partition, Sensor
from core.newest import first_of_each
from scheduling import listening, usual
from scheduling.algebra.conditions import Leaf
from scheduling.algebra.cron_timetables import CronPartitionTimetable
from scheduling.algebra.errors import PartitionError

NO_TIME = "not known: the key has no time in it"

ANEW = "since when a key that this later round counts came anew"
REPORTS = 5
"""The newest partitions of an asset by whose reporters is told who reports it."""

_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Expected:
    """`at` is none where nobody knows; `words` say what it comes from, or why nobody knows.

    `dag` is the one whose tick makes the key. `is_unmade`: no tick will, as that is none of its Dag's.
    `is_never`: the definition of the asset has no such key.
    """

    at: datetime | None
    words: str
    dag: Dag | None = None
    is_unmade: bool = False
    is_never: bool = False


@dataclass(frozen=True, slots=True)
class Owed:
    """A key that is not there: when it was expected, which Dags write its asset, and how far they are.

    `sensors` are those that have reported its asset, where no Dag writes it.
    `attempt` is the last run for it of one of `dags`, `held` an open held run of one of them.
    """

    leaf: Leaf
    asset: Asset | None
    key: str
    expected: Expected
    dags: tuple[Dag, ...] = ()
    sensors: tuple[Sensor, ...] = ()
    attempt: DagRun | None = None
    held: HeldRun | None = None

    @property
    def untimed(self) -> str:
        """What to say where no time is expected: that it cannot come, or that nobody has begun to make it."""
        if self.expected.is_never:
            return self.expected.words
        return self.expected.words if self.is_unmade else "no expected time"

    @property
    def is_unmade(self) -> bool:
        """Whether no tick makes it, and nobody has begun to."""
        return self.expected.is_unmade and self.attempt is None and self.held is None

    @property
    def by(self) -> str:
        """Who owes it: the Dags that write its asset, or the sensors that report it."""
        sensors = (f"sensor {sensor.name}" for sensor in self.sensors)
        return ", ".join((*(dag.dag_id for dag in self.dags), *sensors))


class Expectations:
    """When keys of `assets` are expected: some queries, whatever the number of assets, Dags and keys."""

    def __init__(self, assets: Iterable[Asset]) -> None:
        self._assets = {asset.pk: asset for asset in assets}
        self.dags: dict[int, list[Dag]] = defaultdict(list)
        rows = Outlet.objects.filter(asset__in=self._assets, dag__is_active=True).select_related("dag")
        for row in rows.order_by("pk"):
            if row.dag not in self.dags[row.asset_id]:
                self.dags[row.asset_id].append(row.dag)

    def of(self, asset: Asset, key: str, *, anew: datetime | None = None) -> Expected:
        """When `key` of `asset` is expected; if it is to come anew, since when the round is open."""
        found = self._first(asset, key)
        return replace(found, at=anew, words=ANEW) if anew else found

    def _first(self, asset: Asset, key: str) -> Expected:
        ticks = [found for dag in self.dags[asset.pk] if (found := self._by_tick(dag, key))]
        if ticks:
            return min(ticks, key=lambda each: each.at or _NEVER)
        by = self._usual[asset.pk]
        if by.lag is None:
            return Expected(None, f"not known: {by.words}")
        date = by.date_of(key)
        return Expected(date + by.lag, by.words) if date else Expected(None, NO_TIME)

    def _by_tick(self, dag: Dag, key: str) -> Expected | None:
        try:
            timetable = listening.timetable_of(dag)
            tick = timetable.tick_of(key) if isinstance(timetable, CronPartitionTimetable) else None
        except PartitionError:
            return None
        if tick is None:
            return None
        began = dag.start_date or dag.created_at
        if tick.at < began:
            return _unmade(f"its tick passed before {dag} began at {_written(began)}")
        if dag.end_date and tick.at > dag.end_date:
            return _unmade(f"its tick comes after {dag} ends at {_written(dag.end_date)}")
        words = f"the tick of {dag}, and as long as its runs take"
        return Expected(tick.at + self._lengths[dag.pk], words, dag)

    @cached_property
    def sensors(self) -> dict[int, tuple[Sensor, ...]]:
        """Who has reported the newest partitions of each asset that no Dag writes. Three queries at most."""
        known = {sensor.name: sensor for sensor in Sensor.objects.active()}
        outside = [pk for pk in self._assets if known and not self.dags.get(pk)]
        newest = Partition.objects.order_by(F("partition_date").desc(nulls_last=True), "-pk")
        last = first_of_each(newest.filter(asset=pk)[:REPORTS] for pk in outside)
        told = Partition.objects.filter(pk__in=last, last_event__source=AssetEvent.Source.SENSOR)
        names: dict[int, set[str]] = defaultdict(set)
        for pk, by in told.values_list("asset", "last_event__created_by") if last else ():
            names[pk].add(by.removeprefix("sensor "))
        return {
            pk: tuple(known[name] for name in sorted(each) if name in known) for pk, each in names.items()
        }

    @cached_property
    def _lengths(self) -> dict[int, timedelta]:
        return usual.lengths({dag.pk for dags in self.dags.values() for dag in dags if dag.is_periodic})

    @cached_property
    def _usual(self) -> dict[int, usual.Usual]:
        return usual.lags(self._assets.values())


def never(asset: Asset, key: str) -> Expected:
    """What to say of a key that the definition of `asset` lacks; an empty one: of all that would do."""
    why = f"{asset.name} is to have no such key" if key else none_maps(asset.name)
    return Expected(None, f"cannot come: {why}", is_never=True)


def none_maps(name: str) -> str:
    return f"no key that {name} is to have maps here"


def newest_attempts(names: Iterable[tuple[int, str]]) -> dict[tuple[int, str], DagRun]:
    """The last run of each (Dag, key) that has one. One query."""
    dag_ids, keys = {dag_id for dag_id, _ in names}, {key for _, key in names}
    runs = DagRun.objects.filter(dag__in=dag_ids, partition_key__in=keys).order_by()
    last = runs.values("dag", "partition_key").annotate(last=Max("pk")).values("last")
    rows = DagRun.objects.filter(pk__in=last).select_related("dag") if keys else ()
    return {(row.dag_id, row.partition_key or ""): row for row in rows}


def with_attempts(owed: Sequence[Owed]) -> list[Owed]:
    """`owed` with what the Dags that owe them have tried. Two queries."""
    names = {(dag.pk, each.key) for each in owed for dag in each.dags}
    attempts, held = newest_attempts(names), _open(names)
    return [_with_attempt(each, attempts, held) for each in owed]


def _with_attempt(
    each: Owed, attempts: Mapping[tuple[int, str], DagRun], held: Mapping[tuple[int, str], HeldRun]
) -> Owed:
    runs = [run for dag in each.dags if (run := attempts.get((dag.pk, each.key)))]
    waiting = [row for dag in each.dags if (row := held.get((dag.pk, each.key)))]
    return replace(
        each,
        attempt=max(runs, key=lambda run: run.pk, default=None),
        held=waiting[0] if waiting else None,
    )


def _open(names: Iterable[tuple[int, str]]) -> dict[tuple[int, str], HeldRun]:
    dag_ids, keys = {dag_id for dag_id, _ in names}, {key for _, key in names}
    rows = HeldRun.objects.held().filter(dag__in=dag_ids, partition_key__in=keys) if keys else ()
    return {(row.dag_id, row.partition_key): row for row in rows}


def _unmade(why: str) -> Expected:
    return Expected(None, f"{why}: nobody makes it unless you trigger or backfill it", is_unmade=True)


def _written(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
