"""Assets, the events that say one of their partitions changed, and the state of each partition."""

from typing import Self

from django.db import models
from django.db.models import Case, Q, Value, When

from core.models.fields import key_field, name_field, optional_key_field


class AssetQuerySet(models.QuerySet["Asset"]):
    def active(self) -> Self:
        return self.filter(is_active=True)


class Asset(models.Model):
    """A named thing that has partitions. `partitions` is the spec of the keys it is expected to have."""

    name = name_field(unique=True)
    uri = name_field(db_index=True)
    group = models.CharField(max_length=250, default="asset")
    extra = models.JSONField(default=dict)
    partitions = models.JSONField(null=True, blank=True)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects = AssetQuerySet.as_manager()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class AssetEventQuerySet(models.QuerySet["AssetEvent"]):
    def unrouted(self) -> Self:
        """Events nobody has mapped yet, oldest first."""
        return self.filter(routed_at=None).order_by("id")


class AssetEvent(models.Model):
    """One partition changed (or, without a key, the asset did). Never edited after it was routed."""

    class Source(models.TextChoices):
        RUN = "run"
        API = "api"
        PERSON = "person"
        SENSOR = "sensor"

    asset = models.ForeignKey(Asset, on_delete=models.PROTECT, related_name="events", db_index=False)
    partition_key = optional_key_field()
    partition_date = models.DateTimeField(null=True)
    extra = models.JSONField(default=dict)
    source = models.CharField(max_length=10, choices=Source)
    source_run = models.ForeignKey(
        "DagRun", on_delete=models.SET_NULL, null=True, related_name="produced", db_index=False
    )
    source_task_id = models.CharField(max_length=250, default="")
    created_by = models.CharField(max_length=150, default="")
    timestamp = models.DateTimeField()
    idempotency_key = models.CharField(max_length=250, null=True)  # noqa: DJ001 - unique only where given
    routed_at = models.DateTimeField(null=True)

    objects = AssetEventQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(
                "asset",
                "idempotency_key",
                condition=Q(idempotency_key__isnull=False),
                name="one_event_per_asset_and_idempotency_key",
            ),
            models.CheckConstraint(condition=~Q(partition_key=""), name="an_event_key_is_never_empty"),
        ]
        indexes = [
            # Read by holds.route_pending: the queue of facts not yet mapped, small whatever the history.
            models.Index(fields=["id"], condition=Q(routed_at=None), name="event_unrouted"),
            # Read by the panel of one partition.
            models.Index(fields=["asset", "partition_key", "id"], name="event_of_partition"),
            # Read by the events of one asset, newest first.
            models.Index(fields=["asset", "-id"], name="event_of_asset"),
            models.Index(fields=["timestamp", "id"], name="event_by_time"),
            # Read by the outcomes of backfills, and when a run is deleted: most events are of none.
            models.Index(fields=["source_run"], condition=Q(source_run__isnull=False), name="event_of_run"),
        ]

    def __str__(self) -> str:
        return f"{self.asset_id}:{self.partition_key}"


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
    event that a person or a program has reported. `state` and `is_stale` follow from these in the database,
    so they cannot disagree.

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


class MappingProblem(models.Model):
    """An event that one consumer could not count, kept until somebody has read it. Stops nobody else."""

    class Kind(models.TextChoices):
        NO_KEY = "missing partition key"
        CANNOT_MAP = "failed to map partition_key"
        TOO_MANY = "partition fan-out exceeded"

    event = models.ForeignKey(AssetEvent, on_delete=models.CASCADE, related_name="problems")
    dag = models.ForeignKey("Dag", on_delete=models.CASCADE, related_name="mapping_problems")
    kind = models.CharField(max_length=40, choices=Kind)
    sentence = models.TextField()
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint("event", "dag", name="one_problem_per_event_and_dag")]

    def __str__(self) -> str:
        return self.sentence


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
