"""When is a key of an asset expected, and who owes it?

1. By the timetable of a Dag that writes the asset: the tick that makes the key, and as long as its runs take.
2. Else by the asset's history: as long after the partition date as its last partitions usually came.
3. Else nobody knows, and the answer says so.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import quantiles

from django.db.models import Max, Min

from core.models import Asset, AssetEvent, Dag, DagRun, HeldRun, Outlet, Partition
from scheduling import listening, states
from scheduling.algebra.conditions import Leaf
from scheduling.algebra.cron_timetables import CronPartitionTimetable
from scheduling.algebra.errors import PartitionError

LAST = 20
"""Runs and partitions of which it is asked how long they took to come."""

FEWEST = 3

_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Expected:
    """`at` is none where nobody knows; `words` say what it comes from, or why nobody knows.

    `dag` is the one whose tick makes the key.
    """

    at: datetime | None
    words: str
    dag: Dag | None = None


@dataclass(frozen=True, slots=True)
class Owed:
    """A key that is not there: when it was expected, which Dags write its asset, and how far they are.

    `attempt` is the last run for it of one of `dags`, `held` an open held run of one of them.
    """

    leaf: Leaf
    asset: Asset | None
    key: str
    expected: Expected
    dags: tuple[Dag, ...] = ()
    attempt: DagRun | None = None
    held: HeldRun | None = None

    @property
    def by(self) -> str:
        """Who owes it: the Dags that write its asset."""
        return ", ".join(dag.dag_id for dag in self.dags)


class Expectations:
    """When keys of assets are expected. What is asked once for each asset and Dag is kept."""

    def __init__(self, asset_ids: Iterable[int]) -> None:
        """One query, whatever the number of assets."""
        self.dags: dict[int, list[Dag]] = defaultdict(list)
        rows = Outlet.objects.filter(asset__in=set(asset_ids), dag__is_active=True).select_related("dag")
        for row in rows.order_by("pk"):
            if row.dag not in self.dags[row.asset_id]:
                self.dags[row.asset_id].append(row.dag)
        self._lengths: dict[int, timedelta] = {}
        self._histories: dict[int, Callable[[str], Expected]] = {}

    def of(self, asset: Asset, key: str) -> Expected:
        """When `key` of `asset` is expected."""
        ticks = [found for dag in self.dags[asset.pk] if (found := self._by_tick(dag, key))]
        if ticks:
            return min(ticks, key=lambda each: each.at or _NEVER)
        if asset.pk not in self._histories:
            self._histories[asset.pk] = _history(asset)
        return self._histories[asset.pk](key)

    def _by_tick(self, dag: Dag, key: str) -> Expected | None:
        try:
            timetable = listening.timetable_of(dag)
            tick = timetable.tick_of(key) if isinstance(timetable, CronPartitionTimetable) else None
        except PartitionError:
            return None
        if tick is None:
            return None
        if tick.at < (dag.start_date or dag.created_at):
            return Expected(None, f"not known: {dag} began after its tick of {_written(tick.at)}")
        if dag.end_date and tick.at > dag.end_date:
            return Expected(None, f"not known: {dag} ends before its tick of {_written(tick.at)}")
        words = f"the tick of {dag}, and as long as its runs take"
        return Expected(tick.at + self._length(dag), words, dag)

    def _length(self, dag: Dag) -> timedelta:
        """How long its runs usually take; nothing while none has ended well."""
        if dag.pk not in self._lengths:
            ended = DagRun.objects.filter(dag=dag, state=DagRun.State.SUCCESS).order_by("-pk")
            spans = ended.values_list("started_at", "ended_at")[:LAST]
            self._lengths[dag.pk] = _middle([end - start for start, end in spans if start and end])
        return self._lengths[dag.pk]


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


def _history(asset: Asset) -> Callable[[str], Expected]:
    """How keys of `asset` are expected by when its last partitions came. Two queries."""
    dated = Partition.objects.filter(asset=asset, partition_date__isnull=False, data_at__isnull=False)
    newest = dated.order_by("-partition_date").values_list("key", "partition_date")[:LAST]
    dates = {key: date for key, date in newest if date}
    events = AssetEvent.objects.filter(asset=asset, partition_key__in=dates).order_by()
    first = events.values_list("partition_key").annotate(Min("timestamp")) if dates else ()
    lags = sorted(at - dates[key] for key, at in first if key)
    if (unknown := _no_pattern(lags, sorted(dates.values()))) is not None:
        return lambda key: Expected(None, f"not known: {unknown}")
    usual, date_of = _middle(lags), states.dating(asset)

    def expected(key: str) -> Expected:
        date = date_of(key)
        if date is None:
            return Expected(None, "not known: the key has no time in it")
        return Expected(date + usual, f"the last {len(lags)} partitions came as long after their dates")

    return expected


def _no_pattern(lags: Sequence[timedelta], dates: Sequence[datetime]) -> str | None:
    """Why partitions that came so long after their dates say nothing about the next one; none if they do."""
    if len(lags) < FEWEST:
        return "no timetable makes it, and too few partitions with a time have come to tell by them"
    low, _, high = quantiles([lag.total_seconds() for lag in lags], n=4)
    apart = _middle([later - date for date, later in pairwise(dates)])
    if high - low > apart.total_seconds():
        return "no timetable makes it, and its partitions come at no regular time"
    return None


def _middle(spans: Sequence[timedelta]) -> timedelta:
    return sorted(spans)[len(spans) // 2] if spans else timedelta(0)


def _written(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
