"""Whether the upstream keys that a consumer's keys need have data: asked of `verdicts`, as held runs are."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime

from core.models import Dag, Partition
from scheduling import listening, presence
from scheduling.algebra import verdicts
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.mappers import Mapper
from scheduling.algebra.progress import Held
from scheduling.algebra.verdicts import Kind, Verdict
from scheduling.listening import DagListening

KeysOf = Mapping[int, Collection[str]]
"""Keys by the primary key of their asset."""

MANY = 20_000
"""From so many keys on, all keys of an asset that have data are read instead of asking about each."""

NONE: KeysOf = {}


@dataclass(frozen=True, slots=True)
class Facts:
    """What there is of the upstream: `counted`, per asset and downstream key, the keys that have data.

    `known`: all keys that have data, of assets whose mappers need them all. `present`: assets that have data
    and no partitions, and so are there for every key.
    """

    counted: Mapping[int, Mapping[str, Collection[str]]] = field(default_factory=dict)
    known: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    present: Set[int] = frozenset()


def judge(
    dag: Dag, keys: Sequence[str], *, now: datetime, coming: KeysOf = NONE, gone: KeysOf = NONE
) -> dict[str, Verdict]:
    """The verdict on each of `keys` of a consumer, as if a held run had just been opened for it.

    Reads only: two queries for each asset it listens to, however many keys there are, and one more.

    :param coming: upstream keys that count although they have no data yet.
    :param gone: upstream keys that do not count although they have.
    :raises BrokenDefinition: if the definition of the Dag cannot be read.
    """
    heard = listening.of_dag(dag)
    facts = _facts(heard, keys, coming, gone)
    return {key: _verdict(heard, key, facts, now) for key in keys}


def needs(mapper: Mapper, key: str) -> tuple[str, ...] | None:
    """The upstream keys that map to `key`; none where they cannot be enumerated."""
    if mapper.needs_known:
        return None
    try:
        return mapper.upstream_keys(key)
    except PartitionError:
        return ()


def mapped(mapper: Mapper, keys: Iterable[str]) -> dict[str, list[str]]:
    """The downstream keys of `keys`, each with those that lead to it. What cannot be mapped leads nowhere."""
    found: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        try:
            downstream = mapper.to_downstream(key)
        except PartitionError:
            continue
        for each in dict.fromkeys(downstream):
            found[each].append(key)
    return found


def _facts(heard: DagListening, keys: Sequence[str], coming: KeysOf, gone: KeysOf) -> Facts:
    counted: dict[int, Mapping[str, Collection[str]]] = {}
    known: dict[int, tuple[str, ...]] = {}
    for asset_id in heard.leaf_of:
        mapper = heard.mapper(asset_id)
        more, less = coming.get(asset_id, ()), frozenset(gone.get(asset_id, ()))
        if mapper.needs_known:
            there = [*_there(asset_id, None), *more]
            known[asset_id] = tuple(key for key in dict.fromkeys(there) if key not in less)
            counted[asset_id] = dict.fromkeys(keys, known[asset_id])
        else:
            counted[asset_id] = _counted(asset_id, mapper, keys, more, less)
    unseen = [asset_id for asset_id, by_key in counted.items() if not any(by_key.values())]
    present = presence.latest_events(unseen).keys() if unseen else frozenset()
    return Facts(counted, known, present)


def _counted(
    asset_id: int, mapper: Mapper, keys: Sequence[str], coming: Collection[str], gone: frozenset[str]
) -> dict[str, list[str]]:
    """By downstream key, the upstream keys that count for it."""
    wanted = {key: mapper_keys for key in keys if (mapper_keys := needs(mapper, key)) is not None}
    if len(wanted) < len(keys):
        there = {*_there(asset_id, None), *coming} - gone
        return mapped(mapper, sorted(there))
    every = {key for found in wanted.values() for key in found}
    there = (every.intersection(coming) | set(_there(asset_id, every))) - gone
    return {key: [each for each in found if each in there] for key, found in wanted.items()}


def _there(asset_id: int, keys: Collection[str] | None) -> Iterable[str]:
    """The keys of an asset that have data, the oldest first; of `keys`, if they are given."""
    rows = Partition.objects.filter(asset_id=asset_id, data_at__isnull=False)
    if keys is None or len(keys) >= MANY:
        every = rows.order_by("partition_date", "key").values_list("key", flat=True)
        return every if keys is None else [key for key in every if key in keys]
    several = list(keys)
    found: list[str] = []
    for start in range(0, len(several), 5000):
        found += rows.filter(key__in=several[start : start + 5000]).values_list("key", flat=True)
    return found


def _verdict(heard: DagListening, key: str, facts: Facts, now: datetime) -> Verdict:
    held = Held(
        key=key,
        opened_at=now,
        last_event_at=now,
        received={
            heard.leaf_of[asset_id]: dict.fromkeys(counted.get(key, ()), True)
            for asset_id, counted in facts.counted.items()
        },
        known={heard.leaf_of[asset_id]: keys for asset_id, keys in facts.known.items()},
        present={heard.leaf_of[asset_id] for asset_id in facts.present},
    )
    try:
        return verdicts.judge(heard.listening, held, now)
    except Exception as error:  # a plug-in's mapper or policy may raise anything; it stops this key only
        return Verdict(Kind.BROKEN, f"the definition failed: {type(error).__name__}: {error}")
