"""Pools: slots that runs of many Dags share."""

from django.db import models

from core.models.fields import name_field


class Pool(models.Model):
    """So many slots, whoever takes them: the logins that a server allows, say. One without any is closed.

    A run takes the `pool_slots` of its Dag while it runs.
    """

    name = name_field(unique=True)
    slots = models.PositiveIntegerField()
    description = models.TextField(default="", blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name
