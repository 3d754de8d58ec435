"""Counts arrivals into held runs: locks the open one or opens it, and counts what is there already."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from django.db.models import Max, Q

from core import bulk
from core.models import ConsumedEvent, Dag, HeldRun, Partition, ReceivedKey
from scheduling import listening
from scheduling.algebra.errors import PartitionError
from scheduling.listening import UNKEYED, BrokenDefinition, DagListening
from scheduling.mapping import Arrival

Name = tuple[int, str]
"""A Dag's primary key and a downstream key: what at most one open held run has."""


RECEIVED = ("held_run_id", "asset_id", "key", "is_fresh", "received_at")

Wanted = defaultdict[int, defaultdict[str, set[HeldRun]]]
"""By asset and upstream key: the new held runs that would count it."""


def file(arrivals: Sequence[Arrival], now: datetime) -> list[HeldRun]:
    """Count `arrivals` and mark their held runs to be judged. Call inside a transaction.

    The rows stay locked until it ends, so nothing is counted into a held run that fires meanwhile: whoever
    comes second finds it closed and opens the next round.
    """
    dags = {arrival.dag.pk: arrival.dag for arrival in arrivals}
    rows = _lock_or_open({(arrival.dag.pk, arrival.key) for arrival in arrivals}, dags, now)
    arrivals = uncounted(arrivals)
    rows = _with_arrivals(rows, arrivals)
    _fill([row for row in rows.values() if row.filled_at is None], dags, now)
    _receive(arrivals, rows)
    _consume((rows[arrival.dag.pk, arrival.key].pk, arrival.event.pk) for arrival in arrivals)
    touched = [row.pk for row in rows.values()]
    HeldRun.objects.filter(pk__in=touched).update(judge_after=now, last_event_at=now, filled_at=now)
    return list(rows.values())


def uncounted(arrivals: Sequence[Arrival]) -> list[Arrival]:
    """`arrivals` without those whose event a closed held run of the same Dag and key has counted.

    That is so when the held run was opened and fired between the recording of the event and its mapping: the
    partition had its data by then. Counting it again would be a late key that is not late.
    """
    counted = ConsumedEvent.objects.filter(event__in=[arrival.event.pk for arrival in arrivals]).exclude(
        held_run__state=HeldRun.State.HELD
    )
    spent = set(counted.values_list("held_run__dag_id", "held_run__partition_key", "event_id"))
    return [each for each in arrivals if (each.dag.pk, each.key, each.event.pk) not in spent]


def lock(names: Collection[Name]) -> dict[Name, HeldRun]:
    """The open held runs of those names, locked in the order of names until the transaction ends."""
    return _locked(sorted(names))


def open_filled(names: Collection[Name], dags: dict[int, Dag], now: datetime) -> dict[Name, HeldRun]:
    """The open held run of each name, locked; one that was not there is opened and counts what is there."""
    rows = _lock_or_open(set(names), dags, now)
    opened = [row for row in rows.values() if row.filled_at is None]
    _fill(opened, dags, now)
    HeldRun.objects.filter(pk__in=[row.pk for row in opened]).update(filled_at=now)
    return rows


def _with_arrivals(rows: dict[Name, HeldRun], arrivals: Sequence[Arrival]) -> dict[Name, HeldRun]:
    """`rows` that something arrives for; the others, if just opened, are taken away again."""
    wanted = {(arrival.dag.pk, arrival.key) for arrival in arrivals}
    idle = [row.pk for name, row in rows.items() if name not in wanted and row.filled_at is None]
    HeldRun.objects.filter(pk__in=idle).delete()
    return {name: row for name, row in rows.items() if name in wanted}


def _receive(arrivals: Sequence[Arrival], rows: dict[Name, HeldRun]) -> None:
    received = {}
    for arrival in arrivals:
        row, event = rows[arrival.dag.pk, arrival.key], arrival.event
        name = (row.pk, event.asset_id, event.partition_key or UNKEYED)
        received[name] = (*name, True, event.timestamp)
    fresh = bulk.Replace(("held_run_id", "asset_id", "key"), ("is_fresh", "received_at"))
    bulk.insert(ReceivedKey, RECEIVED, list(received.values()), fresh)


def _lock_or_open(names: set[Name], dags: dict[int, Dag], now: datetime) -> dict[Name, HeldRun]:
    """The open held run of each name, locked. Rows are opened and locked in the order of their names."""
    found: dict[Name, HeldRun] = {}
    while missing := sorted(names - found.keys()):
        found |= _locked(missing)
        absent = [name for name in missing if name not in found]
        if not absent:
            break
        HeldRun.objects.bulk_create(_next_rounds(absent, dags, now), ignore_conflicts=True, batch_size=1000)
        # Not there even now: another worker opened it and it fired in between. Once more.
        found |= _locked(absent)
    return found


def _locked(names: Sequence[Name]) -> dict[Name, HeldRun]:
    rows = HeldRun.objects.held().filter(_any_of(names)).order_by("dag_id", "partition_key")
    return {(row.dag_id, row.partition_key): row for row in rows.select_for_update(no_key=True)}


def _next_rounds(names: Sequence[Name], dags: dict[int, Dag], now: datetime) -> list[HeldRun]:
    rounds = (
        HeldRun.objects.filter(_any_of(names))
        .values_list("dag_id", "partition_key")
        .annotate(last=Max("round"))
    )
    last = {(dag_id, key): number for dag_id, key, number in rounds}
    heard = listening.of_dags({dags[dag_id] for dag_id, _ in names})
    return [
        HeldRun(
            dag_id=dag_id,
            partition_key=key,
            partition_date=_date(heard[dag_id], key),
            round=last.get((dag_id, key), 0) + 1,
            opened_at=now,
            last_event_at=now,
        )
        for dag_id, key in names
    ]


def _date(heard: DagListening | BrokenDefinition, key: str) -> datetime | None:
    """The one instant that the mappers agree on; None if they have none or several."""
    if isinstance(heard, BrokenDefinition):
        return None
    dates = set()
    for mapper in heard.listening.mappers.values():
        try:
            dates.add(mapper.partition_date(key))
        except PartitionError:
            continue
    dates.discard(None)
    return dates.pop() if len(dates) == 1 else None


def _fill(rows: Sequence[HeldRun], dags: dict[int, Dag], now: datetime) -> None:
    """Completeness is a property of the data: count the upstream partitions that are there already.

    They are those a mapper can enumerate, and those that the round before had counted.
    """
    if not rows:
        return
    wanted = _counted_before(rows)
    heard = listening.of_dags({dags[row.dag_id] for row in rows})
    for row in rows:
        answer = heard[row.dag_id]
        if not isinstance(answer, DagListening):
            continue
        for asset_id in answer.leaf_of:
            for key in _upstream_keys(answer, asset_id, row.partition_key):
                wanted[asset_id][key].add(row)
    found = _found(wanted)
    there = [(row.pk, part.asset_id, part.key, row.round == 1, part.data_at or now) for row, part in found]
    bulk.insert(ReceivedKey, RECEIVED, there, bulk.Ignore())
    _consume((row.pk, part.last_event_id) for row, part in found if part.last_event_id)


def _counted_before(rows: Sequence[HeldRun]) -> Wanted:
    wanted: Wanted = defaultdict(lambda: defaultdict(set))
    later = {(row.dag_id, row.partition_key, row.round - 1): row for row in rows if row.round > 1}
    if later:
        before = ReceivedKey.objects.filter(
            held_run__in=HeldRun.objects.filter(_any_of((dag_id, key) for dag_id, key, _ in later))
        )
        names = ("held_run__dag_id", "held_run__partition_key", "held_run__round", "asset_id", "key")
        for dag_id, downstream, number, asset_id, key in before.values_list(*names):
            if row := later.get((dag_id, downstream, number)):
                wanted[asset_id][key].add(row)
    return wanted


def _upstream_keys(answer: DagListening, asset_id: int, key: str) -> tuple[str, ...]:
    try:
        return answer.mapper(asset_id).upstream_keys(key) or ()
    except PartitionError:
        return ()


def _found(wanted: Wanted) -> list[tuple[HeldRun, Partition]]:
    found = []
    for asset_id, by_key in wanted.items():
        keys = list(by_key)
        for start in range(0, len(keys), 5000):
            parts = Partition.objects.filter(
                asset_id=asset_id, key__in=keys[start : start + 5000], data_at__isnull=False
            ).only("asset_id", "key", "data_at", "last_event_id")
            found += [(row, part) for part in parts for row in by_key[part.key]]
    return found


def _consume(pairs: Iterable[tuple[int, int | None]]) -> None:
    bulk.insert(ConsumedEvent, ("held_run_id", "event_id"), list(pairs), bulk.Ignore())


def _any_of(names: Iterable[Name]) -> Q:
    by_dag: dict[int, list[str]] = defaultdict(list)
    for dag_id, key in names:
        by_dag[dag_id].append(key)
    condition = Q(pk__in=[])
    for dag_id, keys in by_dag.items():
        condition |= Q(dag_id=dag_id, partition_key__in=keys)
    return condition
