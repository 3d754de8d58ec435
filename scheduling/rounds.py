"""What held runs of one Dag and key have counted and fired, round after round."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from django.db.models import Exists, Max, OuterRef, Q

from core import bulk
from core.models import Asset, ConsumedEvent, Dag, HeldRun, Partition, ReceivedKey
from scheduling.listening import UNKEYED
from scheduling.mapping import Arrival

Name = tuple[int, str]
"""A Dag's primary key and a downstream key: what at most one open held run has."""

PORTION = 5000
"""Names that are asked about in one query."""

_OF_NAME = ("held_run__dag_id", "held_run__partition_key")


def any_of(names: Iterable[Name]) -> Q:
    """Held runs, or runs, of one of `names`."""
    by_dag: dict[int, list[str]] = defaultdict(list)
    for dag_id, key in names:
        by_dag[dag_id].append(key)
    alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for dag_id, keys in by_dag.items():
        alike[tuple(sorted(keys))].append(dag_id)
    condition = Q(pk__in=[])
    for some, dag_ids in alike.items():
        one = Q(dag_id=dag_ids[0]) if len(dag_ids) == 1 else Q(dag_id__in=dag_ids)
        condition |= one & Q(partition_key__any=some)
    return condition


def lock(names: Iterable[Name]) -> dict[Name, HeldRun]:
    """The open held runs of those names, locked in the order of names until the transaction ends."""
    found: dict[Name, HeldRun] = {}
    for some in _portions(sorted(names)):
        rows = HeldRun.objects.held().filter(any_of(some)).order_by("dag_id", "partition_key")
        locked = rows.select_for_update(no_key=True)
        found |= {(row.dag_id, row.partition_key): row for row in locked}
    return found


def are_open(names: Collection[Name]) -> bool:
    """Whether one of `names` is held now. Locks nothing."""
    return bool(names) and HeldRun.objects.held().filter(any_of(names)).exists()


def open_of(dags: Collection[Dag]) -> set[Name]:
    """What `dags` hold."""
    rows = HeldRun.objects.held().filter(dag__in=dags) if dags else HeldRun.objects.none()
    return set(rows.values_list("dag_id", "partition_key"))


def consume(pairs: Iterable[tuple[int, int]]) -> None:
    """Note which held run has counted which event, by primary keys."""
    bulk.insert(ConsumedEvent, ("held_run_id", "event_id"), list(pairs), bulk.Ignore())


def spent(event_ids: Iterable[int]) -> set[tuple[int, str, int]]:
    """(Dag, downstream key, event) for those of the events that a closed held run has counted."""
    counted = ConsumedEvent.objects.filter(event__any=list(event_ids)).exclude(
        held_run__state=HeldRun.State.HELD
    )
    return set(counted.values_list("held_run__dag_id", "held_run__partition_key", "event_id"))


def uncounted(arrivals: Sequence[Arrival]) -> list[Arrival]:
    """`arrivals` without those whose event a closed held run of the same Dag and key has counted.

    That is so when the held run was opened and fired between the recording of the event and its mapping: the
    partition had its data by then. Counting it again would be a late key that is not late.
    """
    counted = spent(arrival.event.pk for arrival in arrivals)
    return [each for each in arrivals if (each.dag.pk, each.key, each.event.pk) not in counted]


def fired_before(rows: Collection[HeldRun]) -> set[int]:
    """The primary keys of those of `rows` whose key has fired in a round before: they are late.

    Of rows that are not saved the numbers are whatever the caller gave them.
    """
    later = [row.pk for row in rows if row.round > 1 and not row._state.adding]
    return _fired_before(later) | _would_be_late([row for row in rows if row.round > 1 and row._state.adding])


def consumed_before(rows: Collection[HeldRun], event_ids: Iterable[int]) -> set[tuple[int, int]]:
    """(held run, event) for each of the events that a round before has consumed when it fired."""
    late = fired_before(rows)
    names = {(row.dag_id, row.partition_key): row.pk for row in rows if row.pk in late}
    if not names:
        return set()
    consumed = ConsumedEvent.objects.filter(event__any=list(event_ids), held_run__state=HeldRun.State.FIRED)
    found = consumed.values_list("held_run__dag_id", "held_run__partition_key", "event_id")
    return {(names[dag_id, key], event_id) for dag_id, key, event_id in found if (dag_id, key) in names}


def lost(rows: Collection[HeldRun]) -> dict[int, dict[int, list[str]]]:
    """What each of the saved `rows` has not, and a round before had counted when it fired: keys by asset.

    One query. It reads all that the rounds before had counted, and answers with what was wiped since.
    """
    names = {(row.dag_id, row.partition_key): row.pk for row in rows}
    found: dict[int, dict[int, list[str]]] = {row.pk: defaultdict(list) for row in rows}
    if not names:
        return found
    same = {name: OuterRef(name) for name in ("asset", "key", *_OF_NAME)}
    now = ReceivedKey.objects.filter(held_run__any=found, **same)
    before = HeldRun.objects.filter(any_of(names), state=HeldRun.State.FIRED)
    gone = ReceivedKey.objects.filter(~Exists(now), held_run__in=before).order_by("asset", "key")
    for *name, asset_id, key in gone.values_list(*_OF_NAME, "asset_id", "key").distinct():
        found[names[tuple(name)]][asset_id].append(key)
    return found


def uncount(rows: Collection[int], asset: Asset, keys: Sequence[str]) -> None:
    """Open held runs, by primary key, have received `keys` no more."""
    ReceivedKey.objects.filter(held_run__in=rows, asset=asset, key__in=keys).delete()
    named = Q(event__partition_key__in=keys)
    if UNKEYED in keys:
        named |= Q(event__partition_key=None)
    ConsumedEvent.objects.filter(named, held_run__in=rows, event__asset=asset).delete()


def drop_lost(rows: Collection[HeldRun | int]) -> set[int]:
    """The primary keys of those of `rows` that had counted what has no data; it is uncounted.

    Whoever counts a partition does not lock it, so it may have been wiped at the same moment. That shows when
    the held run is judged for the first time since, or when the wipe looks once more.
    """
    gone = Partition.objects.filter(asset=OuterRef("asset"), key=OuterRef("key"), data_at=None)
    lost = list(ReceivedKey.objects.filter(Exists(gone), held_run__in=rows).select_related("asset"))
    for each in lost:
        uncount([each.held_run_id], each.asset, [each.key])
    return {each.held_run_id for each in lost}


def last(names: Iterable[Name]) -> dict[Name, int]:
    """The number of the last round of each of `names` that has had one."""
    found = HeldRun.objects.filter(any_of(names)).values_list("dag_id", "partition_key")
    return {(dag_id, key): number for dag_id, key, number in found.annotate(last=Max("round"))}


def last_fired(names: Iterable[Name]) -> dict[Name, int]:
    """The primary key of the last held run of each of `names` that has fired."""
    found: dict[Name, int] = {}
    for some in _portions(sorted(names)):
        rows = HeldRun.objects.filter(any_of(some), state=HeldRun.State.FIRED).order_by("round")
        found |= {(dag_id, key): pk for pk, dag_id, key in rows.values_list("pk", "dag_id", "partition_key")}
    return found


def _portions(names: Sequence[Name]) -> Iterator[Sequence[Name]]:
    for start in range(0, len(names), PORTION):
        yield names[start : start + PORTION]


def _fired_before(later: list[int]) -> set[int]:
    if not later:
        return set()
    fired = HeldRun.objects.filter(
        dag=OuterRef("dag"), partition_key=OuterRef("partition_key"), state=HeldRun.State.FIRED
    )
    return set(HeldRun.objects.filter(Exists(fired), pk__any=later).values_list("pk", flat=True))


def _would_be_late(rows: Collection[HeldRun]) -> set[int]:
    names = {(row.dag_id, row.partition_key): row.pk for row in rows}
    if not names:
        return set()
    fired = HeldRun.objects.filter(any_of(names), state=HeldRun.State.FIRED).order_by()
    return {names[name] for name in fired.values_list("dag_id", "partition_key").distinct()}
