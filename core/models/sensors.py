"""Functions that look at the world outside on a cadence, and what they saw."""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q

from core.models.dags import DefinitionSource
from core.models.fields import name_field


class Outcome(models.TextChoices):
    FOUND = "found"
    NOTHING = "nothing"
    FAILED = "failed"


class SensorQuerySet(models.QuerySet["Sensor"]):
    def active(self) -> Self:
        return self.filter(is_active=True)

    def looking(self) -> Self:
        """Those that are to look: active, not paused, and possible."""
        return self.active().filter(is_paused=False, problem="")

    def due(self, now: datetime) -> Self:
        """Those whose next look has come, and that nobody is at."""
        return self.looking().filter(Q(lease_until=None) | Q(lease_until__lte=now), next_look_at__lte=now)


class Sensor(models.Model):
    """Looks `every` so often, for at most `timeout`. `cursor` is its author's note of how far it has seen.

    `look_number` names the look that was sent last: one that was overtaken records nothing. `began_at` is
    null until a worker has begun it. `failures` counts those in a row. `problem`: why it cannot look at all.
    """

    name = name_field(unique=True)
    source = models.ForeignKey(DefinitionSource, on_delete=models.SET_NULL, null=True, related_name="sensors")
    description = models.TextField(default="")
    every = models.DurationField()
    timeout = models.DurationField()
    cursor = models.TextField(default="")
    problem = models.TextField(default="")
    is_paused = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    next_look_at = models.DateTimeField()
    look_number = models.PositiveBigIntegerField(default=0)
    began_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    looked_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=10, choices=Outcome, default="")
    sentence = models.TextField(default="")
    failures = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects = SensorQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        indexes = [
            # Read by sensors.dispatch every second.
            models.Index(
                fields=["next_look_at"], condition=Q(is_active=True, is_paused=False), name="sensor_next_look"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class SensorLook(models.Model):
    """One look that found something or failed; others leave no row. `cursor` is what it was afterwards."""

    sensor = models.ForeignKey(Sensor, on_delete=models.CASCADE, related_name="looks")
    at = models.DateTimeField()
    took = models.DurationField()
    outcome = models.CharField(max_length=10, choices=Outcome)
    sentence = models.TextField()
    error = models.TextField(default="")
    cursor = models.TextField(default="")

    class Meta:
        indexes = [models.Index(fields=["sensor", "-id"], name="looks_of_a_sensor")]

    def __str__(self) -> str:
        return f"{self.sensor_id} at {self.at}: {self.outcome}"
