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


def first_event(asset_id: int) -> int | None:
    """The primary key of its first event without a key."""
    keyless = AssetEvent.objects.filter(asset=asset_id, partition_key=None)
    return keyless.order_by("id").values_list("pk", flat=True).first()
