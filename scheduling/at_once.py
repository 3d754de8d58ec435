"""What a person does to many rows in one transaction: to those of them to which it can simply be done.

The others are for whoever does it to one, who says why not (`several`). Each deed is journalled as if it were
done alone. Rows are locked in the order in which everybody locks them.
"""

from collections.abc import Collection, Mapping
from datetime import datetime

from django.db import transaction

from core import bulk
from core.models import BackfillPartition, DagRun, HeldRun
from scheduling import corrections, doorbell, journal
from scheduling.assessing import assess
from scheduling.doorbell import Bell
from scheduling.firing import CLOSED, SAID, fire, say
from scheduling.journal import Deed


@transaction.atomic
def fire_now(rows: Collection[HeldRun], *, deed: Deed, at: datetime) -> set[int]:
    """`holds.fire_now` for those that are open; returns their primary keys."""
    locked = _lock_open(rows)
    verdicts = assess(locked, now=at)
    for row in locked:
        say(row, verdicts[row.pk])
    made, columns = fire(locked, verdicts, at, deed), (*CLOSED, *SAID)
    bulk.update(HeldRun, columns, [(row.pk, *(getattr(row, name) for name in columns)) for row in locked])
    event = "held run fired by hand"
    journal.note_all(
        [
            journal.entry(event, deed=deed, at=at, about=run, key=row.partition_key, was=row.sentence)
            for row, run in zip(locked, made, strict=True)
        ]
    )
    return {row.pk for row in locked}


@transaction.atomic
def cancel_held(rows: Collection[HeldRun], *, deed: Deed, at: datetime) -> set[int]:
    """`holds.cancel` for those that are open; returns their primary keys."""
    locked = _lock_open(rows)
    pks = {row.pk for row in locked}
    HeldRun.objects.filter(pk__in=pks).update(
        state=HeldRun.State.CANCELLED, closed_at=at, closed_by=deed.by, judge_after=None
    )
    was = {row.pk: {"was": row.sentence} if row.sentence else {} for row in locked}
    event = "held run cancelled"
    journal.note_all(
        [
            journal.entry(event, deed=deed, at=at, about=row.dag, key=row.partition_key, **was[row.pk])
            for row in locked
        ]
    )
    return pks


@transaction.atomic
def cancel_queued(runs: Collection[DagRun], *, deed: Deed, at: datetime) -> set[int]:
    """`runs.cancel` for those that are queued; returns their primary keys."""
    locked = _lock_runs(runs, [DagRun.State.QUEUED])
    pks = {run.pk for run in locked}
    DagRun.objects.filter(pk__in=pks).update(state=DagRun.State.CANCELLED, ended_at=at, updated_at=at)
    journal.note_all(
        [journal.entry("run cancelled", deed=deed, at=at, about=run, key=run.partition_key) for run in locked]
    )
    if pks:
        doorbell.ring(Bell.START)
        doorbell.ring(Bell.ADVANCE_BACKFILLS)
    return pks


@transaction.atomic
def retry(
    runs: Collection[DagRun], seen: Mapping[int, tuple[str, int]], *, deed: Deed, at: datetime
) -> set[int]:
    """`corrections.retry` for those that have ended as somebody has `seen`, and are of no backfill.

    Whoever retries one of a backfill locks that first, so it is done alone.

    :param seen: the state and the attempt of each, by primary key.
    :returns: their primary keys.
    """
    locked = _lock_runs(runs, DagRun.FINISHED)
    of_backfills = set(BackfillPartition.objects.filter(run__in=locked).values_list("run_id", flat=True))
    again = [
        run
        for run in locked
        if run.dag.is_active and seen[run.pk] == (run.state, run.attempt) and run.pk not in of_backfills
    ]
    pks = {run.pk for run in again}
    DagRun.objects.filter(pk__in=pks).update(
        queued_at=at, run_after=at, updated_at=at, **corrections.AT_FIRST
    )
    journal.note_all([corrections.retried(run, deed, at) for run in again])
    if pks:
        doorbell.ring(Bell.START)
    return pks


def _lock_open(rows: Collection[HeldRun]) -> list[HeldRun]:
    """Those that are held, in the order of keys."""
    wanted = HeldRun.objects.held().filter(pk__in=[row.pk for row in rows]).select_related("dag")
    in_order = wanted.order_by("dag_id", "partition_key")
    return list(in_order.select_for_update(no_key=True, of=("self",)))


def _lock_runs(runs: Collection[DagRun], states: Collection[str]) -> list[DagRun]:
    """Those in one of `states` that nobody has asked to stop."""
    wanted = DagRun.objects.filter(pk__in=[run.pk for run in runs], state__in=states, cancel_requested=False)
    in_order = wanted.select_related("dag").order_by("pk")
    return list(in_order.select_for_update(no_key=True, of=("self",)))
