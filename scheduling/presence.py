"""Assets without partitions: one event, which has no key, and they are there for every key."""

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Subquery

from core.models import Asset, AssetEvent, Outlet, Partition


def latest_events(asset_ids: Iterable[int]) -> dict[int, int]:
    """Those of the assets that have data and no partitions, each with its newest event, by primary keys.

    An asset that is to have partitions, by its own definition or its producer's timetable, is none of them.
    """
    partitioned = Outlet.objects.filter(asset=OuterRef("pk"), dag__is_partitioned=True, dag__is_active=True)
    keyless = AssetEvent.objects.filter(asset=OuterRef("pk"), partition_key=None).order_by("-id")
    rows = Asset.objects.filter(pk__in=set(asset_ids), partitions__isnull=True).exclude(
        Exists(Partition.objects.filter(asset=OuterRef("pk"))) | Exists(partitioned)
    )
    latest = rows.annotate(latest=Subquery(keyless.values("pk")[:1])).exclude(latest=None)
    return dict(latest.values_list("pk", "latest"))


def is_first(event: AssetEvent) -> bool:
    """Whether its asset had no event without a key before this one."""
    return not AssetEvent.objects.filter(asset=event.asset_id, partition_key=None, pk__lt=event.pk).exists()
