"""Append-only record of who did what, when, from what to what."""

from django.db import models
from django.db.models import Q

from core.models.fields import key_field, name_field


class JournalEntry(models.Model):
    """One deed. Names are copied, not linked, so an entry outlives what it speaks of.

    `request_id` names the request that it was done in, as the log of web does; empty where there was none.
    """

    at = models.DateTimeField()
    by = models.CharField(max_length=150)
    via = models.CharField(max_length=20, default="engine")
    event = models.CharField(max_length=60)
    dag_id = models.CharField(max_length=250, default="")
    asset_name = name_field(default="")
    partition_key = key_field(default="")
    run_id = models.CharField(max_length=250, default="")
    reason = models.TextField(default="")
    request_id = models.CharField(max_length=64, default="")
    extra = models.JSONField(default=dict)

    class Meta:
        ordering = ("-id",)
        verbose_name_plural = "journal entries"
        indexes = [
            models.Index(fields=["event", "-id"], name="journal_by_event"),
            models.Index(fields=["dag_id", "-id"], name="journal_by_dag"),
            # Read by the list of the API, which people ask for by time.
            models.Index(fields=["at", "id"], name="journal_by_time"),
            # Read by whoever has the name of a request from a log, or from the header of an answer.
            models.Index(fields=["request_id"], condition=~Q(request_id=""), name="journal_by_request"),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.by}: {self.event}"
