"""Whose turn it is: the queued runs that may start next, as many of each queue as its slots allow."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from django.db.models import F, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from core.models import Dag, DagRun
from scheduling import slots

DISPATCH_AGAIN = timedelta(minutes=2)
"""How long a message to start a run may wait for a worker before another one is sent."""

State = DagRun.State


def dispatch(*, now: datetime, limit: int = 500, again: timedelta = DISPATCH_AGAIN) -> list[int]:
    """Queued runs that a message should be sent for now, oldest first, as many of each queue as may start.

    :param again: the age at which a message that was sent counts as lost.
    """
    waiting = slots.startable(now).exclude(dag__executor=Dag.Executor.EXTERNAL)
    unsent = waiting.filter(Q(dispatched_at=None) | Q(dispatched_at__lte=now - again))
    pks = _next(unsent, now, limit, again)
    DagRun.objects.filter(pk__in=pks, state=State.QUEUED).update(dispatched_at=now)
    return pks


def take_messages_back(run_pks: Collection[int]) -> None:
    """The messages to start these runs could not be sent: they are to be sent anew."""
    DagRun.objects.filter(pk__in=run_pks, state=State.QUEUED).update(dispatched_at=None)


def on_offer(*, now: datetime, limit: int, dag_ids: Sequence[str] | None = None) -> list[int]:
    """Queued runs that another system may claim now, oldest first; of certain Dags only, if it says so."""
    waiting = slots.startable(now).filter(dag__executor=Dag.Executor.EXTERNAL)
    return _next(waiting if dag_ids is None else waiting.filter(dag__dag_id__in=dag_ids), now, limit)


def _next(
    waiting: QuerySet[DagRun], now: datetime, limit: int, again: timedelta = DISPATCH_AGAIN
) -> list[int]:
    """Which of the `waiting` runs may start now, oldest first, as many of each queue as its slots allow."""
    shared = slots.shares(waiting, _active(now - again))
    shares = shared.given
    placed = waiting.filter(dag_id__in={dag_id for (dag_id, _), share in shares.items() if share}).annotate(
        place=Window(RowNumber(), partition_by=[F("dag_id"), F("backfill_id")], order_by=F("id").asc())
    )
    rows = placed.filter(place__lte=max(shares.values(), default=0)).order_by("id")
    chosen = [
        (pk, (dag_id, backfill_id))
        for pk, dag_id, backfill_id, place in rows.values_list("pk", "dag_id", "backfill_id", "place")
        if place <= shares.get((dag_id, backfill_id), 0)
    ][:limit]
    slots.note_turns(shared, {queue for _, queue in chosen})
    return [pk for pk, _ in chosen]


def _active(since: datetime) -> QuerySet[DagRun]:
    """Runs that take a slot: those that run, and those on their way to a worker since then."""
    return DagRun.objects.filter(Q(state=State.RUNNING) | Q(state=State.QUEUED, dispatched_at__gt=since))
