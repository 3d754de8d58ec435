"""Held runs: events are counted into them, they are judged, and they fire.

1. `route_pending` takes events nobody has mapped, counts them into held runs and marks those to be judged.
2. `judge_due` takes held runs that something happened to, and asks `verdicts.judge` about each.
3. One that may fire becomes a queued Dag run in the same transaction; the others sleep again.
"""

from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import transaction

from core import bulk
from core.models import AssetEvent, Dag, HeldRun
from scheduling import (
    complaints,
    doorbell,
    fault,
    filing,
    journal,
    listening,
    overdue,
    presence,
    rounds,
    runs,
)
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.verdicts import Verdict
from scheduling.assessing import assess
from scheduling.doorbell import Bell
from scheduling.journal import Deed
from scheduling.listening import UNKEYED, DagListening
from scheduling.mapping import map_events

SAID = ("verdict", "sentence", "required_count", "received_count")
"""What the last judgement said, as columns of a held run."""


class NotHeld(PartitionError):
    """The held run has fired or was closed before."""


def route_pending(*, now: datetime, limit: int = 2000) -> int:
    """Map up to `limit` events that wait for it and count them. Returns how many; none left when 0."""
    with transaction.atomic():
        waiting = AssetEvent.objects.unrouted().only("asset_id", "partition_key", "timestamp")
        events = list(waiting.select_for_update(skip_locked=True, no_key=True)[:limit])
        if not events:
            return 0
        mapped = map_events(events)
        if arrivals := filing.uncounted(mapped.arrivals):
            filing.file(arrivals, now)
        if excesses := filing.of_open(mapped.excesses):
            filing.file(excesses, now)
        if arrivals or excesses:
            doorbell.ring(Bell.JUDGE)
        judge_again(mapped.woken, at=now)
        complaints.keep(mapped.problems, at=now)
        AssetEvent.objects.filter(pk__in=[event.pk for event in events]).update(routed_at=now)
        fault.passing("mapping")
    return len(events)


def judge_due(*, now: datetime, limit: int = 500) -> int:
    """Judge up to `limit` held runs that something happened to; those that may, fire. Returns how many."""
    with transaction.atomic():
        due = (
            HeldRun.objects.due(now)
            .select_related("dag")
            .select_for_update(skip_locked=True, no_key=True, of=("self",))
        )
        rows = list(due[:limit])
        if not rows:
            return 0
        answers = assess(rows, now=now)
        ready = [row for row in rows if answers[row.pk].may_fire]
        if lost := rounds.drop_lost(ready):
            answers |= assess([row for row in ready if row.pk in lost], now=now)
        _fire([row for row in ready if answers[row.pk].may_fire], answers, now)
        _give_up([row for row in rows if answers[row.pk].gives_up], answers, now)
        for row in rows:
            _say(row, answers[row.pk])
        late = overdue.when_late(rows, answers)
        said = [
            (row.pk, *(getattr(row, name) for name in SAID), answers[row.pk].until, late[row.pk])
            for row in rows
        ]
        bulk.update(HeldRun, (*SAID, "judge_after", "late_at"), said)
        fault.passing("judging")
    return len(rows)


def fire_now(row: HeldRun, *, deed: Deed, at: datetime) -> "runs.DagRun":
    """A person fires `row` with what it has; the run records which keys were missing.

    :raises NotHeld: if it is not open any more.
    """
    with transaction.atomic():
        locked = _lock(row)
        verdict = assess([locked], now=at)[locked.pk]
        _say(locked, verdict)
        locked.save(update_fields=SAID)
        [run] = _fire([locked], {locked.pk: verdict}, at, deed)
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
        journal.note(
            "held run cancelled", deed=deed, at=at, about=row.dag, key=row.partition_key, was=row.sentence
        )


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


def become(rows: Sequence[HeldRun], made: Sequence["runs.DagRun"], *, by: str, at: datetime) -> None:
    """`rows`, which this transaction has locked, have become the runs `made`, in the same order."""
    for row, run in zip(rows, made, strict=True):
        row.state, row.run, row.closed_at, row.closed_by = HeldRun.State.FIRED, run, at, by
    closed = [(row.pk, row.state, row.run_id, at, by, None) for row in rows]
    bulk.update(HeldRun, ("state", "run_id", "closed_at", "closed_by", "judge_after"), closed)


def supersede(rows: Sequence[HeldRun], *, by: str, at: datetime) -> None:
    """`rows`, which this transaction has locked, are closed: a run for several keys does their work."""
    HeldRun.objects.filter(pk__in=[row.pk for row in rows]).update(
        state=HeldRun.State.SUPERSEDED, closed_at=at, closed_by=by, judge_after=None
    )


@transaction.atomic
def judge_again(dags: Collection[Dag], *, at: datetime) -> None:
    """Something other than an event changed for `dags` (unpaused, redefined): look at all they hold."""
    rows = HeldRun.objects.held().filter(dag__in=list(dags)).order_by("dag_id", "partition_key")
    pks = list(rows.select_for_update(no_key=True).values_list("pk", flat=True)) if dags else []
    if HeldRun.objects.filter(pk__in=pks).update(judge_after=at):
        doorbell.ring(Bell.JUDGE)


def _lock(row: HeldRun) -> HeldRun:
    locked = HeldRun.objects.select_related("dag").select_for_update(no_key=True, of=("self",)).get(pk=row.pk)
    if locked.state != HeldRun.State.HELD:
        raise NotHeld(f"{locked.dag} {locked.partition_key!r} is not held any more: it was {locked.state}")
    return locked


def _say(row: HeldRun, verdict: Verdict) -> None:
    row.verdict, row.sentence = verdict.kind, verdict.sentence
    row.required_count, row.received_count = verdict.required_count, verdict.received_count


def _fire(
    rows: Sequence[HeldRun], answers: dict[int, Verdict], at: datetime, deed: Deed = journal.ENGINE
) -> list["runs.DagRun"]:
    """Turn `rows`, which this transaction has locked, into queued runs."""
    made = runs.create(
        [
            runs.NewRun(
                dag=row.dag,
                run_type=runs.Type.ASSET_TRIGGERED,
                partition_key=None if row.partition_key == UNKEYED else row.partition_key,
                partition_date=row.partition_date,
                triggered_by="asset",
                created_by="" if deed is journal.ENGINE else deed.by,
                missing_keys=_missing(answers[row.pk]),
            )
            for row in rows
        ],
        at=at,
    )
    become(rows, made, by=deed.by, at=at)
    _consume_present(rows, answers)
    return made


def _consume_present(rows: Sequence[HeldRun], answers: dict[int, Verdict]) -> None:
    """A run has also consumed the newest event of an asset without partitions that was there for it."""
    present = {row: [each.leaf for each in answers[row.pk].progress if each.present] for row in rows}
    heard = listening.of_dags({row.dag for row, leaves in present.items() if leaves})
    pairs = [
        (row.pk, asset_id)
        for row, leaves in present.items()
        if leaves and isinstance(answer := heard[row.dag_id], DagListening)
        for asset_id, leaf in answer.leaf_of.items()
        if leaf in leaves
    ]
    latest = presence.latest_events(asset_id for _, asset_id in pairs) if pairs else {}
    rounds.consume((pk, latest[asset_id]) for pk, asset_id in pairs if asset_id in latest)


def _give_up(rows: Sequence[HeldRun], answers: dict[int, Verdict], at: datetime) -> None:
    """Cancel held runs whose deadline says so."""
    ended = HeldRun.objects.filter(pk__in=[row.pk for row in rows])
    ended.update(state=HeldRun.State.CANCELLED, closed_at=at, closed_by="deadline")
    for row in rows:
        sentence = answers[row.pk].sentence
        journal.note("held run cancelled", at=at, about=row.dag, key=row.partition_key, sentence=sentence)


def _missing(verdict: Verdict) -> list[dict[str, object]]:
    return [
        {"asset": each.leaf.words(), "keys": list(each.missing)} for each in verdict.progress if each.missing
    ]
