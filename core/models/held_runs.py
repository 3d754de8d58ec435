"""Held runs, the keys they have received and the events that they have counted."""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Case, Q, Value, When

from core.models.assets import Asset, AssetEvent
from core.models.dags import Dag
from core.models.fields import key_field
from core.models.runs import DagRun


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
    `run` is what it became when it fired; a run for several keys has as many held runs.

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
    run = models.ForeignKey(
        DagRun, on_delete=models.PROTECT, null=True, related_name="held_runs", db_index=False
    )
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
            # Read by the page of a run, by what it consumed, and when it is deleted.
            models.Index(fields=["run"], name="held_of_run"),
            # Read by the page of held runs, and to count them: nothing else is in it, so it is small.
            models.Index(fields=["verdict"], condition=Q(state="held"), name="held_verdict"),
            # Read by the held runs of one Dag, a page at a time.
            models.Index(fields=["dag", "id"], condition=Q(state="held"), name="held_of_dag"),
            # Read by lists and counts of those that were opened since some moment.
            models.Index(fields=["opened_at"], condition=Q(state="held"), name="held_opened"),
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

    held_run = models.ForeignKey(HeldRun, on_delete=models.CASCADE, related_name="received", db_index=False)
    asset = models.ForeignKey(Asset, on_delete=models.PROTECT, related_name="+", db_index=False)
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

    held_run = models.ForeignKey(HeldRun, on_delete=models.CASCADE, related_name="consumed", db_index=False)
    event = models.ForeignKey(AssetEvent, on_delete=models.PROTECT, related_name="consumers")

    class Meta:
        constraints = [models.UniqueConstraint("held_run", "event", name="an_event_counts_once_per_held_run")]

    def __str__(self) -> str:
        return f"{self.held_run_id} consumed {self.event_id}"
