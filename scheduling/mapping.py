"""Events to arrivals: which held runs an event counts for. Reads definitions, writes nothing."""

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from django.conf import settings
from django.db.models import QuerySet

from core import locks
from core.models import AssetEvent, Dag, Dependency, MappingProblem
from scheduling import listening, presence
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.keys import validate_key
from scheduling.listening import UNKEYED, BrokenDefinition, DagListening
from scheduling.runlog import storable

log = logging.getLogger(__name__)
Kind = MappingProblem.Kind


class NotMapped(PartitionError):
    """A Dag cannot count an upstream key; `kind` says in what way.

    `keys`: the downstream keys that it maps to where those are too many; it opens no held runs for them.
    """

    def __init__(self, sentence: str, kind: Kind, keys: tuple[str, ...] = ()) -> None:
        super().__init__(sentence)
        self.kind, self.keys = kind, keys


class NotAlone(Exception):
    """Events map to too many keys of Dags (`dag_ids`) of which others file events meanwhile.

    They would not see the held runs that those are about to open, nor those them: begin anew, alone.
    """

    def __init__(self, dag_ids: set[int]) -> None:
        super().__init__(dag_ids)
        self.dag_ids = dag_ids


class Event(NamedTuple):
    """What there is to know of an event that is mapped."""

    pk: int
    asset_id: int
    partition_key: str | None
    timestamp: datetime


Recorded = Event | AssetEvent


class Arrival(NamedTuple):
    """`event` counts for the held run of `dag` and `key`."""

    dag: Dag
    key: str
    event: Recorded


@dataclass(frozen=True, slots=True)
class Problem:
    """`dag` could not count `event`: the kind, and the reason as a sentence."""

    dag: Dag
    event: Recorded
    kind: Kind
    sentence: str


@dataclass(frozen=True, slots=True)
class Excess:
    """`event` maps to too many `keys` of `dag`: it opens nothing, and counts for what is open of them."""

    dag: Dag
    keys: tuple[str, ...]
    event: Recorded


@dataclass(slots=True)
class Mapped:
    arrivals: list[Arrival] = field(default_factory=list)
    excesses: list[Excess] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    woken: set[Dag] = field(default_factory=set)
    _first: dict[int, int | None] = field(default_factory=dict)

    def first_of(self, asset_id: int) -> int | None:
        """The first event of an asset that has no partitions, else None; asked once for all its events."""
        if asset_id not in self._first:
            is_there = presence.latest_events([asset_id])
            self._first[asset_id] = presence.first_event(asset_id) if is_there else None
        return self._first[asset_id]


def map_events(events: Sequence[Event], *, alone: Collection[int] = ()) -> Mapped:
    """What each of `events` means to each active Dag that listens to its asset, in a few queries.

    `woken` are Dags that wait for an asset without partitions, of which the first event has come.

    :param alone: Dags, by primary key, of which nobody else files events until this transaction ends.
    :raises NotAlone: if that has to be so for other Dags, too.
    """
    mapped = Mapped()
    locks.share_listening(_hearing(events).values_list("dag_id", flat=True), alone)
    for event, dag, heard in _heard(events):
        _map_one(event, dag, heard, mapped)
    if not (exceeded := {each.dag.pk for each in mapped.excesses}) <= set(alone):
        raise NotAlone(exceeded)
    return mapped


def refusals(events: Sequence[Recorded]) -> list[Problem]:
    """Which Dags cannot count which of `events`, which are on record. Reads only, in a few queries.

    Nothing is refused for it: the event stays, and what a mapper cannot read today it may read tomorrow.
    """
    found: list[Problem] = []
    for event, dag, heard in _heard(events):
        mapped = Mapped()  # one for each: nobody asks to which keys all of them map
        _map_one(event, dag, heard, mapped)
        found += mapped.problems
    return found


def map_for(dag: Dag, events: Iterable[Recorded]) -> Mapped:
    """What each of `events` means to `dag`, which listens to their assets."""
    return map_by(dag, listening.of_dags([dag])[dag.pk], events)


def map_by(dag: Dag, heard: DagListening | BrokenDefinition, events: Iterable[Recorded]) -> Mapped:
    """`map_for` for a Dag that listened as `heard` says."""
    mapped = Mapped()
    for event in events:
        _map_one(event, dag, heard, mapped)
    return mapped


def downstream_of(dag: Dag, heard: DagListening, asset_id: int, key: str) -> tuple[str, ...]:
    """The downstream keys for which an event of `key` counts, each once.

    :raises NotMapped: if `dag` cannot count it.
    """
    mapper = heard.mapper(asset_id)
    try:
        keys = tuple(dict.fromkeys(mapper.to_downstream(key)))
        for downstream in keys:
            if downstream != UNKEYED or not heard.takes_keyless:
                validate_key(downstream)
    except PartitionError as error:
        raise NotMapped(str(error), Kind.CANNOT_MAP) from error
    except Exception as error:  # a plug-in's mapper may raise anything; it stops this Dag only
        log.exception("the mapper of %s failed on key %r", dag.dag_id, key)
        sentence = f"the mapper failed on key {key!r}: {type(error).__name__}: {error}"
        raise NotMapped(sentence, Kind.CANNOT_MAP) from error
    limit = mapper.max_downstream_keys or settings.PARTITION_MAPPER_MAX_DOWNSTREAM_KEYS
    if len(keys) > limit:
        over = f"maps to {len(keys)} downstream keys, over the limit of {limit}: none was queued"
        raise NotMapped(f"key {key!r} {over}", Kind.TOO_MANY, keys)
    return keys


def _hearing(events: Sequence[Recorded]) -> "QuerySet[Dependency]":
    return Dependency.objects.filter(asset_id__in={each.asset_id for each in events}, dag__is_active=True)


def _heard(events: Sequence[Recorded]) -> Iterator[tuple[Recorded, Dag, DagListening | BrokenDefinition]]:
    """Each of `events` with each active Dag that listens to its asset, and how that listens."""
    dags: dict[int, list[Dag]] = {}
    for row in _hearing(events).select_related("dag").order_by("pk"):
        dags.setdefault(row.asset_id or 0, []).append(row.dag)
    heard = listening.of_dags({dag.pk: dag for group in dags.values() for dag in group}.values())
    for event in events:
        for dag in dags.get(event.asset_id, ()):
            yield event, dag, heard[dag.pk]


def _map_one(event: Recorded, dag: Dag, heard: DagListening | BrokenDefinition, mapped: Mapped) -> None:
    if isinstance(heard, BrokenDefinition):
        mapped.problems.append(Problem(dag, event, Kind.CANNOT_MAP, str(heard)))
    elif event.partition_key is None:
        if heard.takes_keyless:
            mapped.arrivals.append(Arrival(dag, UNKEYED, event))
        else:
            _map_without_key(event, dag, heard, mapped)
    elif heard.takes_keys:
        _map_key(event, event.partition_key, dag, heard, mapped)


def _map_without_key(event: Recorded, dag: Dag, heard: DagListening, mapped: Mapped) -> None:
    """It starts no Dag that is partition-aware; but the asset may be one that has no keys, and others do."""
    first = mapped.first_of(event.asset_id) if len(heard.leaf_of) > 1 else None
    if first is not None:
        if event.pk <= first:
            mapped.woken.add(dag)
    else:
        sentence = f"the event has no partition key, and {dag.dag_id} only counts events that have one"
        mapped.problems.append(Problem(dag, event, Kind.NO_KEY, sentence))


def _map_key(event: Recorded, key: str, dag: Dag, heard: DagListening, mapped: Mapped) -> None:
    try:
        keys = downstream_of(dag, heard, event.asset_id, key)
    except NotMapped as refusal:
        # A plug-in's mapper says what it likes.
        mapped.problems.append(Problem(dag, event, refusal.kind, storable(str(refusal))))
        if refusal.keys:
            mapped.excesses.append(Excess(dag, refusal.keys, event))
    else:
        mapped.arrivals.extend(Arrival(dag, downstream, event) for downstream in keys)
