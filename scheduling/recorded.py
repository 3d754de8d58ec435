"""What is on record of one key of a Dag: its last runs and held runs, and what else bears on it.

Of each the newest `SHOWN`, newest first.
"""

from collections.abc import Sequence

from core.models import BackfillPartition, Dag, DagRun, HeldRun, MappingProblem

SHOWN = 10


def runs_of(dag: Dag, key: str) -> list[DagRun]:
    """The last runs of the key; those of many keys are found through their backfill."""
    own = DagRun.objects.filter(dag=dag, partition_key=key or None).select_related("dag__pool", "backfill")
    if not key:
        return list(own.filter(partition_keys=None).order_by("-pk")[:SHOWN])
    ranged = BackfillPartition.objects.filter(
        target__dag=dag, key=key, run__partition_keys__isnull=False
    ).values_list("run", flat=True)
    others = DagRun.objects.filter(pk__in=list(ranged[:SHOWN])).select_related("dag__pool", "backfill")
    return sorted([*own.order_by("-pk")[:SHOWN], *others], key=lambda run: -run.pk)[:SHOWN]


def rounds_of(dag: Dag, key: str) -> list[HeldRun]:
    """The last held runs of the key."""
    rows = HeldRun.objects.filter(dag=dag, partition_key=key).select_related("dag", "run")
    return list(rows.order_by("-round")[:SHOWN])


def problems_of(dag: Dag, keys: Sequence[str]) -> list[MappingProblem]:
    """Events of upstream `keys`, which did come and could not be counted."""
    if not keys:
        return []
    rows = MappingProblem.objects.filter(dag=dag, event__partition_key__in=keys)
    return list(rows.select_related("event__asset").order_by("-pk")[:SHOWN])


def backfills_of(dag: Dag, key: str) -> list[BackfillPartition]:
    """Backfills under way that have the key."""
    if not key:
        return []
    rows = BackfillPartition.objects.filter(
        target__dag=dag, key=key, target__backfill__completed_at=None
    ).select_related("target__backfill", "run")
    return list(rows.order_by("-pk")[:SHOWN])
