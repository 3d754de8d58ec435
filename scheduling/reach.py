"""Which keys assets are to have where nobody adds to them: others never come by themselves."""

from collections import defaultdict
from collections.abc import Collection
from functools import lru_cache, partial

from django.db.models import Q

from core.models import Asset, Dag, Outlet
from scheduling import dynamic, listening
from scheduling.algebra.closed import Closed
from scheduling.algebra.cron_timetables import CronPartitionTimetable
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.partitions import Partitions
from scheduling.algebra.timetables import Timetable


def closed_of(asset_ids: Collection[int]) -> dict[int, Closed]:
    """What those of `asset_ids` are to have that are defined so. One query; two if there are any."""
    assets = Asset.objects.filter(pk__in=list(asset_ids), partitions__isnull=False) if asset_ids else ()
    found = {asset.pk: definition for asset in assets if (definition := fixed(asset))}
    timetables = _timetables(found) if found else {}
    return {
        pk: Closed(definition, partial(_is_made, made := timetables.get(pk, ())), bool(made))
        for pk, definition in found.items()
    }


def fixed(asset: Asset) -> Partitions | None:
    """What an asset is defined to have, unless people add to it or it cannot be read."""
    try:
        return None if dynamic.names_of(asset) else listening.partitions_of(asset)
    except PartitionError:  # the page of definitions says what is wrong with it
        return None


def counting_on(redefined: Collection[int], retimed: Collection[int] = ()) -> list[Dag]:
    """The Dags whose held runs may hope anew, or no more, if those assets are to have other keys.

    :param retimed: assets whose keys may come of other ticks; those that have no definition change nothing.
    """
    has_changed = Q(dependencies__asset__in=list(redefined))
    may_have = Q(dependencies__asset__in=list(retimed), dependencies__asset__partitions__isnull=False)
    fed = Dag.objects.active().filter(has_changed | may_have)
    return list(fed.distinct()) if redefined or retimed else []


def _timetables(asset_ids: Collection[int]) -> dict[int, tuple[CronPartitionTimetable, ...]]:
    """The cadences that write each asset."""
    found: dict[int, dict[CronPartitionTimetable, None]] = defaultdict(dict)
    rows = Outlet.objects.filter(asset__in=list(asset_ids), dag__is_active=True, dag__is_periodic=True)
    for row in rows.select_related("dag"):
        if isinstance(timetable := _timetable(row.dag), CronPartitionTimetable):
            found[row.asset_id][timetable] = None
    return {pk: tuple(timetables) for pk, timetables in found.items()}


def _timetable(dag: Dag) -> Timetable | None:
    try:
        return listening.timetable_of(dag)
    except PartitionError:
        return None


def _is_made(timetables: Collection[CronPartitionTimetable], key: str) -> bool:
    return any(_has_tick(timetable, key) for timetable in timetables)


@lru_cache(maxsize=8192)
def _has_tick(timetable: CronPartitionTimetable, key: str) -> bool:
    try:
        return timetable.tick_of(key) is not None
    except PartitionError:
        return False
