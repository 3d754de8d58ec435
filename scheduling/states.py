"""The latest known state of a partition: does it have data, and how did the latest attempt end?"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from django.db.models import F, Q, QuerySet

from core import bulk
from core.models import Asset, AssetEvent, DagRun, FailedAttempt, Outlet, Partition
from scheduling import dating, endings

Attempt = Partition.Attempt
Some = TypeVar("Some")

DATA = ("partition_date", "data_at", "last_event_id", "extra", "updated_at")
"""What an event says of its partition."""

ATTEMPT = ("attempt", "attempt_run_id", "attempt_at")
SUCCESS = ("success_at",)
STALE = ("stale_since",)
"""What an event that no run wrote says besides."""

MOST_PAIRS = 5000
"""Partitions written in one statement."""


def record_events(events: Sequence[AssetEvent], at: datetime) -> None:
    """The partitions that `events` name have data now. Rows are locked in the order of their keys.

    An event that no run wrote is an attempt of its own, one that went well. All of `events` are of one run,
    or of none.
    """
    latest = {
        (event.asset_id, event.partition_key): event for event in events if event.partition_key is not None
    }
    run = next((event.source_run for event in events if event.source_run), None)
    _write_data([event for _, event in sorted(latest.items())], at, by_run=run is not None)
    if run:
        for pairs in _portions(sorted(latest)):
            _any_of(pairs).filter(stale_since__lte=run.queued_at).update(stale_since=None)


def record_attempt(
    run: DagRun, attempt: Attempt, at: datetime, keys: Iterable[tuple[int, str]] | None = None
) -> None:
    """`run` begins or ends an attempt at its partitions; one that began later keeps what it says.

    :param keys: (asset id, key) pairs; by default the run's own keys of every asset its Dag writes.
    """
    for pairs in _portions(sorted(set(pairs_of(run, run.keys) if keys is None else keys))):
        _record_pairs(run, attempt, at, pairs)


def lock(pairs: Collection[tuple[int, str]]) -> None:
    """Lock the partitions of (asset id, key) `pairs` at once, to write them one group after the other."""
    for some in _portions(sorted(pairs)):
        _locked(_any_of(some))


def pairs_of(run: DagRun, keys: Collection[str]) -> list[tuple[int, str]]:
    """(asset id, key) for each of `keys` and every asset that the Dag of `run` writes."""
    outlets = Outlet.objects.filter(dag_id=run.dag_id).values_list("asset_id", flat=True) if keys else ()
    return [(asset_id, key) for asset_id in outlets for key in keys]


def forget_attempt(run: DagRun, at: datetime) -> None:
    """Partitions that still say `run` is at work on them say again how the attempt before it ended.

    That is so after a cancellation, when its worker is lost, where a run that chose its keys itself did not
    write its own, and where its Dag has ceased to write an asset while it ran.
    """
    left = Partition.objects.filter(attempt_run=run, attempt=Attempt.RUNNING)
    _fall_back(_locked(left), at, besides=run)


def forget_runs(runs: Sequence[DagRun], at: datetime) -> None:
    """`runs` go off the record: partitions that say one runs or failed say how the one before it ended."""
    named = endings.named_by(runs)
    lock(named)
    for pairs in _portions(sorted(named)):
        rows = _any_of(pairs)
        endings.forget(rows, runs)
        shown = rows.filter(attempt_run__in=runs, attempt__in=[Attempt.RUNNING, Attempt.FAILED])
        _fall_back(list(shown.values_list("pk", flat=True)), at)


def take_back(run: DagRun) -> None:
    """How `run` ended is void: a person says what is recorded next."""
    for pairs in _portions(sorted(pairs_of(run, run.keys))):
        rows = _any_of(pairs)
        _locked(rows)
        if run.started_at:
            endings.take_back(rows, run, run.started_at)
            unnamed = rows.filter(attempt_run=None, attempt_at=run.started_at)
            unnamed.update(attempt=Attempt.NONE, attempt_at=None)


def take_data(asset: Asset, keys: Collection[str], at: datetime) -> None:
    """The partitions have no data and nothing to say of how it came; who is at work on them still is."""
    for some in _portions(sorted(keys)):
        pks = _locked(Partition.objects.filter(asset=asset, key__in=some))
        Partition.objects.filter(pk__in=pks).update(
            data_at=None,
            last_event=None,
            extra={},
            outcome=Attempt.NONE,
            outcome_run=None,
            outcome_at=None,
            success_at=None,
            stale_since=None,
        )
        FailedAttempt.objects.filter(partition__in=pks).delete()
        _fall_back(pks, at)


def make_stale(keys_of: Mapping[int, Collection[str]], at: datetime) -> None:
    """What runs have consumed for these keys, by the primary key of their Dag, is not the newest any more."""
    outlets = Outlet.objects.filter(dag__in=keys_of).values_list("dag_id", "asset_id") if keys_of else ()
    pairs = {(asset_id, key) for dag_id, asset_id in outlets for key in keys_of[dag_id]}
    for some in _portions(sorted(pairs)):
        Partition.objects.filter(pk__in=_locked(_any_of(some))).update(stale_since=at, updated_at=at)


def _record_pairs(run: DagRun, attempt: Attempt, at: datetime, pairs: Sequence[tuple[int, str]]) -> None:
    _open_partitions(run, at, pairs)
    pks = _locked(_any_of(pairs))
    rows = Partition.objects.filter(pk__in=pks)
    begun = run.started_at or at
    rows.filter(endings.older("attempt", run, begun)).update(
        attempt=attempt, attempt_run=run, attempt_at=begun, updated_at=at
    )
    if attempt is not Attempt.RUNNING:
        endings.record(run, attempt, at, pks)


def _fall_back(pks: Sequence[int], at: datetime, *, besides: DagRun | None = None) -> None:
    """Partitions say which of their attempts is the latest, now that the one they named is none."""
    for some in _portions(pks):
        _fall_some_back(Partition.objects.filter(pk__in=some), at, besides)


def _fall_some_back(rows: QuerySet[Partition], at: datetime, besides: DagRun | None) -> None:
    rows.update(attempt=F("outcome"), attempt_run=F("outcome_run"), attempt_at=F("outcome_at"), updated_at=at)
    at_work = DagRun.objects.filter(
        Q(partition_key__in=rows.values("key")) | Q(partition_keys__isnull=False),
        state=DagRun.State.RUNNING,
        dag__outlets__asset__in=rows.values("asset"),
    )
    if besides:
        at_work = at_work.exclude(pk=besides.pk)
    keys = set(rows.values_list("key", flat=True))
    for run in at_work.distinct().order_by("started_at", "pk"):
        written = Outlet.objects.filter(dag=run.dag_id).values("asset")
        mine = rows.filter(
            endings.older("attempt", run, run.started_at or at),
            asset__in=written,
            key__in=keys.intersection(run.keys),
        )
        mine.update(attempt=Attempt.RUNNING, attempt_run=run, attempt_at=run.started_at)


def _locked(rows: QuerySet[Partition]) -> list[int]:
    """Their primary keys; locked in the order of assets and keys, as everybody does."""
    return [row.pk for row in rows.order_by("asset_id", "key").select_for_update(no_key=True).only("pk")]


def _portions(whole: Sequence[Some]) -> Iterator[Sequence[Some]]:
    for start in range(0, len(whole), MOST_PAIRS):
        yield whole[start : start + MOST_PAIRS]


def _any_of(pairs: Iterable[tuple[int, str]]) -> QuerySet[Partition]:
    by_asset: dict[int, list[str]] = defaultdict(list)
    for asset_id, key in pairs:
        by_asset[asset_id].append(key)
    wanted = Q(pk__in=[])
    for asset_id, keys in by_asset.items():
        wanted |= Q(asset_id=asset_id, key__in=keys)
    return Partition.objects.filter(wanted)


def _open_partitions(run: DagRun, at: datetime, pairs: Sequence[tuple[int, str]]) -> None:
    """A row for each key that has none. The keys of a ranged run are dated one by one."""
    dates = {}
    if run.partition_keys is not None:
        assets = Asset.objects.filter(pk__in={asset_id for asset_id, _ in pairs})
        dates = {asset.pk: dating.of_asset(asset) for asset in assets}
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


def _write_data(events: Sequence[AssetEvent], at: datetime, *, by_run: bool) -> None:
    """How a run's attempt ended is for `record_attempt` to say, since an older one may end late.

    Whoever commits last need not have the newest event: a partition keeps what is newer.
    """
    rows = [
        (
            *(event.asset_id, event.partition_key),
            *(event.partition_date, event.timestamp, event.pk, event.extra, at),
            *(("", None, None) * 2 if by_run else (Attempt.SUCCESS, None, event.timestamp) * 2),
            None if by_run else event.timestamp,
            None,
        )
        for event in events
    ]
    bulk.insert(Partition, _COLUMNS, rows, _BY_RUN if by_run else _BY_OTHERS)


_COLUMNS = ("asset_id", "key", *DATA, *ATTEMPT, *endings.OUTCOME, *SUCCESS, *STALE)
_BY_RUN = bulk.Newest(_COLUMNS[:2], (("last_event_id", DATA),))
_BY_OTHERS = bulk.Newest(
    _COLUMNS[:2],
    (
        ("last_event_id", (*DATA, *STALE)),
        ("attempt_at", ATTEMPT),
        ("outcome_at", endings.OUTCOME),
        ("success_at", SUCCESS),
    ),
)
