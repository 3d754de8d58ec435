"""The state of each partition, and the keys that partitions definitions with dynamic keys have."""

from typing import Self

from django.db import models
from django.db.models import Case, Q, Value, When

from core.models.assets import Asset, AssetEvent
from core.models.fields import key_field, name_field

LOOKS = (
    (0, Q(attempt__in=["", "success"], data_at__isnull=False, stale_since__isnull=True)),
    (1, Q(attempt__in=["", "success"], data_at__isnull=False, stale_since__isnull=False)),
    (2, Q(attempt="running")),
    (3, Q(attempt__in=["", "success"], data_at__isnull=True)),
    (5, Q(attempt="failed")),
)
"""Which partitions have which `Partition.Look`."""


class Partition(models.Model):
    """The latest known state of one key of one asset.

    Two facts (semantics, section 9): does it have data (`data_at`), and how did the latest attempt end
    (`attempt`, of the run `attempt_run`, which began at `attempt_at`). `outcome` is the latest attempt that
    has ended, to which it falls back when one is cancelled or its worker lost. An attempt without a run is an
    event that a person or a program has reported. `success_at` is when the last began that went well, if one
    has failed since. `state` and `is_stale` follow from these in the database, so they cannot disagree.

    `drawn` is the look that the drawing of its asset has of it (`core.models.drawings`), none before it is
    drawn. Whoever writes a partition need not know of it: the database sees that the two differ.
    """

    class Attempt(models.TextChoices):
        NONE = ""
        RUNNING = "running"
        SUCCESS = "success"
        FAILED = "failed"

    class State(models.TextChoices):
        MATERIALIZED = "materialized"
        FAILED = "failed"
        RUNNING = "running"
        MISSING = "missing"

    class Look(models.IntegerChoices):
        """How it looks by itself, better before worse. (A missing one that a run is held for looks held.)"""

        MATERIALIZED = 0
        STALE = 1
        RUNNING = 2
        MISSING = 3
        FAILED = 5

    asset = models.ForeignKey(Asset, on_delete=models.PROTECT, related_name="partition_set", db_index=False)
    key = key_field()
    partition_date = models.DateTimeField(null=True)
    data_at = models.DateTimeField(null=True)
    last_event = models.ForeignKey(AssetEvent, on_delete=models.SET_NULL, null=True, related_name="+")
    extra = models.JSONField(default=dict)
    attempt = models.CharField(max_length=10, choices=Attempt, default=Attempt.NONE, blank=True)
    attempt_run = models.ForeignKey(
        "DagRun", on_delete=models.SET_NULL, null=True, related_name="+", db_index=False
    )
    attempt_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=10, choices=Attempt, default=Attempt.NONE, blank=True)
    outcome_run = models.ForeignKey(
        "DagRun", on_delete=models.SET_NULL, null=True, related_name="+", db_index=False
    )
    outcome_at = models.DateTimeField(null=True)
    success_at = models.DateTimeField(null=True)
    stale_since = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()
    state = models.GeneratedField(
        expression=Case(
            When(attempt="running", then=Value("running")),
            When(attempt="failed", then=Value("failed")),
            When(data_at__isnull=False, then=Value("materialized")),
            default=Value("missing"),
        ),
        output_field=models.CharField(max_length=12, choices=State),
        db_persist=True,
    )
    is_stale = models.GeneratedField(
        expression=Case(When(stale_since__isnull=False, then=Value(True)), default=Value(False)),
        output_field=models.BooleanField(),
        db_persist=True,
    )
    drawn = models.PositiveSmallIntegerField(null=True)
    is_undrawn = models.GeneratedField(
        expression=Case(
            *(When(condition & Q(drawn=look), then=Value(False)) for look, condition in LOOKS),
            default=Value(True),
        ),
        output_field=models.BooleanField(),
        db_persist=True,
    )

    class Meta:
        constraints = [
            models.UniqueConstraint("asset", "key", name="one_state_per_asset_and_key"),
            models.CheckConstraint(condition=~Q(key=""), name="a_partition_key_is_never_empty"),
        ]
        indexes = [
            # Read by board: bars and grids in order of time, and counts per state.
            models.Index(fields=["asset", "partition_date", "key"], name="partition_by_date"),
            models.Index(fields=["asset", "state"], name="partition_by_state"),
            # Read by drawings, and by whoever looks at a drawing: what it does not show yet.
            models.Index(fields=["asset"], condition=Q(is_undrawn=True), name="partition_undrawn"),
            # Read by states, and when a run is deleted: partitions that events of others filled name no run.
            models.Index(
                fields=["attempt_run"], condition=Q(attempt_run__isnull=False), name="partition_of_attempt"
            ),
            models.Index(
                fields=["outcome_run"], condition=Q(outcome_run__isnull=False), name="partition_of_outcome"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.asset_id}:{self.key}"


class FailedAttempt(models.Model):
    """An attempt of `run` at a partition that failed: the outcome again if those since go off the record."""

    partition = models.ForeignKey(Partition, on_delete=models.CASCADE, related_name="+", db_index=False)
    run = models.ForeignKey("DagRun", on_delete=models.CASCADE, related_name="+")
    begun_at = models.DateTimeField()

    class Meta:
        constraints = [
            # Read by endings, by partition.
            models.UniqueConstraint("partition", "run", "begun_at", name="an_attempt_fails_once"),
        ]

    def __str__(self) -> str:
        return f"{self.run_id} at {self.partition_id}"


class DynamicKeyQuerySet(models.QuerySet["DynamicKey"]):
    def there(self) -> Self:
        """Keys that have not been removed, oldest first."""
        return self.filter(removed_at=None).order_by("id")


class DynamicKey(models.Model):
    """One key of the dynamic partitions called `name`. One that was removed and added again has two rows."""

    name = name_field()
    key = key_field()
    added_at = models.DateTimeField()
    added_by = models.CharField(max_length=150)
    removed_at = models.DateTimeField(null=True)
    removed_by = models.CharField(max_length=150, default="")

    objects = DynamicKeyQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(
                "name", "key", condition=Q(removed_at=None), name="a_dynamic_key_is_there_once"
            ),
            models.CheckConstraint(condition=~Q(key=""), name="a_dynamic_key_is_never_empty"),
        ]
        indexes = [
            # Read by dynamic.keys_of, in the order in which keys have their numbers.
            models.Index(fields=["name", "id"], condition=Q(removed_at=None), name="dynamic_keys_there"),
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.key}"
