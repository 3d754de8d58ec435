"""What the API and the command line show of backfills: how far each is, its Dags, its partitions."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Count, QuerySet, Sum

from core.models import Backfill, BackfillPartition, BackfillTarget, Dag, DagRun
from scheduling.algebra.phrases import are, some

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
class Lane:
    """One Dag of a backfill: how far it is, and in which states its partitions are.

    `limited_by` is what its next runs wait for, if it is a limit.
    """

    target: BackfillTarget
    progress: Progress
    states: Mapping[str, int]
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


def lanes(backfill: Backfill) -> list[Lane]:
    """How far each Dag of a backfill is. A few queries for each."""
    targets = list(backfill.targets.select_related("dag").order_by("layer", "pk"))
    return [_lane(backfill, target) for target in targets]


def partitions(backfill: Backfill) -> QuerySet[BackfillPartition]:
    """Its partitions, Dag by Dag in the order in which they start."""
    rows = BackfillPartition.objects.filter(target__in=backfill.targets.values("pk"))
    return rows.select_related("target__dag", "run").order_by("target__layer", "target_id", "position")


def latest(dag: Dag | None = None) -> QuerySet[Backfill]:
    """Backfills, the newest first; of one Dag, or of all."""
    rows = Backfill.objects.order_by("-pk")
    return rows if dag is None else rows.filter(targets__dag=dag)


def _lane(backfill: Backfill, target: BackfillTarget) -> Lane:
    rows = BackfillPartition.objects.filter(target=target).order_by()
    counts = Counter(dict(rows.values_list("state").annotate(count=Count("*"))))
    return Lane(
        target=target,
        progress=Progress(target.planned, target.done, target.failed, target.skipped, target.cancelled),
        states={state: counts[state] for state in State.values if counts[state]},
        limited_by=_limit(backfill, target, counts),
    )


def _limit(backfill: Backfill, target: BackfillTarget, states: Mapping[str, int]) -> str:
    """Why nothing more of a Dag starts now, if it is for a limit or a pause."""
    if not states[State.READY] and not states[State.STARTED]:
        return ""
    if target.dag.is_paused:
        return f"Dag {target.dag} is paused"
    running = DagRun.objects.filter(state=DagRun.State.RUNNING)
    if running.filter(backfill=backfill).count() >= backfill.max_active_runs:
        most = backfill.max_active_runs
        return f"{most} of its runs {are(most)} running: it may have no more"
    if running.filter(dag=target.dag).count() >= target.dag.max_active_runs:
        most = target.dag.max_active_runs
        return f"{some(most, 'run')} of Dag {target.dag} {are(most)} running: it may have no more"
    return ""
