"""The keys that are known of a Dag without a definition: those there have been, and those it is led to."""

from datetime import UTC, datetime

from core.models import Asset, Dag, DagRun, HeldRun, Partition
from scheduling import listening
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.mappers import Mapper
from scheduling.board import universe

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""Where keys without a date stand, and from when on anybody may ask for keys."""


def seen(dag: Dag, now: datetime) -> tuple[str, ...]:
    """Every key that the Dag, its assets or its held runs have had, and those that its upstream leads to."""
    dates = _led_to(dag, now)
    for rows, name in (
        (Partition.objects.filter(asset__outlets__dag=dag), "key"),
        (DagRun.objects.filter(dag=dag, partition_key__isnull=False), "partition_key"),
        (HeldRun.objects.filter(dag=dag).exclude(partition_key=""), "partition_key"),
    ):
        for key, date in rows.order_by().values_list(name, "partition_date").distinct():
            dates[key] = dates.get(key) or date
    return tuple(sorted(dates, key=lambda key: (dates[key] or EPOCH, key)))


def _led_to(dag: Dag, now: datetime) -> dict[str, datetime | None]:
    """The downstream keys, with their dates, of all that the assets a Dag listens to have or should have."""
    try:
        heard = listening.of_dag(dag)
    except listening.BrokenDefinition:
        return {}
    assets = list(Asset.objects.filter(pk__in=heard.leaf_of))
    expected = universe.of_assets(assets, now=now)
    found: dict[str, datetime | None] = {}
    for asset in assets:
        mapper = heard.mapper(asset.pk)
        there = Partition.objects.filter(asset=asset, data_at__isnull=False).values_list("key", flat=True)
        for key in {*there, *(expected[asset.pk].keys if asset.pk in expected else ())}:
            for downstream in _mapped(mapper, key):
                if downstream not in found:
                    found[downstream] = mapper.partition_date(downstream)
    return found


def _mapped(mapper: Mapper, key: str) -> tuple[str, ...]:
    try:
        return mapper.to_downstream(key)
    except PartitionError:
        return ()
