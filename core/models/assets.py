"""Assets, and the events that say one of their partitions changed."""

from typing import Self

from django.db import models
from django.db.models import Q

from core.models.fields import name_field, optional_key_field


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

    def consumed_by(self, run: int) -> Self:
        """Events that a run, by primary key, has consumed: each once, also by a run of several keys."""
        return self.filter(pk__in=AssetEvent.objects.filter(consumers__held_run__run=run).values("pk"))


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
