"""Held runs: events are counted into them, they are judged, and they fire.

1. `route_pending` takes events nobody has mapped and counts them into held runs. Those that may fire now do.
2. The others are marked. `judge_due` takes held runs that something happened to, and asks `verdicts.judge`
   about each.
3. One that may fire becomes a queued Dag run in the same transaction; the others sleep again.
"""

from collections.abc import Collection, Set
from datetime import datetime

from django.db import IntegrityError, transaction

from core import bulk
from core.models import AssetEvent, Dag, DagRun, HeldRun
from scheduling import (
    complaints,
    doorbell,
    fault,
    filing,
    filling,
    journal,
    listening,
    overdue,
    rounds,
)
from scheduling.algebra.errors import PartitionError
from scheduling.assessing import assess, judge_all
from scheduling.doorbell import Bell
from scheduling.filing import Filed
from scheduling.firing import CLOSED, SAID, fire, give_up, say
from scheduling.journal import Deed
from scheduling.listening import UNKEYED
from scheduling.mapping import Event, NotAlone, map_events
from scheduling.tally import Place, received_of

AT_ONCE = 5000
"""So many held runs are looked at where events are counted into them; if there are more, `judge_due` does."""

MOST_REFUSED = 5
"""How often in a row what events come to may not fit what is there when it is written."""


class NotHeld(PartitionError):
    """The held run has fired or was closed before."""


def route_pending(*, now: datetime, limit: int = 2000, at_once: int = AT_ONCE) -> int:
    """Map up to `limit` events that wait for it and count them. Returns how many; none left when 0.

    :param at_once: if they count for no more held runs than that, those that are ready then fire.
    """
    alone: set[int] = set()
    refused = 0
    while True:
        try:
            with transaction.atomic():
                return _route(now, limit, at_once, alone)
        except filing.Overtaken:
            continue
        except NotAlone as others:
            alone |= others.dag_ids
        except IntegrityError:  # an event that is counted by its partition was deleted: it is not there now
            refused += 1
            if refused > MOST_REFUSED:
                raise


def judge_due(*, now: datetime, limit: int = 500) -> int:
    """Judge up to `limit` held runs that something happened to; those that may, fire. Returns how many."""
    with transaction.atomic():
        due = HeldRun.objects.due(now).select_for_update(skip_locked=True, no_key=True)
        rows = list(due[:limit])
        if not rows:
            return 0
        dags = Dag.objects.in_bulk({row.dag_id for row in rows})
        for row in rows:
            row.dag = dags[row.dag_id]
        answers = assess(rows, now=now)
        ready = [row for row in rows if answers[row.pk].may_fire]
        doubtful = [row for row in rows if answers[row.pk].may_fire or not row.sentence]
        if lost := rounds.drop_lost(doubtful):
            answers |= assess([row for row in doubtful if row.pk in lost], now=now)
        late = overdue.when_late(rows, answers)
        for row in rows:
            say(row, answers[row.pk])
            row.judge_after, row.late_at = answers[row.pk].until, late[row.pk]
        fire([row for row in ready if answers[row.pk].may_fire], answers, now)
        give_up([row for row in rows if answers[row.pk].gives_up], answers, now)
        columns = (*CLOSED, *SAID, "late_at")
        bulk.update(HeldRun, columns, [(row.pk, *(getattr(row, name) for name in columns)) for row in rows])
        fault.passing("judging")
    return len(rows)


def fire_now(row: HeldRun, *, deed: Deed, at: datetime) -> DagRun:
    """A person fires `row` with what it has; the run records which keys were missing.

    :raises NotHeld: if it is not open any more.
    """
    with transaction.atomic():
        locked = _lock(row)
        verdict = assess([locked], now=at)[locked.pk]
        say(locked, verdict)
        [run] = fire([locked], {locked.pk: verdict}, at, deed)
        locked.save(update_fields=(*CLOSED, *SAID))
        journal.note(
            "held run fired by hand", deed=deed, at=at, about=run, key=row.partition_key, was=verdict.sentence
        )
    return run


def cancel(row: HeldRun, *, deed: Deed, at: datetime) -> None:
    """Close `row` without a run. The next event for its key opens a new round.

    :raises NotHeld: if it is not open any more.
    """
    with transaction.atomic():
        locked = _lock(row)
        HeldRun.objects.filter(pk=locked.pk).update(
            state=HeldRun.State.CANCELLED, closed_at=at, closed_by=deed.by, judge_after=None
        )
        was = {"was": locked.sentence} if locked.sentence else {}  # none before it is judged
        journal.note("held run cancelled", deed=deed, at=at, about=row.dag, key=row.partition_key, **was)


def forget(row: HeldRun, *, before: datetime | None = None, deed: Deed, at: datetime) -> int:
    """Let `row` count no more what it received, or what of it came before an instant.

    What has nothing left is cancelled.

    :returns: how many keys it had received so.
    :raises NotHeld: if it is not open any more.
    """
    with transaction.atomic():
        locked = _lock(row)
        received = locked.received.select_related("asset")
        gone = list(received.filter(received_at__lt=before) if before else received)
        if len(gone) == received.count():
            if gone:
                cancel(locked, deed=deed, at=at)
            return len(gone)
        for each in gone:
            rounds.uncount([locked.pk], each.asset, [each.key])
        if gone:
            HeldRun.objects.filter(pk=locked.pk).update(judge_after=at)
            journal.note("received keys forgotten", deed=deed, at=at, about=row.dag, count=len(gone))
            doorbell.ring(Bell.JUDGE)
        return len(gone)


@transaction.atomic
def judge_again(dags: Collection[Dag], *, at: datetime) -> None:
    """Something other than an event changed for `dags` (unpaused, redefined): look at all they hold."""
    rows = HeldRun.objects.held().filter(dag__in=list(dags)).order_by("dag_id", "partition_key")
    pks = list(rows.select_for_update(no_key=True).values_list("pk", flat=True)) if dags else []
    if HeldRun.objects.filter(pk__in=pks).update(judge_after=at):
        doorbell.ring(Bell.JUDGE)


def _route(now: datetime, limit: int, at_once: int, alone: Collection[int]) -> int:
    waiting = AssetEvent.objects.unrouted().values_list(*Event._fields)
    events = [Event(*row) for row in waiting.select_for_update(skip_locked=True, no_key=True)[:limit]]
    if not events:
        return 0
    mapped = map_events(events, alone=alone)
    if mapped.arrivals or mapped.excesses:
        filed = filing.arrange(mapped, now)
        come = {(event.asset_id, event.partition_key or UNKEYED) for event in events}
        _fire_or_mark(filed, come if len(filed.rows) <= at_once else None, now)
    if mapped.woken:
        judge_again(mapped.woken, at=now)
    complaints.keep(mapped.problems, at=now)
    AssetEvent.objects.filter(pk__any=[event.pk for event in events]).update(routed_at=now)
    fault.passing("mapping")
    return len(events)


def _fire_or_mark(filed: Filed, come: Set[Place] | None, now: datetime) -> None:
    """Write what is counted. Held runs that are ready fire, unless `come` is None; others are to be judged.

    They are not judged here and now for good: whoever wakes held runs does not see those that this
    transaction opens, so none of them may fall asleep in it.
    """
    for row in filed.rows:
        row.judge_after = now
    if come is not None:
        _fire_ready(filed, come, now)
    filing.write(filed, (*CLOSED, *SAID, "late_at", "last_event_at", "filled_at"), now)
    if any(row.judge_after for row in filed.rows):
        doorbell.ring(Bell.JUDGE)


def _fire_ready(filed: Filed, come: Set[Place], now: datetime) -> None:
    """Fire what is ready; `come` are the places of the events that this transaction has locked.

    They have data until it ends. Whatever else was counted may have been wiped: `judge_due` finds that out.
    """
    received = received_of(row.pk for row in filed.rows if not row._state.adding)
    for held_run, places in filed.tally.received().items():
        received.setdefault(held_run, {}).update(places)
    heard = listening.of_dags({row.dag_id: row.dag for row in filed.rows}.values())
    answers = judge_all(filed.rows, heard, received, now=now)
    ready = [row for row in filed.rows if answers[row.pk].may_fire]
    gone = filling.gone({place for row in ready for place in received[row.pk]} - come)
    ready = [row for row in ready if gone.isdisjoint(received[row.pk])]
    for row in ready:
        say(row, answers[row.pk])
        row.late_at = None
    fire(ready, answers, now)
    fault.passing("judging")


def _lock(row: HeldRun) -> HeldRun:
    locked = HeldRun.objects.select_related("dag").select_for_update(no_key=True, of=("self",)).get(pk=row.pk)
    if locked.state != HeldRun.State.HELD:
        raise NotHeld(f"{locked.dag} {locked.partition_key!r} is not held any more: it was {locked.state}")
    return locked
