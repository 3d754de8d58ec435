"""Dags, what they listen to, and what they write."""

from datetime import datetime, timedelta
from typing import Self
from uuid import UUID, uuid4

from django.db import models
from django.db.models import Q

from core.models.assets import Asset
from core.models.fields import name_field
from core.models.pools import Pool


class DefinitionSource(models.Model):
    """A file or module of definitions, and why it could not be loaded if it could not.

    Runs of its Dags are not taken until `unloadable_until`: one could not be executed, says `unloadable_why`.
    """

    name = name_field(unique=True)
    error = models.TextField(default="")
    error_line = models.PositiveIntegerField(null=True)
    traceback = models.TextField(default="")
    fingerprint = models.CharField(max_length=64, default="")
    unloadable_until = models.DateTimeField(null=True)
    unloadable_why = models.TextField(default="", db_default="")
    loaded_at = models.DateTimeField()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class DagQuerySet(models.QuerySet["Dag"]):
    def active(self) -> Self:
        return self.filter(is_active=True)

    def due(self, now: datetime) -> Self:
        """Dags with a cadence of their own that have a tick at or before `now`, or were never looked at."""
        return self.active().filter(
            Q(next_tick_at=None) | Q(next_tick_at__lte=now), is_periodic=True, is_paused=False
        )


class Dag(models.Model):
    """What runs. `schedule` is the spec of its timetable, `executor_terms` what may be shown of its executor.

    `tasks` lists `{"task_id", "upstream", "outlets", "inlets"}` in the order they run. A run that fails is
    tried again up to `retries` times; a run whose worker is lost is taken up to `max_attempts` times.
    Each run takes `pool_slots` of the `pool`. `max_keys_per_run` is how many keys of a backfill one run can
    take (null: any number). `passed_over` counts how often somebody else, a backfill or another Dag of the
    pool, was given a slot that the Dag's own runs were waiting for. Ticks up to `make_up_until` are made up
    whatever `catchup` says: somebody has asked for them.
    """

    class Catchup(models.TextChoices):
        ALL = "all"
        LAST = "last"
        NONE = "none"

    class Executor(models.TextChoices):
        PYTHON = "python"
        WEBHOOK = "webhook"
        EXTERNAL = "external"

    dag_id = models.CharField(max_length=250, unique=True)
    uid = models.UUIDField(default=uuid4, editable=False)
    description = models.TextField(default="")
    tags = models.JSONField(default=list)
    source = models.ForeignKey(DefinitionSource, on_delete=models.SET_NULL, null=True, related_name="dags")
    schedule = models.JSONField(null=True)
    is_periodic = models.BooleanField(default=False)
    is_partitioned = models.BooleanField(default=False)
    tasks = models.JSONField(default=list)
    catchup = models.CharField(max_length=4, choices=Catchup, default=Catchup.ALL)
    start_date = models.DateTimeField(null=True)
    end_date = models.DateTimeField(null=True)
    executor = models.CharField(max_length=10, choices=Executor, default=Executor.PYTHON)
    executor_terms = models.JSONField(default=dict)
    max_active_runs = models.PositiveIntegerField(default=16)
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, null=True, related_name="dags")
    pool_slots = models.PositiveIntegerField(default=1)
    max_attempts = models.PositiveIntegerField(default=3)
    retries = models.PositiveIntegerField(default=0)
    retry_delay = models.DurationField(default=timedelta(minutes=5))
    retry_backoff = models.FloatField(default=1)
    run_timeout = models.DurationField(null=True)
    max_keys_per_run = models.PositiveIntegerField(null=True, default=1)
    is_paused = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    problems = models.JSONField(default=list)
    revision = models.PositiveIntegerField(default=1)
    ticked_until = models.DateTimeField(null=True)
    make_up_until = models.DateTimeField(null=True)
    next_tick_at = models.DateTimeField(null=True)
    passed_over = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects = DagQuerySet.as_manager()

    class Meta:
        ordering = ("dag_id",)
        indexes = [
            # Read by ticks.advance every second, however many Dags there are.
            models.Index(
                fields=["next_tick_at"], condition=Q(is_active=True, is_periodic=True), name="dag_next_tick"
            ),
        ]

    def __str__(self) -> str:
        return self.dag_id

    @property
    def edition(self) -> tuple[UUID, int, datetime]:
        """Names this state of the definition, for values kept per process.

        Two states never share a name, not even when the transaction that wrote one was undone and the
        database gives its numbers away again.
        """
        return self.uid, self.revision, self.updated_at


class ScheduleOverride(models.Model):
    """A schedule that a person gave a Dag: the Dag's own `schedule`, while this row is there.

    `code` is what the file of the Dag says now.
    """

    dag = models.OneToOneField(Dag, on_delete=models.CASCADE, related_name="override")
    code = models.JSONField(null=True)
    by = models.CharField(max_length=150)
    via = models.CharField(max_length=20)
    reason = models.TextField()
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.dag_id} listens as {self.by} says"


class Dependency(models.Model):
    """A Dag listening to an asset through a mapper.

    `leaf` names the asset as the Dag's condition does (`{"asset"}`, `{"ref_name"}` or `{"ref_uri"}`);
    `asset` is null while nothing of that name exists. Keys count from `created_at` on where they cannot be
    enumerated.
    """

    dag = models.ForeignKey(Dag, on_delete=models.CASCADE, related_name="dependencies")
    asset = models.ForeignKey(Asset, on_delete=models.PROTECT, null=True, related_name="dependencies")
    leaf = models.JSONField()
    mapper = models.JSONField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "dependencies"
        constraints = [
            models.UniqueConstraint(
                "dag", "asset", condition=Q(asset__isnull=False), name="a_dag_listens_once_to_an_asset"
            )
        ]

    def __str__(self) -> str:
        return f"{self.dag_id} listens to {self.asset_id}"


class Outlet(models.Model):
    """An asset that a task of a Dag writes."""

    dag = models.ForeignKey(Dag, on_delete=models.CASCADE, related_name="outlets")
    asset = models.ForeignKey(Asset, on_delete=models.PROTECT, related_name="outlets")
    task_id = models.CharField(max_length=250)

    class Meta:
        constraints = [models.UniqueConstraint("dag", "asset", "task_id", name="a_task_writes_an_asset_once")]

    def __str__(self) -> str:
        return f"{self.dag_id}.{self.task_id} writes {self.asset_id}"
