"""Which instant a key of an asset names: by the asset's own definition, or by its producer's timetable."""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime

from core import compiled
from core.models import Asset, Dag, Outlet
from scheduling import dynamic, listening
from scheduling.algebra.errors import PartitionError
from scheduling.listening import BrokenDefinition

Dating = Callable[[str | None], datetime | None]
"""When the period of a key starts; None for keys without time, and where no definition can be read."""

Reader = Callable[[str], datetime | None]


def of_asset(asset: Asset) -> Dating:
    """How keys of `asset` are dated."""
    try:
        definition = listening.partitions_of(asset)
        readers = [dynamic.bound(definition).partition_date] if definition else _producers(asset)
    except BrokenDefinition:
        readers = []
    return _dating(readers)


def of_assets(assets: Collection[Asset]) -> dict[int, Dating]:
    """The same for each of `assets`, by primary key. One query, and those of dynamic partitions."""
    undefined = {asset.pk for asset in assets if not asset.partitions}
    makers: dict[int, list[Dag]] = {pk: [] for pk in undefined}
    outlets = Outlet.objects.filter(asset__in=undefined, dag__is_active=True, dag__is_partitioned=True)
    for each in outlets.select_related("dag").order_by("dag__dag_id") if undefined else ():
        if each.dag not in makers[each.asset_id]:
            makers[each.asset_id].append(each.dag)
    return {
        asset.pk: _dating_by(makers[asset.pk]) if asset.pk in undefined else of_asset(asset)
        for asset in assets
    }


def _dating_by(dags: Iterable[Dag]) -> Dating:
    try:
        return _dating(_readers(dags))
    except BrokenDefinition:
        return _dating([])


def _dating(readers: Sequence[Reader]) -> Dating:
    def date(key: str | None) -> datetime | None:
        if key is None:
            return None
        for read in readers:
            try:
                return read(key)
            except PartitionError:
                continue
        return None

    return date


def _producers(asset: Asset) -> list[Reader]:
    return _readers([compiled.built(Dag, row) for row in _PRODUCERS(asset.pk)])


def _readers(dags: Iterable[Dag]) -> list[Reader]:
    return [timetable.resolve for dag in dags if (timetable := listening.timetable_of(dag))]


_PRODUCERS = compiled.Compiled(
    lambda asset_id: (
        Dag.objects.active()
        .filter(outlets__asset=asset_id, is_partitioned=True)
        .distinct()
        .values_list(*compiled.columns(Dag))
    ),
    -1,
)
