"""What the engine's processes leave for each other."""

from django.db import models
from django.db.models.functions import Now


class Bell(models.Model):
    """A rung bell: "look now". Rung many times before anybody looks, it is one row.

    Used where the broker lives in one process only (embedded mode); the relay there takes the rows away.
    """

    name = models.CharField(max_length=60, primary_key=True)
    rung_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.name


class Pulse(models.Model):
    """When a process was last seen alive, and when a look at everything last came to its end."""

    class Kind(models.TextChoices):
        BEAT = "beat"
        WORKER = "worker"
        SWEEP = "sweep"

    name = models.CharField(max_length=150, primary_key=True)
    kind = models.CharField(max_length=10, choices=Kind)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"
