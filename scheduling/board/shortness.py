"""Which partitions are short: a person fired the run that made them without some of its keys."""

from collections import defaultdict
from collections.abc import Collection, Mapping

from core.models import Asset, DagRun, Partition
from scheduling.board.cells import Cells, Look

MOST_SHORT = 1000
"""Such runs whose partitions are marked: the last ones."""

Short = tuple[int, ...]
"""Positions of short partitions, ascending."""


def short_keys(assets: Collection[Asset]) -> Mapping[int, frozenset[str]]:
    """The keys of short partitions by asset. One query, and one more if there are such runs.

    Whatever filled a partition since then, a run or an event of somebody else, made it whole.
    """
    runs = DagRun.objects.filter(is_fired_short=True).order_by("-id").values_list("id", flat=True)
    found: dict[int, set[str]] = defaultdict(set)
    if last := list(runs[:MOST_SHORT]):
        # Not narrowed to the assets: a database that has no statistics would walk through all of theirs.
        made = Partition.objects.filter(outcome_run__in=last).order_by()
        wanted = {asset.pk for asset in assets}
        for asset_id, key in made.values_list("asset_id", "key"):
            if asset_id in wanted:
                found[asset_id].add(key)
    return {asset_id: frozenset(each) for asset_id, each in found.items()}


def short_among(cells: Cells, keys: Collection[str]) -> Short:
    """Where those of `keys` that have data stand among the cells."""
    looks = (Look.MATERIALIZED, Look.STALE)
    return tuple(sorted(at for at in cells.places.where(keys) if cells.look(at) in looks)) if keys else ()
