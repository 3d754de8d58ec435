"""How much a plan has to look at, told before it is worked out."""

from datetime import datetime

from django.db.models import Q

from core.models import Asset, Dag, Partition
from scheduling.backfills import scope
from scheduling.backfills.asking import Ask
from scheduling.board import universe


def size(ask: Ask, *, most: int, now: datetime) -> int:
    """How many keys a plan of `ask` has to look at: those that are selected, where a definition numbers them,
    else all that are on record; more than `most` are not counted. A few small queries for each Dag.

    :raises PartitionError: as `plan` does, for what it can tell by so little.
    """
    ask.check()
    if ask.keys is not None:
        return len(ask.keys)
    return sum(_size_of(dag, ask, most, now) for dag in ask.dags)


def _size_of(dag: Dag, ask: Ask, most: int, now: datetime) -> int:
    own = scope.of_definition(dag, now=now)
    if own is not None:
        return own.count(ask)
    assets = list(Asset.objects.filter(Q(outlets__dag=dag) | Q(dependencies__dag=dag)).distinct())
    there = Partition.objects.filter(asset__in=assets).order_by()[: most + 1].count()
    upstream = [asset for asset in assets if asset.partitions]
    expected = universe.of_assets(upstream, now=now) if upstream else {}
    return max([there, *(each.count for each in expected.values())])
