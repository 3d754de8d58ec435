"""How many rows the long lists have, by block of primary keys: nobody reads a million rows to count them.

On PostgreSQL, triggers of the listed tables write what each statement adds and takes away (`is_change`), in
the same transaction: the sum over all rows of a table here is what a count of the listed table gives at any
moment. Nobody updates a row, so nobody waits for another. `core.counting` reads them, and adds up changes.

A row counts those of block `id // BLOCK` that are alike in all else it says. Each instant of theirs lies from
`..._from` to `..._to`, which are infinite where one of them has none. No program reads those: Python has no
infinite instants. On other databases the tables stay empty.
"""

from django.db import models
from django.db.models import Q

from core.models.assets import Asset
from core.models.dags import Dag

BLOCK = 10_000
"""Primary keys of one block. Those on the edge of a span of time are counted one by one."""


class EventCount(models.Model):
    """So many events more or less of one asset."""

    block = models.IntegerField()
    asset = models.ForeignKey(Asset, models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False)
    timestamp_from = models.DateTimeField()
    timestamp_to = models.DateTimeField()
    rows = models.IntegerField()
    is_change = models.BooleanField(db_default=True)

    class Meta:
        indexes = [
            # Read by counting.fold.
            models.Index(fields=["id"], condition=Q(is_change=True), name="event_count_changes"),
            # Read by counting.known.
            models.Index(fields=["asset"], name="event_count_of_asset"),
        ]

    def __str__(self) -> str:
        return f"{self.rows} events"


class RunCount(models.Model):
    """So many runs more or less of one Dag, type and state."""

    block = models.IntegerField()
    dag = models.ForeignKey(Dag, models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False)
    run_type = models.CharField(max_length=20)
    state = models.CharField(max_length=10)
    run_after_from = models.DateTimeField()
    run_after_to = models.DateTimeField()
    started_at_from = models.DateTimeField()
    started_at_to = models.DateTimeField()
    ended_at_from = models.DateTimeField()
    ended_at_to = models.DateTimeField()
    updated_at_from = models.DateTimeField()
    updated_at_to = models.DateTimeField()
    rows = models.IntegerField()
    is_change = models.BooleanField(db_default=True)

    class Meta:
        indexes = [
            # Read by counting.fold.
            models.Index(fields=["id"], condition=Q(is_change=True), name="run_count_changes"),
            # Read by counting.known.
            models.Index(fields=["dag"], name="run_count_of_dag"),
        ]

    def __str__(self) -> str:
        return f"{self.rows} runs"


class EntryCount(models.Model):
    """So many entries of the journal more or less of one Dag and kind."""

    block = models.IntegerField()
    dag_id = models.CharField(max_length=250)
    event = models.CharField(max_length=60)
    at_from = models.DateTimeField()
    at_to = models.DateTimeField()
    rows = models.IntegerField()
    is_change = models.BooleanField(db_default=True)

    class Meta:
        indexes = [
            # Read by counting.fold.
            models.Index(fields=["id"], condition=Q(is_change=True), name="entry_count_changes"),
            # Read by counting.known.
            models.Index(fields=["dag_id", "event"], name="entry_count_of_dag"),
        ]

    def __str__(self) -> str:
        return f"{self.rows} journal entries"
