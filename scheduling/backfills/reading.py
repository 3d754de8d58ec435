"""What pages and the API show of backfills: how far each is, its Dags, its partitions, where they stand."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from django.db.models import Avg, Count, F, IntegerField, QuerySet, Sum
from django.db.models.functions import Cast

from core.models import Backfill, BackfillPartition, BackfillTarget, Dag, DagRun

State = BackfillPartition.State
ENDED = ("done", "failed", "skipped", "cancelled")


class Status(StrEnum):
    """What a backfill is doing."""

    RUNNING = "running"
    PAUSED = "paused"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"
    FAILED = "failed"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a backfill or one of its Dags is. `failed` ones did not run, or ran and failed."""

    planned: int = 0
    done: int = 0
    failed: int = 0
    skipped: int = 0
    cancelled: int = 0

    @property
    def open(self) -> int:
        return self.planned - self.ended

    @property
    def ended(self) -> int:
        return self.done + self.failed + self.skipped + self.cancelled

    @property
    def parts(self) -> list[tuple[str, int]]:
        """What there is of each, in the order in which a bar shows it."""
        found = [(name, getattr(self, name)) for name in ("done", "skipped", "failed", "cancelled", "open")]
        return [(name, number) for name, number in found if number]

    @property
    def words(self) -> str:
        return ", ".join(f"{number:,} {name}" for name, number in self.parts) or "nothing"


@dataclass(frozen=True, slots=True)
class Bucket:
    """Neighbours in the order of a Dag's partitions, and how many of them are in which state."""

    first: int
    last: int
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Lane:
    """One Dag of a backfill: how far it is, in which states its partitions are, and where in their order.

    `limited_by` is what its next runs wait for, if it is a limit.
    """

    target: BackfillTarget
    progress: Progress
    states: Mapping[str, int]
    buckets: Sequence[Bucket] = field(default=())
    limited_by: str = ""


def progress_of(backfills: Sequence[Backfill]) -> dict[int, Progress]:
    """How far each of `backfills` is, by primary key. One query."""
    names = ("planned", *ENDED)
    rows = BackfillTarget.objects.filter(backfill__in=backfills).order_by().values_list("backfill_id")
    return {pk: Progress(*sums) for pk, *sums in rows.annotate(*(Sum(name) for name in names))}


def dags_of(backfills: Sequence[Backfill]) -> dict[int, list[Dag]]:
    """The Dags of each of `backfills`, upstream first. One query."""
    rows = BackfillTarget.objects.filter(backfill__in=backfills).select_related("dag").order_by("layer", "pk")
    found: dict[int, list[Dag]] = defaultdict(list)
    for row in rows:
        found[row.backfill_id].append(row.dag)
    return found


def status_of(backfill: Backfill, progress: Progress) -> Status:
    if backfill.cancelled_at is not None:
        return Status.CANCELLED if backfill.completed_at else Status.CANCELLING
    if backfill.completed_at is not None:
        return Status.FAILED if progress.failed else Status.DONE
    return Status.PAUSED if backfill.is_paused else Status.RUNNING


def lanes(backfill: Backfill, *, width: int = 120) -> list[Lane]:
    """How far each Dag of a backfill is and, in up to `width` buckets, where. A few queries for each."""
    targets = list(backfill.targets.select_related("dag").order_by("layer", "pk"))
    return [_lane(backfill, target, width) for target in targets]


def partitions(backfill: Backfill) -> QuerySet[BackfillPartition]:
    """Its partitions, Dag by Dag in the order in which they start."""
    rows = BackfillPartition.objects.filter(target__in=backfill.targets.values("pk"))
    return rows.select_related("target__dag", "run").order_by("target__layer", "target_id", "position")


def remaining(backfill: Backfill, progress: Progress) -> timedelta | None:
    """How long what is open will take, if it goes on as it went; unknown before a run of it has ended."""
    ended = DagRun.objects.filter(backfill=backfill, state=DagRun.State.SUCCESS, started_at__isnull=False)
    mean = ended.order_by().aggregate(mean=Avg(F("ended_at") - F("started_at")), runs=Count("pk"))
    if not mean["runs"] or not progress.open:
        return None
    keys_per_run = max(1, round(progress.done / mean["runs"]))
    return (mean["mean"] or timedelta()) * (progress.open / keys_per_run) / backfill.max_active_runs


def latest(dag: Dag | None = None, *, before: datetime | None = None) -> QuerySet[Backfill]:
    """Backfills, the newest first; of one Dag, or started before an instant."""
    rows = Backfill.objects.order_by("-pk")
    if dag is not None:
        rows = rows.filter(targets__dag=dag)
    return rows if before is None else rows.filter(created_at__lt=before)


def _lane(backfill: Backfill, target: BackfillTarget, width: int) -> Lane:
    size = max(1, -(-target.planned // width))
    rows = BackfillPartition.objects.filter(target=target).order_by()
    place = Cast(F("position") / size, IntegerField())
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for bucket, state, number in rows.values_list(place, "state").annotate(Count("pk")):
        found[bucket][state] = number
    totals: dict[str, int] = defaultdict(int)
    for counts in found.values():
        for state, number in counts.items():
            totals[state] += number
    return Lane(
        target=target,
        progress=Progress(target.planned, target.done, target.failed, target.skipped, target.cancelled),
        states={state: totals[state] for state in State.values if totals[state]},
        buckets=[
            Bucket(at * size, min((at + 1) * size, target.planned) - 1, found[at]) for at in sorted(found)
        ],
        limited_by=_limit(backfill, target, totals),
    )


def _limit(backfill: Backfill, target: BackfillTarget, states: Mapping[str, int]) -> str:
    """Why nothing more of a Dag starts now, if it is for a limit or a pause."""
    if not states[State.READY] and not states[State.STARTED]:
        return ""
    if target.dag.is_paused:
        return f"Dag {target.dag} is paused"
    running = DagRun.objects.filter(state=DagRun.State.RUNNING)
    if running.filter(backfill=backfill).count() >= backfill.max_active_runs:
        return f"{backfill.max_active_runs} of its runs are running: it may have no more"
    if running.filter(dag=target.dag).count() >= target.dag.max_active_runs:
        return f"{target.dag.max_active_runs} runs of Dag {target.dag} are running: it may have no more"
    return ""
