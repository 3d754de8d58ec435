"""Keys that the definition of their asset will never have, and what waits because they do not count."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Q

from core.models import Asset, Dag, Dependency, HeldRun, MappingProblem, Outlet
from scheduling import listening, mapping, rounds
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.progress import why_not_counted
from scheduling.belonging import Sight
from scheduling.board.reading import read
from scheduling.listening import DagListening

ByDag = dict[str, set[str]]
MOST_ASSETS = 20
MOST_MAPPED = 20
MOST_KEYS = 1000
"""Keys of one asset that are looked at; of more, the newest."""


@dataclass(frozen=True, slots=True)
class Unexpected:
    """Such `keys` of `asset`, the newest first. `made`: those of them that a Dag's mapper made of others.

    `holding`: by Dag, those that do not count in a held run of it; `refusing`: those it could not map.
    """

    asset: Asset
    keys: tuple[str, ...]
    made: frozenset[str] = frozenset()
    holding: ByDag = field(default_factory=dict)
    refusing: ByDag = field(default_factory=dict)


def unexpected(*, now: datetime, sight: Sight) -> list[Unexpected]:
    """Of every asset that is shown, as far as it is drawn. One query where there are none, else some more."""
    defined = Asset.objects.active().filter(sight.assets(), partitions__isnull=False)
    assets = list(defined.filter(drawing__blocks__is_loose=True).distinct().order_by("name")[:MOST_ASSETS])
    if not assets:
        return []
    states = read(assets, now=now, patient=False)
    strays = {asset: _newest(states[asset.pk].cells.undefined) for asset in assets}
    strays = {asset: keys for asset, keys in strays.items() if keys}
    holding, refusing, made = _holding(strays, sight), _refusing(strays, sight), _made(strays)
    return [
        Unexpected(
            asset,
            keys,
            frozenset(made[asset.pk]),
            holding[asset.pk],
            refusing[asset.pk],
        )
        for asset, keys in strays.items()
    ]


def _newest(keys: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted(keys, reverse=True)[:MOST_KEYS])


def _holding(strays: dict[Asset, tuple[str, ...]], sight: Sight) -> dict[int, ByDag]:
    """Such keys that map to open held runs and do not count there, by asset. Three queries."""
    links = Dependency.objects.filter(sight.dags("dag"), asset__in=strays, dag__is_active=True)
    rows = list(links.select_related("dag"))
    heard = listening.of_dags({row.dag.pk: row.dag for row in rows}.values())
    keys_of = {asset.pk: keys for asset, keys in strays.items()}
    meant = [
        (asset_id, row.dag, key, downstream)
        for row in rows
        if (asset_id := row.asset_id) and isinstance(answer := heard[row.dag_id], DagListening)
        for key, downstream in _passed_over(row.dag, answer, asset_id, keys_of[asset_id])
    ]
    held = HeldRun.objects.held().filter(
        rounds.any_of({(dag.pk, downstream) for _, dag, _, downstream in meant})
    )
    is_open = set(held.values_list("dag", "partition_key"))
    found: dict[int, ByDag] = {asset.pk: {} for asset in strays}
    for asset_id, dag, key, downstream in meant:
        if (dag.pk, downstream) in is_open:
            found[asset_id].setdefault(dag.dag_id, set()).add(key)
    return found


def _refusing(strays: dict[Asset, tuple[str, ...]], sight: Sight) -> dict[int, ByDag]:
    """Such keys that Dags could not map, by asset."""
    of_keys = Q(pk__in=[])
    for asset, keys in strays.items():
        of_keys |= Q(event__asset=asset, event__partition_key__in=keys)
    found: dict[int, ByDag] = {asset.pk: {} for asset in strays}
    problems = MappingProblem.objects.filter(of_keys, sight.dags("dag"))
    rows = problems.values_list("event__asset", "dag__dag_id", "event__partition_key").distinct()
    for asset_id, name, key in rows if strays else ():
        found[asset_id].setdefault(name, set()).add(key or "")
    return found


def _made(strays: dict[Asset, tuple[str, ...]]) -> dict[int, set[str]]:
    """Such keys that a Dag which writes their asset was held for: nobody has reported them."""
    found: dict[int, set[str]] = {asset.pk: set() for asset in strays}
    written = Outlet.objects.filter(asset__in=strays).values_list("asset", "dag")
    every = {(asset_id, dag_id) for asset_id, dag_id in written}
    keys_of = {asset.pk: keys for asset, keys in strays.items()}
    every_key = {key for keys in strays.values() for key in keys}
    rows = HeldRun.objects.filter(dag__in={dag_id for _, dag_id in every}, partition_key__in=every_key)
    held = set(rows.values_list("dag", "partition_key")) if every else set()
    for asset_id, dag_id in every:
        found[asset_id].update(key for key in keys_of[asset_id] if (dag_id, key) in held)
    return found


def _passed_over(
    dag: Dag, heard: DagListening, asset_id: int, keys: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """(key, downstream key) for each of the first of `keys` that maps there without counting."""
    for key in keys[:MOST_MAPPED] if heard.takes_keys and asset_id in heard.leaf_of else ():
        try:
            for downstream in mapping.downstream_of(dag, heard, asset_id, key):
                mapper = heard.mapper(asset_id)
                if why_not_counted(mapper, key, mapper.required(downstream)):
                    yield key, downstream
        except PartitionError:  # told as an event that it cannot count
            continue
