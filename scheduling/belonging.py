"""Which group of assets a thing belongs to, and what somebody sees who is shown certain groups only.

1. An asset belongs to its own group.
2. A Dag belongs to the groups of the assets that it writes; one that writes none, to those of the assets that
   it listens to. So do its runs and what is held for it, and a backfill to those of all its Dags.
3. One group is enough to see a Dag. What a Dag that is seen listens to is named with its keys, whatever group
   that asset is of: nobody could tell otherwise why it has not run.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from core.models import (
    Asset,
    Backfill,
    BackfillTarget,
    Dag,
    DagRun,
    Dependency,
    HeldRun,
    Outlet,
)
from scheduling import dynamic

Thing = Asset | Dag | DagRun | HeldRun | Backfill


@dataclass(frozen=True, slots=True)
class Sight:
    """What is shown to somebody: what belongs to one of `groups`, or everything if that is None."""

    groups: frozenset[str] | None = None

    @property
    def is_whole(self) -> bool:
        return self.groups is None

    def assets(self, path: str = "") -> Q:
        """Rows whose asset, which `path` leads to (`asset__`), is shown."""
        return Q() if self.groups is None else Q(**{f"{path}group__in": self.groups})

    def dags(self, path: str = "pk") -> Q:
        """Rows whose Dag, which `path` leads to (`dag`), is shown."""
        return Q() if self.groups is None else Q(**{f"{path}__in": _dags_of(self.groups).values("pk")})

    def backfills(self) -> Q:
        """Backfills of which every Dag is shown."""
        if self.groups is None:
            return Q()
        others = BackfillTarget.objects.exclude(self.dags("dag")).order_by()
        return ~Q(pk__in=others.values("backfill"))

    def entries(self) -> Q:
        """Entries of the journal about a Dag or an asset that is shown, and about none that is not."""
        if self.groups is None:
            return Q()
        dags = Q(dag_id__in=_dags_of(self.groups).values("dag_id"))
        assets = Q(asset_name__in=Asset.objects.filter(self.assets()).order_by().values("name"))
        return (dags & Q(asset_name="")) | (assets & Q(dag_id="")) | (dags & assets)

    def sees(self, thing: Thing) -> bool:
        """Whether `thing` is shown."""
        if self.groups is None:
            return True
        if isinstance(thing, Asset):
            return thing.group in self.groups
        if isinstance(thing, Backfill):
            return type(thing).objects.filter(self.backfills(), pk=thing.pk).exists()
        pk = thing.pk if isinstance(thing, Dag) else thing.dag_id
        return _dags_of(self.groups).filter(pk=pk).exists()


EVERYTHING = Sight()


def groups_of(thing: Thing) -> frozenset[str]:
    """The groups that `thing` belongs to. None: it is nobody's but the site's."""
    if isinstance(thing, Asset):
        return frozenset([thing.group])
    if not isinstance(thing, Backfill):
        return _groups_of_dag(thing.pk if isinstance(thing, Dag) else thing.dag_id)
    of_each = [_groups_of_dag(target.dag_id) for target in thing.targets.order_by()]
    return frozenset().union(*of_each) if all(of_each) else frozenset()


def groups_of_partitions(name: str) -> frozenset[str]:
    """The groups of the assets that have the dynamic partitions called `name`."""
    rows: Iterable[Any] = Asset.objects.filter(partitions__isnull=False).only("group", "partitions")
    return frozenset(asset.group for asset in rows if name in dynamic.names_of(asset))


def _groups_of_dag(pk: int) -> frozenset[str]:
    written = Outlet.objects.filter(dag=pk).order_by().values_list("asset__group", flat=True)
    heard = Dependency.objects.filter(dag=pk, asset__isnull=False).order_by()
    return frozenset(written) or frozenset(heard.values_list("asset__group", flat=True))


def _dags_of(groups: frozenset[str]) -> Any:
    writing = Outlet.objects.order_by().values("dag")
    ours = Q(pk__in=writing.filter(asset__group__in=groups))
    hearing = Dependency.objects.filter(asset__group__in=groups).order_by().values("dag")
    return Dag.objects.filter(ours | (Q(pk__in=hearing) & ~Q(pk__in=writing))).order_by()
