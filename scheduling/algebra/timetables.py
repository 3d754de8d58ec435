"""Timetables of Dags that wait for assets or name their keys themselves; crons are in `cron_timetables`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import InitVar, dataclass, field
from datetime import datetime, timedelta
from typing import ClassVar, Literal, get_args

from scheduling.algebra.cadence import Tick, Timetable
from scheduling.algebra.conditions import AssetLeaf, AssetRef, Expression, Leaf
from scheduling.algebra.cron_timetables import (
    CronPartitionTimetable,
    CronRuntimePartitionTimetable,
    CronTriggerTimetable,
)
from scheduling.algebra.durations import duration
from scheduling.algebra.errors import CannotMap, Caution, InvalidDefinition, InvalidKey
from scheduling.algebra.mappers import IdentityMapper, Mapper, check_mapper

__all__ = [
    "AssetTimetable",
    "CronPartitionTimetable",
    "CronRuntimePartitionTimetable",
    "CronTriggerTimetable",
    "Late",
    "PartitionedAssetTimetable",
    "PartitionedAtRuntime",
    "Tick",
    "Timetable",
]

Late = Literal["settle", "immediate", "hold", "mark_stale", "restart"]


@dataclass(frozen=True, slots=True)
class PartitionedAtRuntime(Timetable):
    """No cadence: the running code names the keys of what it emits; people and programs start it."""

    at_runtime: ClassVar[bool] = True

    @property
    def summary(self) -> str:
        return "PartitionedAtRuntime"

    def words(self) -> str:
        return "when triggered, partition keys named by the run"


@dataclass(frozen=True, slots=True)
class AssetTimetable(Timetable):
    """A consumer that is not partition-aware: any event of its assets counts.

    Events with a partition key count only with `accept_partitioned`.
    """

    assets: Expression
    accept_partitioned: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        _check_assets(self.assets)

    @property
    def summary(self) -> str:
        return "Asset"

    def words(self) -> str:
        keyed = "with or without a partition key" if self.accept_partitioned else "without a partition key"
        return f"on events {keyed} of {self.assets.words()}"

    def warnings(self, now: datetime | None = None) -> tuple[str, ...]:
        if self.accept_partitioned:
            return ()
        sentence = f"events of {self.assets.words()} that have a partition key will not start it"
        return (Caution(sentence, "keyed-events"),)


@dataclass(frozen=True, slots=True)
class PartitionedAssetTimetable(Timetable):
    """A consumer that starts for a downstream key when `assets` have what that key requires.

    `partition_mapper` is another name for `default_partition_mapper`.

    :param assets: what it listens to, such as `orders & (refunds | returns)`.
    :param default_partition_mapper: how keys of an asset become keys of the Dag.
    :param partition_mapper_config: a mapper of their own for some assets, by name or by reference.
    :param late: what an event does after the run of its key has fired; none: by what the start needs.
    :param settle: how long to wait for more such events.
    :param late_after: how long after its expected time a missing key makes the held run late.
    """

    assets: Expression
    default_partition_mapper: Mapper = field(default=IdentityMapper(), kw_only=True)
    partition_mapper_config: tuple[tuple[Leaf, Mapper], ...] = field(default=(), kw_only=True)
    late: Late | None = field(default=None, kw_only=True)
    settle: timedelta = field(default=timedelta(minutes=10), kw_only=True)
    late_after: timedelta | None = field(default=None, kw_only=True)
    partition_mapper: InitVar[Mapper | None] = field(default=None, kw_only=True)

    partitioned: ClassVar[bool] = True

    def __post_init__(self, partition_mapper: Mapper | None) -> None:
        _check_assets(self.assets)
        default = self.default_partition_mapper if partition_mapper is None else partition_mapper
        object.__setattr__(self, "default_partition_mapper", _mapper(default, "default_partition_mapper"))
        object.__setattr__(self, "partition_mapper_config", _entries(self.partition_mapper_config))
        object.__setattr__(self, "settle", _span(self.settle, "settle"))
        if self.late is not None and self.late not in get_args(Late):
            raise InvalidDefinition(
                f"late is {self.late!r}; use one of {', '.join(get_args(Late))}", path="late"
            )
        if self.late_after is not None:
            object.__setattr__(self, "late_after", _span(self.late_after, "late_after"))

    @property
    def summary(self) -> str:
        return "Partitioned Asset"

    def words(self, mappers: Mapping[Leaf, Mapper] | None = None) -> str:
        """When it starts. `mappers`: of each asset its own, where it is known what references are."""
        mappers = mappers or {leaf: self.mapper_for(leaf) for leaf in self.assets.leaves()}
        if any(mapper.is_rollup for mapper in mappers.values()):
            return f"when {self.assets.words(lambda leaf: _awaited(leaf, mappers[leaf]))} have arrived"
        if len(list(self.assets.leaves())) == 1:
            return f"when a partition of {self.assets.words()} has arrived"
        return f"when {self.assets.words()} have the same partition"

    def mapper_for(self, leaf: Leaf, *, name: str = "", uri: str = "") -> Mapper:
        """The mapper of an asset of the expression.

        `name` and `uri` are those of the asset that a reference turned out to be, so that a mapper may be
        configured by either.
        """
        configured = dict(self.partition_mapper_config)
        aliases: list[Leaf] = [leaf]
        if name := name or leaf.name:
            aliases += [AssetLeaf(name), AssetRef(name=name)]
        if uri := uri or (leaf.uri if isinstance(leaf, AssetRef) else ""):
            aliases.append(AssetRef(uri=uri))
        found = (configured[alias] for alias in aliases if alias in configured)
        return next(found, self.default_partition_mapper)

    def warnings(self, now: datetime | None = None) -> tuple[str, ...]:
        mappers = dict.fromkeys(self.mapper_for(leaf) for leaf in self.assets.leaves())
        return tuple(dict.fromkeys(warning for mapper in mappers for warning in mapper.warnings(now)))

    def resolve(self, key: str) -> datetime | None:
        """The one partition date that the mappers see in a downstream key.

        :raises InvalidKey: if the assets whose mappers can read the key are not enough to start a run.
        """
        dates: set[datetime | None] = set()
        refusals: dict[Leaf, str] = {}
        for leaf in self.assets.leaves():
            try:
                dates.add(self.mapper_for(leaf).partition_date(key))
            except (CannotMap, InvalidKey) as refusal:
                refusals[leaf] = str(refusal)
        if not self.assets.holds(lambda leaf: leaf not in refusals):
            raise InvalidKey(next(iter(refusals.values())))
        dates.discard(None)
        return dates.pop() if len(dates) == 1 else None


def _entries(config: object) -> tuple[tuple[Leaf, Mapper], ...]:
    """The entries of a mapper configuration by asset; the last one for an asset wins."""
    if not isinstance(config, (Mapping, Iterable)):
        raise InvalidDefinition("a mapping of assets to mappers", path="partition_mapper_config")
    pairs = config.items() if isinstance(config, Mapping) else config
    entries: dict[Leaf, Mapper] = {}
    for asset, mapper in pairs:
        leaves = list(asset.leaves()) if isinstance(asset, Expression) else []
        if len(leaves) != 1:
            raise InvalidDefinition(
                f"{asset!r} is not one asset: give each asset its own mapper", path="partition_mapper_config"
            )
        entries[leaves[0]] = _mapper(mapper, "partition_mapper_config")
    return tuple(entries.items())


def _check_assets(assets: object) -> None:
    if not isinstance(assets, Expression):
        raise InvalidDefinition(f"{assets!r} is not an asset: join assets with & and |", path="assets")


def _mapper(value: object, role: str) -> Mapper:
    try:
        return check_mapper(value, role)
    except InvalidDefinition as refusal:
        raise refusal.below(role) from None


def _span(value: object, path: str) -> timedelta:
    """A span that may be nothing; text and seconds are read as `durations` reads them."""
    if value == 0 or value == timedelta(0):
        return timedelta(0)
    try:
        return duration(value)
    except InvalidDefinition as refusal:
        raise refusal.below(path) from None


def _awaited(leaf: Leaf, mapper: Mapper) -> str:
    """What is waited for of one asset: `all hours of hourly_sales`."""
    if not mapper.is_rollup or mapper.wait_policy is None:
        return leaf.words()
    amount = mapper.wait_policy.sentence()
    if amount.endswith("missing"):
        return f"the {mapper.member_noun} of {leaf.words()} ({amount})"
    return f"{amount} {mapper.member_noun} of {leaf.words()}"
