"""Backfills: many partitions on request, each of them a row that says what became of it."""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Exists, F, OuterRef, Q

from core.models.dags import Dag
from core.models.fields import key_field
from core.models.runs import DagRun


class BackfillQuerySet(models.QuerySet["Backfill"]):
    def open(self) -> Self:
        return self.filter(completed_at=None)

    def due(self, now: datetime) -> Self:
        """Open backfills that can go on: somebody asked for a look, or one of their runs has ended.

        So can one that sleeps with nothing under way: runs of it that were tried again by hand had its room.
        """
        own = BackfillPartition.objects.filter(target__backfill=OuterRef("pk"))
        ended = own.started().filter(Q(run=None) | Q(run__state__in=DagRun.FINISHED))
        idle = Q(Exists(own.ready()), ~Exists(own.started()), is_paused=False, advance_after=None)
        return self.open().filter(Q(advance_after__lte=now) | Exists(ended) | idle)


class Backfill(models.Model):
    """A plan that was started. What was asked for is kept as it was asked (`asked`), in words (`words`).

    It sleeps (`advance_after` null) while it can only wait for its runs. `keys_per_run` is null where one run
    takes all the keys of a Dag.
    """

    class Order(models.TextChoices):
        OLDEST = "oldest"
        NEWEST = "newest"

    class Reprocess(models.TextChoices):
        NONE = "none"
        FAILED = "failed"
        COMPLETED = "completed"

    title = models.CharField(max_length=250, default="", blank=True)
    words = models.TextField(default="")
    asked = models.JSONField(default=dict)
    from_date = models.DateTimeField(null=True)
    to_date = models.DateTimeField(null=True)
    conf = models.JSONField(default=dict)
    reprocess = models.CharField(max_length=10, choices=Reprocess, default=Reprocess.NONE)
    order = models.CharField(max_length=10, choices=Order, default=Order.OLDEST)
    is_chained = models.BooleanField(default=False)
    keys_per_run = models.PositiveIntegerField(null=True, default=1)
    max_active_runs = models.PositiveIntegerField(default=10)
    is_paused = models.BooleanField(default=False)
    created_by = models.CharField(max_length=150, default="")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    advance_after = models.DateTimeField(null=True)
    cancelled_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)

    objects = BackfillQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        constraints = [
            models.CheckConstraint(
                condition=Q(keys_per_run=None) | Q(keys_per_run__gte=1),
                name="a_run_of_a_backfill_takes_a_key_or_more",
            ),
            models.CheckConstraint(
                condition=Q(max_active_runs__gte=1), name="a_backfill_may_have_a_run_at_a_time"
            ),
            models.CheckConstraint(
                condition=Q(completed_at=None) | Q(advance_after=None), name="a_completed_backfill_sleeps"
            ),
        ]
        indexes = [
            # Read by backfills.advance, whatever has been completed before.
            models.Index(fields=["id"], condition=Q(completed_at=None), name="backfill_open"),
        ]

    def __str__(self) -> str:
        return f"backfill {self.pk}"

    @property
    def holds_back(self) -> bool:
        """Whether its queued runs wait; those of one that was cancelled somebody has tried again since."""
        return self.is_paused and self.cancelled_at is None


class BackfillTarget(models.Model):
    """One Dag of a backfill, and how far its partitions are.

    The counts change in the transaction that changes the partitions, so they add up at every moment. `layer`
    is 0 for a Dag that waits for no other one of the backfill. `passed_over` counts how often another queue
    of the Dag was given a slot that runs of this one were waiting for.
    """

    backfill = models.ForeignKey(Backfill, on_delete=models.CASCADE, related_name="targets")
    dag = models.ForeignKey(Dag, on_delete=models.PROTECT, related_name="backfill_targets")
    layer = models.PositiveIntegerField(default=0)
    planned = models.PositiveIntegerField()
    done = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    cancelled = models.PositiveIntegerField(default=0)
    passed_over = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("layer", "id")
        constraints = [
            models.UniqueConstraint("backfill", "dag", name="a_dag_is_a_target_once_per_backfill"),
            models.CheckConstraint(
                condition=Q(planned__gte=F("done") + F("failed") + F("skipped") + F("cancelled")),
                name="no_more_partitions_end_than_were_planned",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dag_id} of backfill {self.backfill_id}"

    @property
    def open(self) -> int:
        return self.planned - self.done - self.failed - self.skipped - self.cancelled


class BackfillPartitionQuerySet(models.QuerySet["BackfillPartition"]):
    def ready(self) -> Self:
        return self.filter(state=BackfillPartition.State.READY)

    def started(self) -> Self:
        return self.filter(state=BackfillPartition.State.STARTED)

    def open(self) -> Self:
        return self.filter(state__in=BackfillPartition.OPEN)


class BackfillPartition(models.Model):
    """One key of one Dag of a backfill.

    `waiting` for upstream keys of the same backfill, `ready` to start, `started` with a run that has not
    ended, or ended. One that is `blocked` failed without a run, because what it needs did. `ripe_at` is when
    the last upstream run that it waited for ended.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        READY = "ready"
        STARTED = "started"
        DONE = "done"
        FAILED = "failed"
        BLOCKED = "blocked"
        SKIPPED = "skipped"
        CANCELLED = "cancelled"

    OPEN = (State.WAITING, State.READY, State.STARTED)

    target = models.ForeignKey(
        BackfillTarget, on_delete=models.CASCADE, related_name="partition_set", db_index=False
    )
    key = key_field()
    position = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State)
    reason = models.TextField(default="")
    ripe_at = models.DateTimeField(null=True)
    run = models.ForeignKey(
        DagRun,
        on_delete=models.SET_NULL,
        null=True,
        related_name="backfill_partitions",
        db_index=False,
    )

    objects = BackfillPartitionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint("target", "key", name="a_key_is_planned_once_per_target"),
            models.CheckConstraint(condition=~Q(key=""), name="a_planned_key_is_never_empty"),
        ]
        indexes = [
            # Read by the page of one backfill.
            models.Index(fields=["target", "position"], name="backfill_in_order"),
            # Read by backfills.advance: what may start next, however much has ended.
            models.Index(fields=["target", "position"], condition=Q(state="ready"), name="backfill_ready"),
            # Read by backfills.advance: what has a run that may have ended.
            models.Index(fields=["target"], condition=Q(state="started"), name="backfill_started"),
            # Read by the page of one run, and when a run is deleted.
            models.Index(fields=["run"], condition=Q(run__isnull=False), name="backfill_of_run"),
        ]

    def __str__(self) -> str:
        return self.key
