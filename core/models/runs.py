"""Held runs, the keys they have received, and Dag runs."""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Case, Q, Value, When

from core.models.assets import Asset, AssetEvent
from core.models.dags import Dag
from core.models.fields import key_field, optional_key_field
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
    `claimed_by`, `attempt`, `lease_until`) says that it was started. `failures` of its attempts failed; any
    others ended with their worker. One that is queued after a failure keeps its `error`. While it runs it
    takes `pool_slots` of `pool`, those of its Dag when it was claimed. One that `is_elsewhere` is with
    another system: no worker of ours renews its lease.
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
    queued_at = models.DateTimeField()
    run_after = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()
    attempt = models.PositiveIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
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
            # Read by claims.dispatch: what may start, oldest first.
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
            # Read by the last runs of each Dag.
            models.Index(fields=["dag", "-id"], name="run_of_dag"),
            models.Index(fields=["state", "id"], name="run_by_state"),
            # Read by lists of what did not end well of one Dag: few rows, however many runs succeed.
            models.Index(
                fields=["state", "dag", "-id"],
                condition=Q(state__in=["failed", "cancelled", "skipped"]),
                name="run_gone_wrong",
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


class HeldRunQuerySet(models.QuerySet["HeldRun"]):
    def held(self) -> Self:
        return self.filter(state=HeldRun.State.HELD)

    def due(self, now: datetime) -> Self:
        """Held runs that something has happened to since they were last judged."""
        return self.held().filter(judge_after__lte=now).order_by("judge_after", "id")

    def late(self, now: datetime) -> Self:
        """Held runs that lack a key which should have come some time ago."""
        return self.held().filter(late_at__lte=now)

    def to_be_noted(self, now: datetime) -> Self:
        """Held runs that have become late, and nobody has noted it."""
        return self.late(now).filter(late_noted_at=None).order_by("late_at", "id")


class HeldRun(models.Model):
    """A row that waits for upstream partitions before a Dag run exists.

    Whoever opens it counts the keys that are there already and sets `filled_at` in the same transaction.
    Then it sleeps (`judge_after` null) until something happens to it. `verdict`, `sentence` and the counts
    are what the last judgement said, kept for lists; a page about one held run judges anew. `late_at` is when
    it is late if nothing more comes, null where nobody knows; `late_noted_at`, when somebody was told so.

    `is_drawn`: the drawings of the assets that its Dag writes count it (`core.models.drawings`). Whoever
    opens or closes one need not know of it: the database sees that it differs.
    """

    class State(models.TextChoices):
        HELD = "held"
        FIRED = "fired"
        CANCELLED = "cancelled"
        SUPERSEDED = "superseded"

    dag = models.ForeignKey(Dag, on_delete=models.PROTECT, related_name="held_runs", db_index=False)
    partition_key = key_field()
    partition_date = models.DateTimeField(null=True)
    round = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=10, choices=State, default=State.HELD)
    opened_at = models.DateTimeField()
    last_event_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    closed_by = models.CharField(max_length=150, default="")
    filled_at = models.DateTimeField(null=True)
    judge_after = models.DateTimeField(null=True)
    verdict = models.CharField(max_length=12, default="waiting")
    sentence = models.TextField(default="")
    required_count = models.PositiveIntegerField(default=0)
    received_count = models.PositiveIntegerField(default=0)
    late_at = models.DateTimeField(null=True)
    late_noted_at = models.DateTimeField(null=True)
    run = models.OneToOneField(DagRun, on_delete=models.PROTECT, null=True, related_name="held_run")
    is_drawn = models.BooleanField(default=False, db_default=False)
    is_undrawn = models.GeneratedField(
        expression=Case(
            When(Q(state="held", is_drawn=False), then=Value(True)),
            When(~Q(state="held") & Q(is_drawn=True), then=Value(True)),
            default=Value(False),
        ),
        output_field=models.BooleanField(),
        db_persist=True,
    )

    objects = HeldRunQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(
                "dag", "partition_key", condition=Q(state="held"), name="one_open_held_run_per_dag_and_key"
            ),
            models.UniqueConstraint("dag", "partition_key", "round", name="a_round_happens_once"),
            models.CheckConstraint(
                condition=Q(state="fired", run__isnull=False) | (~Q(state="fired") & Q(run__isnull=True)),
                name="a_fired_held_run_has_its_run",
            ),
            models.CheckConstraint(
                condition=Q(state="held", closed_at__isnull=True)
                | (~Q(state="held") & Q(closed_at__isnull=False)),
                name="an_open_held_run_is_not_closed",
            ),
        ]
        indexes = [
            # Read by holds.judge_due: only rows that something happened to, however many are held.
            models.Index(
                fields=["judge_after", "id"],
                condition=Q(state="held", judge_after__isnull=False),
                name="held_due",
            ),
            # Read by the page of held runs, and to count them: nothing else is in it, so it is small.
            models.Index(fields=["verdict"], condition=Q(state="held"), name="held_verdict"),
            models.Index(fields=["dag", "partition_key", "-round"], name="held_rounds"),
            # Read by the held runs of one Dag, a page at a time.
            models.Index(fields=["dag", "id"], condition=Q(state="held"), name="held_of_dag"),
            # Read by lists and counts of those that are late.
            models.Index(
                fields=["late_at", "id"], condition=Q(state="held", late_at__isnull=False), name="held_late"
            ),
            # Read by overdue.note_late: only rows that become late, however many are.
            models.Index(
                fields=["late_at", "id"],
                condition=Q(state="held", late_at__isnull=False, late_noted_at=None),
                name="held_to_be_noted",
            ),
            # Read by drawings, and by whoever looks at a drawing: what it does not show yet.
            models.Index(fields=["dag"], condition=Q(is_undrawn=True), name="held_undrawn"),
            # Read by drawings: which keys of a Dag are drawn as held.
            models.Index(fields=["dag", "partition_key"], condition=Q(is_drawn=True), name="held_drawn"),
        ]

    def __str__(self) -> str:
        return f"{self.dag_id}:{self.partition_key} round {self.round}"


class ReceivedKey(models.Model):
    """An upstream key that counts for a held run; fresh if it came in this round."""

    held_run = models.ForeignKey(HeldRun, on_delete=models.CASCADE, related_name="received")
    asset = models.ForeignKey(Asset, on_delete=models.PROTECT, related_name="+")
    key = key_field()
    is_fresh = models.BooleanField(default=True)
    received_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint("held_run", "asset", "key", name="a_key_counts_once_per_held_run")
        ]

    def __str__(self) -> str:
        return self.key


class ConsumedEvent(models.Model):
    """An event that a held run counted; when the held run has fired, its Dag run consumed it."""

    held_run = models.ForeignKey(HeldRun, on_delete=models.CASCADE, related_name="consumed")
    event = models.ForeignKey(AssetEvent, on_delete=models.PROTECT, related_name="consumers")

    class Meta:
        constraints = [models.UniqueConstraint("held_run", "event", name="an_event_counts_once_per_held_run")]

    def __str__(self) -> str:
        return f"{self.held_run_id} consumed {self.event_id}"
