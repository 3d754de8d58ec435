"""What a schedule makes of upstream keys, real or typed: which downstream keys, and what those need.

Nothing is counted, and nothing is written.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db.models import F

from core.models import Asset, Dag, Partition
from scheduling import listening
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.keys import validate_key
from scheduling.algebra.mappers import Mapper
from scheduling.algebra.policies import WaitForAll
from scheduling.algebra.progress import why_not_counted
from scheduling.configuration.overriding import links_for, read_schedule
from scheduling.listening import DagListening

log = logging.getLogger(__name__)

MOST_KEYS = 100
"""Upstream keys that are tried at once."""

MOST_SHOWN = 100
"""Downstream keys of one upstream key, and required keys of one downstream key, that are named."""

MOST_KNOWN = 1000
"""Known keys of an asset that a mapper is told which needs to know them: the newest."""

RECENT = 3
"""Keys of each asset that are tried if nobody names any."""


@dataclass(frozen=True, slots=True)
class Named:
    """How many keys, and the first of them. `count` is None where any one key is enough."""

    count: int | None
    first: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Needs:
    """What a downstream key needs of the asset: `required`, or why that cannot be told.

    `not_counted`: why the upstream key that is tried is none of those; empty if it is one. `asks`: how
    many of those a held run waits for by the wait policy, in words.
    """

    key: str
    required: Named
    problem: str = ""
    not_counted: str = ""
    asks: str = ""


@dataclass(frozen=True, slots=True)
class Tried:
    """One upstream key of an asset: where it goes, or why nowhere."""

    asset: str
    key: str
    downstream: tuple[Needs, ...] = ()
    count: int = 0
    problem: str = ""

    @property
    def more(self) -> int:
        return self.count - len(self.downstream)


def try_schedule(dag: Dag, spec: object, typed: Sequence[str] = (), *, asset: str = "") -> list[Tried]:
    """What `dag` makes of keys, or what it would if it listened by `spec`, if one is given.

    :param typed: upstream keys of `asset`, or of each that is listened to; without any, recent ones.
    :raises InvalidDefinition: with the JSON path of what is wrong with `spec`.
    :raises BrokenDefinition: if the schedule that counts cannot be read, or listens to nothing.
    """
    if spec is None:
        heard = listening.of_dag(dag)
    else:
        timetable = read_schedule(dag, spec)
        links = links_for(timetable, dag.updated_at).wanted.values()
        found = listening.by_timetable(timetable, links)
        heard = found or listening.of_dag(dag)
    return try_out(heard, _keys(heard, typed, asset))


def try_out(heard: DagListening, keys: Mapping[int, Sequence[str]]) -> list[Tried]:
    """What each of `keys`, by asset, would become; assets that are not listened to are passed over."""
    assets = Asset.objects.in_bulk(keys.keys() & heard.leaf_of.keys())
    return [
        _tried(asset.name, heard.mapper(pk), key, _known(pk) if heard.mapper(pk).needs_known else ())
        for pk, asset in sorted(assets.items(), key=lambda each: each[1].name)
        for key in keys[pk]
    ]


def _keys(heard: DagListening, typed: Sequence[str], asset: str) -> dict[int, list[str]]:
    """The keys to try, by asset. One query for each asset whose recent keys are looked for."""
    wanted = Asset.objects.filter(pk__in=heard.leaf_of.keys())
    pks = (wanted.filter(name=asset) if asset else wanted).values_list("pk", flat=True)
    return {pk: list(typed[:MOST_KEYS]) if typed else _recent(pk) for pk in pks}


def _recent(asset_id: int) -> list[str]:
    there = Partition.objects.filter(asset_id=asset_id, data_at__isnull=False).order_by("-pk")
    return list(there.values_list("key", flat=True)[:RECENT])


def _known(asset_id: int) -> tuple[str, ...]:
    newest = (F("partition_date").desc(nulls_last=True), "-pk")
    found = Partition.objects.filter(asset_id=asset_id, data_at__isnull=False).order_by(*newest)
    return tuple(found.values_list("key", flat=True)[:MOST_KNOWN])[::-1]


def _tried(asset: str, mapper: Mapper, key: str, known: Sequence[str]) -> Tried:
    try:
        validate_key(key)
        keys = tuple(dict.fromkeys(mapper.to_downstream(key)))
    except PartitionError as error:
        return Tried(asset, key, problem=str(error))
    except Exception as error:  # a plug-in's mapper may raise anything
        log.exception("a mapper that is tried out failed on key %r", key)
        return Tried(asset, key, problem=f"the mapper failed: {type(error).__name__}: {error}")
    limit = mapper.max_downstream_keys or settings.PARTITION_MAPPER_MAX_DOWNSTREAM_KEYS
    problem = ""
    if len(keys) > limit:
        problem = f"it maps to {len(keys)} downstream keys, over the limit of {limit}: none would be queued"
    elif not keys:
        problem = "it maps to no key"
    needs = tuple(_needs(mapper, key, each, known) for each in keys[:MOST_SHOWN])
    return Tried(asset, key, needs, len(keys), problem)


def _needs(mapper: Mapper, upstream: str, key: str, known: Sequence[str]) -> Needs:
    try:
        required = mapper.required(key, known)
        not_counted = why_not_counted(mapper, upstream, required)
        asks = (mapper.wait_policy or WaitForAll()).needs(len(required or ()))
    except PartitionError as error:
        return Needs(key, Named(None), str(error))
    except Exception as error:  # a plug-in's mapper may raise anything
        log.exception("a mapper that is tried out failed on downstream key %r", key)
        return Needs(key, Named(None), f"the mapper failed: {type(error).__name__}: {error}")
    if required is None:
        return Needs(key, Named(None))
    return Needs(key, Named(len(required), required[:MOST_SHOWN]), not_counted=not_counted, asks=asks)
