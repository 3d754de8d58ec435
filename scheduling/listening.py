"""Stored definitions as values: what a Dag's timetable is, how it listens to assets, what keys assets have.

Values are kept per process: those of a Dag under the name of its edition, which changes with every change of
it, those of an asset under what its spec says.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TypeVar
from uuid import UUID

from core.models import Asset, Dag, Dependency
from scheduling.algebra import specs
from scheduling.algebra.conditions import Leaf
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.mappers import Mapper
from scheduling.algebra.partitions import Partitions
from scheduling.algebra.timetables import AssetTimetable, PartitionedAssetTimetable, Timetable
from scheduling.algebra.verdicts import Late, Listening

UNKEYED = ""
"""Stands for the key of a held run of a Dag that is not partition-aware; its run has none."""


class BrokenDefinition(PartitionError):
    """A stored definition that cannot be read: the sentence says which and why."""


@dataclass(frozen=True, slots=True)
class EveryEvent(Mapper):
    """The mapper of a Dag that is not partition-aware: any event of the asset counts, for the next run."""

    def to_downstream(self, key: str) -> tuple[str, ...]:
        return (UNKEYED,)


@dataclass(frozen=True, slots=True)
class DagListening:
    """`listening` with the assets behind its leaves. `takes_keys`: events with a key count.

    `takes_keyless`: events without one do.
    """

    listening: Listening
    leaf_of: dict[int, Leaf]
    takes_keys: bool
    takes_keyless: bool

    def mapper(self, asset_id: int) -> Mapper:
        return self.listening.mappers[self.leaf_of[asset_id]]


def timetable_of(dag: Dag) -> Timetable | None:
    """The Dag's timetable; None for a Dag that starts only by hand.

    :raises BrokenDefinition: if the stored spec cannot be read.
    """
    if not dag.schedule:
        return None
    timetable = _timetables.get(dag.edition)
    return timetable or _keep(_timetables, dag.edition, _read_timetable(dag))


def of_dag(dag: Dag) -> DagListening:
    """How `dag` listens. One query the first time a process sees this edition of it.

    :raises BrokenDefinition: if its timetable or one of its mappers cannot be read, or it listens to nothing.
    """
    answer = of_dags([dag])[dag.pk]
    if isinstance(answer, BrokenDefinition):
        raise answer
    return answer


def of_dags(dags: Iterable[Dag]) -> dict[int, DagListening | BrokenDefinition]:
    """`of_dag` for many, by primary key, in one query; a broken one is an answer and stops no other."""
    by_pk = {dag.pk: dag for dag in dags}
    kept = {pk: _listenings.get(dag.edition) for pk, dag in by_pk.items()}
    answers = {pk: answer for pk, answer in kept.items() if answer is not None}
    unseen = [dag for pk, dag in by_pk.items() if pk not in answers]
    dependencies: dict[int, list[Dependency]] = {dag.pk: [] for dag in unseen}
    for row in Dependency.objects.filter(dag__in=unseen) if unseen else ():
        dependencies[row.dag_id].append(row)
    for dag in unseen:
        answers[dag.pk] = _keep(_listenings, dag.edition, _answer(dag, dependencies[dag.pk]))
    return answers


def by_timetable(timetable: Timetable | None, dependencies: Collection[Dependency]) -> DagListening | None:
    """How a Dag with that timetable and those dependencies, saved or not, listens; None if to no asset.

    :raises PartitionError: if a dependency cannot be read.
    """
    leaf_of = {row.asset_id: specs.load(row.leaf, "condition") for row in dependencies if row.asset_id}
    if isinstance(timetable, PartitionedAssetTimetable):
        mappers = {leaf: timetable.mapper_for(leaf) for leaf in timetable.assets.leaves()}
        mappers |= {specs.load(row.leaf, "condition"): _mapper(row) for row in dependencies if row.mapper}
        late = Late(timetable.late) if timetable.late else Late.SETTLE
        listening = Listening(timetable.assets, mappers, late, timetable.settle, timetable.late_after)
        return DagListening(listening, leaf_of, takes_keys=True, takes_keyless=False)
    if isinstance(timetable, AssetTimetable):
        mappers = dict.fromkeys(timetable.assets.leaves(), EveryEvent())
        listening = Listening(timetable.assets, mappers, Late.RESTART)
        return DagListening(listening, leaf_of, takes_keys=timetable.accept_partitioned, takes_keyless=True)
    return None


def partitions_of(asset: Asset) -> Partitions | None:
    """The keys that `asset` is expected to have, dynamic ones not bound; None if nothing says so.

    :raises BrokenDefinition: if the stored spec cannot be read.
    """
    if not asset.partitions:
        return None
    try:
        return _partitions(json.dumps(asset.partitions, sort_keys=True))
    except PartitionError as error:
        raise BrokenDefinition(f"asset {asset.name}: its partitions cannot be read: {error}") from error


KEPT = 10_000
T = TypeVar("T")
_Name = tuple[UUID, int, datetime]
_timetables: dict[_Name, Timetable] = {}
_listenings: dict[_Name, DagListening | BrokenDefinition] = {}


@lru_cache(maxsize=KEPT)
def _partitions(spec: str) -> Partitions:
    definition: Partitions = specs.load(json.loads(spec), "partitions")
    return definition


def _keep(values: dict[_Name, T], name: _Name, value: T) -> T:
    # Whoever asked has the value in hand: another thread may clear them all at any moment.
    if len(values) >= KEPT:
        values.clear()
    values[name] = value
    return value


def _answer(dag: Dag, dependencies: list[Dependency]) -> DagListening | BrokenDefinition:
    try:
        return _read(dag, dependencies)
    except BrokenDefinition as error:
        return error
    except PartitionError as error:
        return BrokenDefinition(f"Dag {dag.dag_id}: {error}")


def _read(dag: Dag, dependencies: list[Dependency]) -> DagListening:
    heard = by_timetable(timetable_of(dag), dependencies)
    if heard is None:
        raise BrokenDefinition(f"Dag {dag.dag_id} listens to no asset: its timetable is {dag.schedule!r}")
    return heard


def _mapper(row: Dependency) -> Mapper:
    try:
        return specs.load(row.mapper, "mapper")
    except PartitionError as error:
        raise PartitionError(f"the mapper for {row.leaf} cannot be read: {error}") from error


def _read_timetable(dag: Dag) -> Timetable:
    try:
        return specs.load(dag.schedule, "timetable")
    except PartitionError as error:
        raise BrokenDefinition(f"Dag {dag.dag_id}: the timetable cannot be read: {error}") from error
