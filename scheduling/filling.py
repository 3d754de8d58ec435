"""Counts what is there already for held runs just opened: completeness is a property of the data."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.models import AssetEvent, Dag, HeldRun, Partition, ReceivedKey
from scheduling import listening, rounds
from scheduling.algebra.errors import PartitionError
from scheduling.listening import BrokenDefinition, DagListening
from scheduling.mapping import Recorded
from scheduling.tally import Place, Tally

Wanted = defaultdict[int, defaultdict[str, set[HeldRun]]]
"""By asset and upstream key: the new held runs that would count it."""

PORTION = 5000


@dataclass(frozen=True, slots=True)
class There:
    """An upstream partition that has data, and the event by which it came last."""

    asset_id: int
    key: str
    data_at: datetime
    event_id: int | None


def fill(rows: Sequence[HeldRun], dags: Mapping[int, Dag], *, even_if_one_is_enough: bool = False) -> Tally:
    """Count the upstream partitions that are there for `rows`, which this transaction opens. Reads only.

    They are those that a mapper can enumerate, and those that the round before had counted. A key is fresh
    unless a round before has fired with what it is now. Events that nobody has mapped yet are counted through
    their partitions here, and only here.

    :param even_if_one_is_enough: usually a Dag for which one key is enough looks for no others.
    """
    tally = Tally()
    heard = {
        dag_id: answer
        for dag_id, answer in _heard(rows, dags)
        if even_if_one_is_enough or needs_several(answer)
    }
    rows = [row for row in rows if row.dag_id in heard]
    if not rows:
        return tally
    found = there(rows, heard)
    for row, part, fresh in found:
        tally.add(row.pk, (part.asset_id, part.key), fresh, part.data_at)
    tally.events.update(((row.pk, part.event_id), None) for row, part, _ in found if part.event_id)
    unmapped = _unspent(_unmapped([(row, part) for row, part, _ in found]))
    tally.events.update((pair, None) for pair in unmapped)
    return tally


def there(rows: Sequence[HeldRun], heard: Mapping[int, DagListening]) -> list[tuple[HeldRun, There, bool]]:
    """The upstream partitions that `fill` counts for `rows`, and whether each is fresh. Reads only."""
    found = list(_found(_wanted(rows, heard)))
    spent = rounds.consumed_before(rows, {part.event_id for _, part in found if part.event_id})
    late = rounds.fired_before(rows) if spent or any(part.event_id is None for _, part in found) else set()
    return [(row, part, _is_fresh(row, part, spent, late)) for row, part in found]


def overtaken(came: Sequence[tuple[HeldRun, Recorded]], mapped: Collection[int]) -> Iterator[tuple[int, int]]:
    """(held run, event) for each older event of what `came` that another worker is about to map. Reads only.

    The partition had its data by then: once the held run has fired, such an event is not late.

    :param mapped: the primary keys of those that are being mapped here.
    """
    places: dict[int, defaultdict[str | None, list[tuple[HeldRun, int]]]] = {}
    for row, event in came:
        by_key = places.setdefault(event.asset_id, defaultdict(list))
        by_key[event.partition_key].append((row, event.pk))
    found = [
        (row, pk)
        for asset_id, by_key in places.items()
        for key, pk in _waiting(asset_id, by_key)
        if pk not in mapped
        for row, newer in by_key[key]
        if pk < newer
    ]
    yield from _unspent(found)


def needs_several(heard: DagListening) -> bool:
    """Whether more than one key is needed to start: only then is it worth looking for what is there."""
    return not (heard.takes_keyless or heard.listening.starts_with_one_key())


def there_for(dag: Dag, heard: DagListening, key: str) -> dict[int, list[str]]:
    """The upstream keys, by asset, that `fill` would count for a held run of `key` opened now. Reads only."""
    wanted: dict[int, set[str]] = {asset_id: set() for asset_id in heard.leaf_of}
    if not needs_several(heard):
        return {asset_id: [] for asset_id in wanted}
    before = HeldRun.objects.filter(dag=dag, partition_key=key).order_by("-round")[:1]
    for asset_id, each in ReceivedKey.objects.filter(held_run__in=list(before)).values_list(
        "asset_id", "key"
    ):
        if _feeds(heard, asset_id, each, key):
            wanted[asset_id].add(each)
    for asset_id, keys in wanted.items():
        keys.update(_upstream_keys(heard, asset_id, key))
    return {asset_id: _that_are_there(asset_id, keys) for asset_id, keys in wanted.items()}


def gone(places: Iterable[Place]) -> set[Place]:
    """Those of `places` whose partitions have no data any more."""
    by_asset: dict[int, list[str]] = defaultdict(list)
    for asset_id, key in places:
        by_asset[asset_id].append(key)
    found: set[Place] = set()
    for asset_id, keys in by_asset.items():
        for portion in _portions(keys):
            empty = Partition.objects.filter(asset_id=asset_id, key__any=portion, data_at=None)
            found.update((asset_id, key) for key in empty.values_list("key", flat=True))
    return found


def _that_are_there(asset_id: int, keys: Iterable[str]) -> list[str]:
    found: list[str] = []
    for portion in _portions(sorted(keys)):
        parts = Partition.objects.filter(asset_id=asset_id, key__any=portion, data_at__isnull=False)
        found += parts.order_by("key").values_list("key", flat=True)
    return found


def _heard(rows: Iterable[HeldRun], dags: Mapping[int, Dag]) -> Iterator[tuple[int, DagListening]]:
    for dag_id, answer in listening.of_dags(dags[dag_id] for dag_id in {row.dag_id for row in rows}).items():
        if not isinstance(answer, BrokenDefinition):
            yield dag_id, answer


def _is_fresh(row: HeldRun, part: There, spent: Collection[tuple[int, int]], late: Collection[int]) -> bool:
    if part.event_id is None:  # pruned: it is older than anything that matters
        return row.pk not in late
    return (row.pk, part.event_id) not in spent


def _wanted(rows: Sequence[HeldRun], heard: Mapping[int, DagListening]) -> Wanted:
    wanted: Wanted = defaultdict(lambda: defaultdict(set))
    for row, asset_id, key in _counted_before(rows):
        if _feeds(heard[row.dag_id], asset_id, key, row.partition_key):
            wanted[asset_id][key].add(row)
    for row in rows:
        answer = heard[row.dag_id]
        for asset_id in answer.leaf_of:
            for key in _upstream_keys(answer, asset_id, row.partition_key):
                wanted[asset_id][key].add(row)
    return wanted


def _counted_before(rows: Iterable[HeldRun]) -> Iterator[tuple[HeldRun, int, str]]:
    """What the round before each of `rows` had counted: the held run, the asset and the key."""
    later = {(row.dag_id, row.partition_key, row.round - 1): row for row in rows if row.round > 1}
    if not later:
        return
    before = ReceivedKey.objects.filter(
        held_run__in=HeldRun.objects.filter(rounds.any_of((dag_id, key) for dag_id, key, _ in later))
    )
    names = ("held_run__dag_id", "held_run__partition_key", "held_run__round", "asset_id", "key")
    for *name, asset_id, key in before.values_list(*names):
        if row := later.get(tuple(name)):
            yield row, asset_id, key


def _upstream_keys(heard: DagListening, asset_id: int, downstream: str) -> Iterable[str]:
    mapper = heard.mapper(asset_id)
    if mapper.needs_known:
        known = Partition.objects.filter(asset=asset_id, data_at__isnull=False)
        keys = known.values_list("key", flat=True).iterator()
        return [key for key in keys if _feeds(heard, asset_id, key, downstream)]
    try:
        return mapper.upstream_keys(downstream) or ()
    except PartitionError:
        return ()


def _feeds(heard: DagListening, asset_id: int, key: str, downstream: str) -> bool:
    """Whether an upstream key maps to a downstream one, as the Dag listens now."""
    try:
        return asset_id in heard.leaf_of and downstream in heard.mapper(asset_id).to_downstream(key)
    except PartitionError:
        return False


def _found(wanted: Wanted) -> Iterator[tuple[HeldRun, There]]:
    for asset_id, by_key in wanted.items():
        for keys in _portions(by_key):
            parts = Partition.objects.filter(asset_id=asset_id, key__any=keys, data_at__isnull=False)
            for key, data_at, event_id in parts.values_list("key", "data_at", "last_event_id"):
                part = There(asset_id, key, data_at, event_id)  # type: ignore[arg-type]  # it has data
                for row in by_key[key]:
                    yield row, part


def _unspent(pairs: Iterable[tuple[HeldRun, int]]) -> Iterator[tuple[int, int]]:
    """`pairs`, by primary key, without those whose event a round before has counted."""
    pairs = list(pairs)
    late = [event_id for row, event_id in pairs if row.round > 1]
    spent = rounds.spent(late) if late else ()
    for row, event_id in pairs:
        if (row.dag_id, row.partition_key, event_id) not in spent:
            yield row.pk, event_id


def _unmapped(found: Iterable[tuple[HeldRun, There]]) -> Iterator[tuple[HeldRun, int]]:
    """(held run, event) for the events of what was found that wait to be mapped."""
    by_place: Wanted = defaultdict(lambda: defaultdict(set))
    for row, part in found:
        by_place[part.asset_id][part.key].add(row)
    for asset_id, by_key in by_place.items():
        for key, event_id in _waiting(asset_id, by_key):
            yield from ((row, event_id) for row in by_key[key or ""])


def _waiting(asset_id: int, keys: Collection[str | None]) -> Iterator[tuple[str | None, int]]:
    """(key, event) for the events of some keys of an asset that wait to be mapped; `None` for none."""
    waiting = AssetEvent.objects.unrouted().filter(asset_id=asset_id).values_list("partition_key", "pk")
    if None in keys:
        yield from waiting.filter(partition_key=None)
    for portion in _portions(key for key in keys if key is not None):
        yield from waiting.filter(partition_key__any=portion)


def _portions(keys: Iterable[str]) -> Iterator[list[str]]:
    listed = list(keys)
    for start in range(0, len(listed), PORTION):
        yield listed[start : start + PORTION]
