"""What a site tells another system by itself."""

from datetime import datetime
from typing import Self

from django.db import models

from core.models.held_runs import HeldRun


class AlertQuerySet(models.QuerySet["Alert"]):
    def due(self, now: datetime) -> Self:
        """Alerts to be sent, or sent again, longest due first."""
        return self.filter(send_after__lte=now).order_by("send_after", "id")


class Alert(models.Model):
    """A held run has become late, to be told to the site's alert address once.

    `body` is what is told, whenever that succeeds. `send_after` is null when it was (`sent_at`), or when it
    was given up (`error` says why).
    """

    held_run = models.OneToOneField(HeldRun, on_delete=models.CASCADE, related_name="alert")
    body = models.JSONField()
    created_at = models.DateTimeField()
    send_after = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)
    error = models.TextField(default="")

    objects = AlertQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        indexes = [
            # Read by alerts.send_due, however many were sent before.
            models.Index(
                fields=["send_after", "id"], condition=models.Q(send_after__isnull=False), name="alert_due"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.held_run} is late"
