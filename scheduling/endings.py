"""How the last attempt at a partition ended that is on record, also when those since go off it."""

from collections.abc import Collection, Sequence
from datetime import datetime

from django.db.models import Case, F, Max, Q, QuerySet, When
from django.db.models.functions import Coalesce

from core import bulk
from core.models import AssetEvent, BackfillPartition, DagRun, FailedAttempt, Partition

Attempt = Partition.Attempt

OUTCOME = ("outcome", "outcome_run_id", "outcome_at")
WENT_WELL = DagRun.State.SUCCESS


def record(run: DagRun, attempt: Attempt, at: datetime, pks: Sequence[int]) -> None:
    """The attempt of `run` at these partitions, which are locked, has ended; one that began later stays."""
    begun, rows = run.started_at or at, Partition.objects.filter(pk__in=pks)
    outcome = {"outcome": attempt, "outcome_run": run, "outcome_at": begun, "updated_at": at}
    if attempt is Attempt.FAILED:
        before = Case(When(outcome=Attempt.SUCCESS, then=F("outcome_at")), default=F("success_at"))
        rows.filter(older("outcome", run, begun)).update(**outcome, success_at=before)
        failed = [FailedAttempt(partition_id=pk, run=run, begun_at=begun) for pk in pks]
        FailedAttempt.objects.bulk_create(failed, ignore_conflicts=True, batch_size=1000)
    elif rows.filter(older("outcome", run, begun)).update(**outcome) < len(pks):
        rows.filter(Q(success_at=None) | Q(success_at__lt=begun)).update(success_at=begun)


def older(kind: str, run: DagRun, begun: datetime) -> Q:
    """Partitions whose `kind`, attempt or outcome, began before this attempt of `run`, or is this one.

    What another attempt of the same run says is always older, also where clocks were set back between them.
    """
    return (
        Q(**{f"{kind}_at": None})
        | Q(**{f"{kind}_at__lt": begun})
        | Q(**{f"{kind}_at": begun, f"{kind}_run_id__lte": run.pk})
        | Q(**{f"{kind}_run": run})
    )


def named_by(runs: Collection[DagRun]) -> set[tuple[int, str]]:
    """(asset id, key) of the partitions that say what `runs` are at, how they ended, or might again."""
    said = Partition.objects.filter(Q(attempt_run__in=runs) | Q(outcome_run__in=runs))
    failed = FailedAttempt.objects.filter(run__in=runs)
    return {
        *said.values_list("asset_id", "key"),
        *failed.values_list("partition__asset_id", "partition__key"),
    }


def forget(rows: QuerySet[Partition], runs: Collection[DagRun]) -> None:
    """What of `runs` failed at `rows`, which are locked, is off the record. What went well stays so."""
    FailedAttempt.objects.filter(run__in=runs, partition__in=rows).delete()
    _fall_back(rows.filter(outcome_run__in=runs, outcome=Attempt.FAILED))


def take_back(rows: QuerySet[Partition], run: DagRun, begun: datetime) -> None:
    """How that attempt of `run` ended at `rows`, which are locked, is for a person to say, who does."""
    FailedAttempt.objects.filter(run=run, begun_at=begun, partition__in=rows).delete()
    # One that it fell back to, when a later attempt went off the record, names no run.
    said = Q(outcome_at=begun) & (Q(outcome_run=run) | Q(outcome_run=None))
    well = rows.filter((said & Q(outcome=Attempt.SUCCESS)) | Q(success_at=begun))
    known, found = _successes(well, run), []
    for pk, asset, key, success_at in well.values_list("pk", "asset", "key", "success_at"):
        times = [known.get((asset, key)), success_at if success_at != begun else None]
        found.append((pk, max(filter(None, times), default=None)))
    bulk.update(Partition, ("success_at",), found)
    _fall_back(rows.filter(said))


def _fall_back(rows: QuerySet[Partition]) -> None:
    event = ("last_event__source_run", "last_event__source_run__started_at")
    found = list(rows.values_list("pk", "success_at", *event))
    failed = FailedAttempt.objects.filter(partition__in=[pk for pk, *_ in found])
    newest = {each.partition_id: each for each in failed.order_by("begun_at", "run_id")}
    outcomes: list[tuple[object, ...]] = []
    for pk, success_at, run_id, begun in found:
        last = newest.get(pk)
        if last and (success_at is None or last.begun_at > success_at):
            outcomes.append((pk, Attempt.FAILED.value, last.run_id, last.begun_at))
        else:
            ended = Attempt.SUCCESS if success_at else Attempt.NONE
            outcomes.append((pk, ended.value, run_id if begun == success_at else None, success_at))
    bulk.update(Partition, OUTCOME, outcomes)


def _successes(rows: QuerySet[Partition], besides: DagRun) -> dict[tuple[int, str], datetime]:
    """When the last attempt on record began at each of `rows` that went well and was not of `besides`."""
    assets, keys = rows.values("asset"), list(rows.values_list("key", flat=True))
    known = Q(source_run__state=WENT_WELL) | Q(source_run=None)
    events = AssetEvent.objects.filter(known, asset__in=assets, partition_key__in=keys)
    alone = DagRun.objects.filter(
        dag__outlets__asset__in=assets, partition_key__in=keys, state=WENT_WELL, started_at__isnull=False
    ).exclude(pk=besides.pk)
    ranged = BackfillPartition.objects.filter(
        target__dag__outlets__asset__in=assets,
        key__in=keys,
        state=BackfillPartition.State.DONE,
        run__state=WENT_WELL,
        run__started_at__isnull=False,
    ).exclude(run=besides)
    found = [
        *events.exclude(source_run=besides)
        .values_list("asset", "partition_key")
        .annotate(begun=Max(Coalesce("source_run__started_at", "timestamp"))),
        *alone.values_list("dag__outlets__asset", "partition_key").annotate(Max("started_at")),
        *ranged.values_list("target__dag__outlets__asset", "key").annotate(Max("run__started_at")),
    ]
    return {(asset, key): begun for asset, key, begun in sorted(found, key=lambda each: each[2])}
