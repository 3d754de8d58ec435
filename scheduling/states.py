"""The latest known state of a partition: does it have data, and how did the latest attempt end?"""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime

from django.db.models import Q

from core import bulk
from core.models import Asset, AssetEvent, BackfillPartition, Dag, DagRun, Outlet, Partition
from scheduling import dynamic, listening
from scheduling.algebra import specs
from scheduling.algebra.errors import PartitionError

Attempt = Partition.Attempt

DATA = ("partition_date", "data_at", "last_event_id", "extra", "is_stale", "updated_at")
"""What an event says of its partition."""

MOST_PAIRS = 5000
"""Partitions written in one statement."""


def record_events(events: Sequence[AssetEvent], at: datetime) -> None:
    """The partitions that `events` name have data now. Rows are locked in the order of their keys."""
    latest = {
        (event.asset_id, event.partition_key): event for event in events if event.partition_key is not None
    }
    rows = sorted(latest.items())
    _write_data([event for _, event in rows if event.source_run_id], at, by_run=True)
    _write_data([event for _, event in rows if not event.source_run_id], at, by_run=False)


def record_attempt(
    run: DagRun, attempt: Attempt, at: datetime, keys: Iterable[tuple[int, str]] | None = None
) -> None:
    """`run` begins or ends an attempt at its partitions; one that began later keeps what it says.

    :param keys: (asset id, key) pairs; by default the run's own keys of every asset its Dag writes.
    """
    pairs = sorted(set(pairs_of(run, run.keys) if keys is None else keys))
    for start in range(0, len(pairs), MOST_PAIRS):
        _record_pairs(run, attempt, at, pairs[start : start + MOST_PAIRS])


def pairs_of(run: DagRun, keys: Collection[str]) -> list[tuple[int, str]]:
    """(asset id, key) for each of `keys` and every asset that the Dag of `run` writes."""
    outlets = Outlet.objects.filter(dag_id=run.dag_id).values_list("asset_id", flat=True) if keys else ()
    return [(asset_id, key) for asset_id in outlets for key in keys]


def forget_attempt(run: DagRun, at: datetime, *, said: Sequence[Attempt] = (Attempt.RUNNING,)) -> None:
    """Partitions that still say `run` is at work on them say again how the attempt before it ended.

    That is so after a cancellation, and where a run that chose its keys itself did not write its own.

    :param said: what of `run` is forgotten; also that it failed, when it goes off the record.
    """
    left = Partition.objects.filter(attempt_run=run, attempt__in=said)
    pairs = list(left.values_list("asset_id", "key"))
    before = _attempts_before(run) if pairs else {}
    by_attempt: dict[Attempt, list[tuple[int, str]]] = {}
    for asset_id, key in pairs:
        by_attempt.setdefault(before.get(key, Attempt.NONE), []).append((asset_id, key))
    for attempt, same in by_attempt.items():
        record_attempt(run, attempt, at, keys=same)


def dating(asset: Asset) -> Callable[[str | None], datetime | None]:
    """How keys of `asset` are dated: by its own definition, or by the timetable of its producer.

    The function gives the instant at which the period that a key names starts; None for keys without time.
    """
    readers: list[Callable[[str], datetime | None]]
    if asset.partitions:
        readers = [dynamic.bound(specs.load(asset.partitions, "partitions")).partition_date]
    else:
        readers = _producers(asset)

    def date(key: str | None) -> datetime | None:
        for read in readers if key is not None else ():
            try:
                return read(key)
            except PartitionError:
                continue
        return None

    return date


def _producers(asset: Asset) -> list[Callable[[str], datetime | None]]:
    dags = Dag.objects.active().filter(outlets__asset=asset, is_partitioned=True).distinct()
    return [timetable.resolve for dag in dags if (timetable := listening.timetable_of(dag))]


def _record_pairs(run: DagRun, attempt: Attempt, at: datetime, pairs: Sequence[tuple[int, str]]) -> None:
    wanted = Q(pk__in=[])
    for asset_id in {asset_id for asset_id, _ in pairs}:
        wanted |= Q(asset_id=asset_id, key__in=[key for other, key in pairs if other == asset_id])
    _open_partitions(run, at, pairs)
    mine = Q(attempt_run=None) | Q(attempt_run_id__lte=run.pk)
    locked = (
        Partition.objects.filter(wanted & mine).order_by("asset_id", "key").select_for_update(no_key=True)
    )
    Partition.objects.filter(pk__in=[row.pk for row in locked.only("pk")]).update(
        attempt=attempt, attempt_run=run if attempt else None, updated_at=at
    )


def _open_partitions(run: DagRun, at: datetime, pairs: Sequence[tuple[int, str]]) -> None:
    """A row for each key that has none. The keys of a ranged run are dated one by one."""
    dates = {}
    if run.partition_keys is not None:
        assets = Asset.objects.filter(pk__in={asset_id for asset_id, _ in pairs})
        dates = {asset.pk: dating(asset) for asset in assets}
    Partition.objects.bulk_create(
        [
            Partition(
                asset_id=asset_id,
                key=key,
                partition_date=dates[asset_id](key) if dates else run.partition_date,
                updated_at=at,
            )
            for asset_id, key in pairs
        ],
        ignore_conflicts=True,
        batch_size=1000,
    )


def _attempts_before(run: DagRun) -> dict[str, Attempt]:
    """How the last attempt before `run` at each of its keys ended, in runs of one key or of a range."""
    ended = (DagRun.State.SUCCESS, DagRun.State.FAILED)
    alone = DagRun.objects.filter(dag=run.dag, partition_key__in=run.keys, state__in=ended)
    last = {
        key: (pk, state)
        for key, pk, state in alone.exclude(pk=run.pk)
        .order_by("pk")
        .values_list("partition_key", "pk", "state")
    }
    ranged = BackfillPartition.objects.filter(
        target__dag=run.dag, key__in=run.keys, run__partition_keys__isnull=False, run__state__in=ended
    ).exclude(run=run)
    for key, pk, state, outcome in ranged.order_by("run_id").values_list(
        "key", "run_id", "run__state", "state"
    ):
        if pk > last.get(key, (0, ""))[0]:
            last[key] = pk, Attempt.FAILED if outcome == BackfillPartition.State.FAILED else state
    return {key: Attempt(state) for key, (_, state) in last.items()}


def _write_data(events: Sequence[AssetEvent], at: datetime, *, by_run: bool) -> None:
    """How a run's attempt ended is for `record_attempt` to say, since an older one may end late."""
    attempt, change = ("", DATA) if by_run else (Attempt.SUCCESS, (*DATA, "attempt", "attempt_run_id"))
    rows = [
        (
            *(event.asset_id, event.partition_key, event.partition_date, event.timestamp),
            *(event.pk, event.extra, False, at, attempt, None),
        )
        for event in events
    ]
    columns = ("asset_id", "key", *DATA, "attempt", "attempt_run_id")
    bulk.insert(Partition, columns, rows, bulk.Replace(columns[:2], change))
