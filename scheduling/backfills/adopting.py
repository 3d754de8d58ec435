"""Which partitions of a backfill a run does that is there already: those are not run once more.

1. A partition that waited for nothing takes over what is under way for its key, whenever that was queued, and
   what somebody else has queued since its backfill was started.
2. One that waited takes over a run that read what its upstream wrote in this backfill. Where held runs count
   keys, what they counted says so and not the clock, which was read before a transaction waited for its turn.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter

from django.db.models import Exists, Max, OuterRef, Q

from core.models import (
    AssetEvent,
    Backfill,
    BackfillPartition,
    BackfillTarget,
    ConsumedEvent,
    Dag,
    DagRun,
    HeldRun,
    Partition,
)
from scheduling import listening
from scheduling.backfills import preceding, upstream
from scheduling.listening import BrokenDefinition, DagListening

UNDER_WAY = (DagRun.State.QUEUED, DagRun.State.RUNNING)
NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A run for `key` that may do. `round`: that of the held run which became it, if one did."""

    pk: int
    key: str
    queued_at: datetime
    round: int | None


def adopted(
    backfill: Backfill,
    target: BackfillTarget,
    targets: Sequence[BackfillTarget],
    rows: Sequence[BackfillPartition],
) -> dict[int, int]:
    """By partition, the run that does it already, for those of `rows` that have one; by primary keys.

    One of this backfill is that only if somebody has tried it again before its partition, and one that has
    failed is none: the partition would fail with it, however often it is tried again.

    :param targets: those of the backfill with their Dags.
    """
    unripe = {row.key: row.pk for row in rows if row.ripe_at is None}
    found = {unripe[key]: run_pk for key, run_pk in _under_way(target.dag, unripe) if key in unripe}
    left = {row.key: row for row in rows if row.pk not in found}
    candidates = _candidates(backfill, target.dag, left) if left else []
    asked = {each.key for each in candidates if each.round is not None and left[each.key].ripe_at}
    counted = _counted(target.dag, targets, sorted(asked)) if asked else {}
    for each in candidates:
        row, since = left[each.key], counted.get(each.key)
        if each.round is None or since is None:
            is_it = each.queued_at >= row.ripe_at if row.ripe_at else each.queued_at > backfill.created_at
        else:
            is_it = each.round >= since
        if is_it:
            found[row.pk] = each.pk
    return found


def _under_way(dag: Dag, keys: Collection[str]) -> Iterator[tuple[str, int]]:
    """(key, run) for the runs of `dag` that have not ended and are for one of `keys`, or for several keys."""
    runs_of_dag = DagRun.objects.filter(dag=dag, state__in=UNDER_WAY)
    alone = runs_of_dag.filter(partition_key__in=keys).values_list("partition_key", "pk")
    found = [(key or "", pk) for key, pk in alone]
    if dag.max_keys_per_run != 1:
        ranged = runs_of_dag.filter(partition_keys__isnull=False).values_list("partition_keys", "pk")
        found += [(key, pk) for several, pk in ranged for key in several or ()]
    yield from sorted(found, key=itemgetter(1))


def _candidates(backfill: Backfill, dag: Dag, keys: Collection[str]) -> list[_Candidate]:
    """Runs for one of `keys` that have not ended badly, the oldest first.

    Not those that have ended and were given another conf, nor those of which something was wiped since.
    """
    runs_of_dag = DagRun.objects.filter(dag=dag, partition_key__any=list(keys))
    others = runs_of_dag.filter(Q(state__in=UNDER_WAY) | ~Q(backfill=backfill))
    well = others.exclude(state__in=[DagRun.State.FAILED, DagRun.State.CANCELLED])
    with_round = well.annotate(round=Max("held_runs__round")).order_by("pk")
    rows = list(with_round.values_list("pk", "partition_key", "queued_at", "round", "state", "conf"))
    ended = {pk: conf for pk, *_, state, conf in rows if state not in UNDER_WAY}
    void = _wiped(ended) | {pk for pk, conf in ended.items() if conf != backfill.conf}
    return [
        _Candidate(pk, key or "", queued_at, number)
        for pk, key, queued_at, number, *_ in rows
        if pk not in void
    ]


def _wiped(ended: Collection[int]) -> set[int]:
    """The primary keys of those runs whose partitions have lost the data that they wrote."""
    gone = Partition.objects.filter(asset=OuterRef("asset"), key=OuterRef("partition_key"), data_at=None)
    wrote = AssetEvent.objects.filter(Exists(gone), source_run__any=list(ended))
    return {pk for pk in wrote.values_list("source_run_id", flat=True) if pk} if ended else set()


def _counted(dag: Dag, targets: Sequence[BackfillTarget], keys: Sequence[str]) -> dict[str, float]:
    """By key, the round by which all was counted that its upstream has written in this backfill.

    `NEVER` where no round that fired has counted some of it; keys for which nothing was written are left out.
    """
    heard = listening.of_dags([dag])[dag.pk]
    if isinstance(heard, BrokenDefinition):
        return {}
    runs = {
        key: {each.run_pk for each in some if each.run_pk is not None}
        for key, some in preceding.before(heard, preceding.sources_of(targets), keys).items()
    }
    written = _written(heard, runs)
    events = {pk for pks in written.values() for pk in pks}
    rounds = ConsumedEvent.objects.filter(
        event__any=list(events),
        held_run__dag=dag,
        held_run__partition_key__any=list(keys),
        held_run__state=HeldRun.State.FIRED,
    ).values_list("held_run__partition_key", "event_id", "held_run__round")
    first: dict[tuple[str, int], int] = {}
    for key, event, number in rounds:
        first[key, event] = min(number, first.get((key, event), number))
    return {key: max(first.get((key, pk), NEVER) for pk in pks) for key, pks in written.items()}


def _written(heard: DagListening, runs: Mapping[str, Collection[int]]) -> dict[str, list[int]]:
    """By downstream key, the events that lead to it, of the runs that make what it needs."""
    every = {run_pk for some in runs.values() for run_pk in some}
    events = AssetEvent.objects.filter(source_run__in=every, asset__in=heard.leaf_of).exclude(
        partition_key=None
    )
    by_place: dict[int, dict[str, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    for pk, asset_id, key, run_pk in events.values_list("pk", "asset_id", "partition_key", "source_run_id"):
        by_place[asset_id][key or ""].append((pk, run_pk or 0))
    found: dict[str, list[int]] = defaultdict(list)
    for asset_id, by_key in by_place.items():
        for downstream, several in upstream.mapped(heard.mapper(asset_id), by_key).items():
            made = runs.get(downstream, ())
            found[downstream] += [pk for key in several for pk, run_pk in by_key[key] if run_pk in made]
    return {key: pks for key, pks in found.items() if pks}
