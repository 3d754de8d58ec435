"""Dag runs and what they have written."""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q

from core.models.dags import Dag
from core.models.fields import optional_key_field
from core.models.pools import Pool


class DagRunQuerySet(models.QuerySet["DagRun"]):
    def finished(self) -> Self:
        return self.filter(state__in=DagRun.FINISHED)

    def lost(self, now: datetime) -> Self:
        """Runs whose worker has stopped renewing its lease."""
        return self.filter(state=DagRun.State.RUNNING, lease_until__lt=now)


class DagRun(models.Model):
    """One execution of a Dag, usually for one partition key.

    A ranged run has `partition_keys` instead of a key; `failed_keys` maps those that its task gave up to the
    reason. `dispatched_at` is when a message to start it was last sent; only the claim (`state`,
    `claimed_by`, `attempt`, `lease_until`) says that it was started. No two claims of it share an `attempt`,
    but for one that was given back before anything was begun. `failures` and `losses`: attempts that
    failed, or ended with their worker, since somebody last asked for it. One that is queued after a
    failure keeps its `error`. While it runs it takes `pool_slots` of `pool`, those of its Dag when it was
    claimed. One that `is_elsewhere` is with another system: no worker of ours renews its lease. One that
    `is_fired_short` did not wait for its `missing_keys` because a person said so; where a wait policy
    did, they are no lack.
    """

    class Type(models.TextChoices):
        SCHEDULED = "scheduled"
        ASSET_TRIGGERED = "asset_triggered"
        MANUAL = "manual"
        BACKFILL = "backfill"
        SENSOR = "sensor"

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        SUCCESS = "success"
        FAILED = "failed"
        CANCELLED = "cancelled"
        SKIPPED = "skipped"

    FINISHED = (State.SUCCESS, State.FAILED, State.CANCELLED, State.SKIPPED)

    dag = models.ForeignKey(Dag, on_delete=models.PROTECT, related_name="runs", db_index=False)
    run_id = models.CharField(max_length=250)
    run_type = models.CharField(max_length=20, choices=Type)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    partition_key = optional_key_field()
    partition_date = models.DateTimeField(null=True)
    partition_keys = models.JSONField(null=True)
    failed_keys = models.JSONField(default=dict)
    backfill = models.ForeignKey(
        "Backfill", on_delete=models.SET_NULL, null=True, related_name="runs", db_index=False
    )
    tick_at = models.DateTimeField(null=True)
    conf = models.JSONField(default=dict)
    note = models.TextField(default="")
    triggered_by = models.CharField(max_length=20, default="")
    created_by = models.CharField(max_length=150, default="")
    missing_keys = models.JSONField(default=list)
    is_fired_short = models.BooleanField(default=False, db_default=False)
    queued_at = models.DateTimeField()
    run_after = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()
    attempt = models.PositiveIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    losses = models.PositiveIntegerField(default=0, db_default=0)
    claimed_by = models.CharField(max_length=150, default="")
    is_elsewhere = models.BooleanField(default=False)
    lease_until = models.DateTimeField(null=True)
    dispatched_at = models.DateTimeField(null=True)
    pool = models.ForeignKey(Pool, on_delete=models.SET_NULL, null=True, related_name="runs", db_index=False)
    pool_slots = models.PositiveIntegerField(default=0)
    cancel_requested = models.BooleanField(default=False)
    error = models.TextField(default="")

    objects = DagRunQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint("dag", "run_id", name="a_run_id_is_unique_in_its_dag"),
            models.UniqueConstraint(
                "dag",
                "tick_at",
                condition=Q(tick_at__isnull=False),
                name="a_tick_is_unique_per_dag_and_instant",
            ),
            models.CheckConstraint(
                condition=~Q(state="running") | Q(lease_until__isnull=False), name="a_running_run_has_a_lease"
            ),
            models.CheckConstraint(condition=~Q(partition_key=""), name="a_run_key_is_never_empty"),
            models.CheckConstraint(
                condition=Q(partition_keys__isnull=True) | Q(partition_key__isnull=True),
                name="a_run_has_one_key_or_a_range_of_them",
            ),
        ]
        indexes = [
            # Read by turns.dispatch: what may start, oldest first.
            models.Index(fields=["dag", "run_after", "id"], condition=Q(state="queued"), name="run_queued"),
            # Read by claims.claim (how many run) and claims.take_over_lost.
            models.Index(fields=["dag", "lease_until"], condition=Q(state="running"), name="run_running"),
            # Read by slots: how many slots of a pool are taken.
            models.Index(
                fields=["pool"], condition=Q(state="running", pool__isnull=False), name="run_in_pool"
            ),
            models.Index(fields=["dag", "partition_key", "id"], name="run_of_partition"),
            # Read by lists of runs, newest first.
            models.Index(fields=["run_after", "id"], name="run_by_time"),
            # Read by lists of the API, narrowed or ordered by these. What ran again stands among the newest.
            models.Index(fields=["started_at", "id"], name="run_by_start"),
            models.Index(fields=["ended_at", "id"], name="run_by_end"),
            models.Index(fields=["updated_at", "id"], name="run_by_change"),
            # Read by the last runs of each Dag.
            models.Index(fields=["dag", "-id"], name="run_of_dag"),
            models.Index(fields=["state", "id"], name="run_by_state"),
            # Read by lists of what did not end well of one Dag: few rows, however many runs succeed.
            models.Index(
                fields=["state", "dag", "-id"],
                condition=Q(state__in=["failed", "cancelled", "skipped"]),
                name="run_gone_wrong",
            ),
            # Read by bars and grids: what was made without some keys. Only a person makes such a run.
            models.Index(fields=["-id"], condition=Q(is_fired_short=True), name="run_fired_short"),
            # Read by counts of runs by hand, of which the API tells these apart by their id.
            models.Index(
                fields=["-id"],
                condition=Q(run_id__startswith="asset_materialization__"),
                name="run_of_materialization",
            ),
            # Read by slots.shares and backfills.advance: how many runs of a backfill are active.
            models.Index(
                fields=["backfill", "state"], condition=Q(backfill__isnull=False), name="run_of_backfill"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dag_id}/{self.run_id}"

    @property
    def keys(self) -> list[str]:
        """The keys it is for: its own, a range of them, or none."""
        own = [self.partition_key] if self.partition_key is not None else []
        return own if self.partition_keys is None else list(self.partition_keys)


class LogLine(models.Model):
    """One line a run has written, in the order of `id`."""

    run = models.ForeignKey(DagRun, on_delete=models.CASCADE, related_name="log_lines")
    attempt = models.PositiveIntegerField()
    task_id = models.CharField(max_length=250, default="")
    at = models.DateTimeField()
    text = models.TextField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return self.text
