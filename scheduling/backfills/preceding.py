"""The upstream partitions of the same backfill that a key needs."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.models import BackfillPartition, BackfillTarget, Outlet
from scheduling.backfills import upstream
from scheduling.listening import DagListening

Sources = Mapping[int, Sequence[BackfillTarget]]
"""The targets of the backfill that write each asset."""


@dataclass(frozen=True, slots=True)
class Before:
    """One upstream partition, and the run that makes it."""

    asset_id: int
    dag_id: str
    key: str
    state: str
    run_pk: int | None
    ended_at: datetime | None

    @property
    def is_open(self) -> bool:
        return self.state in BackfillPartition.OPEN


def sources_of(targets: Sequence[BackfillTarget]) -> Sources:
    """Which of `targets` write each asset."""
    by_dag = {target.dag_id: target for target in targets}
    found: dict[int, list[BackfillTarget]] = defaultdict(list)
    outlets = Outlet.objects.filter(dag__in=by_dag).values_list("asset_id", "dag_id").distinct()
    for asset_id, dag_id in outlets:
        found[asset_id].append(by_dag[dag_id])
    return found


def before(heard: DagListening, sources: Sources, keys: Sequence[str]) -> dict[str, list[Before]]:
    """By key, the upstream partitions of the backfill that it needs; all of them where that is not known."""
    found: dict[str, list[Before]] = {key: [] for key in keys}
    for asset_id in heard.leaf_of:
        mapper = heard.mapper(asset_id)
        needed = {key: upstream.needs(mapper, key) for key in keys}
        for source in sources.get(asset_id, ()):
            known = _partitions(asset_id, source, needed.values())
            for key, names in needed.items():
                found[key] += (
                    known.values() if names is None else [known[name] for name in names if name in known]
                )
    return found


def _partitions(
    asset_id: int, source: BackfillTarget, needed: Collection[Collection[str] | None]
) -> dict[str, Before]:
    rows = BackfillPartition.objects.filter(target=source)
    if None not in needed:
        rows = rows.filter(key__in={name for names in needed for name in names or ()})
    return {
        key: Before(asset_id, source.dag.dag_id, key, state, run_pk, ended_at)
        for key, state, run_pk, ended_at in rows.values_list("key", "state", "run_id", "run__ended_at")
    }
