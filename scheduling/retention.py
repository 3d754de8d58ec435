"""Takes old records away, in portions that keep nobody waiting, and never what is needed still.

1. Each kind of record is walked through from the oldest on; a portion is one transaction.
2. Held runs of earlier rounds go before the runs that they became, and those before their events.
3. What stays, however old: the event, the run and the round that say how a partition is now, what open held
   runs and backfills under way refer to, and the newest event of an asset without partitions.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.deletion import ProtectedError

from core.models import (
    AssetEvent,
    Backfill,
    BackfillPartition,
    ConsumedEvent,
    DagRun,
    HeldRun,
    JournalEntry,
    LogLine,
    Partition,
    SensorLook,
)
from scheduling import journal

log = logging.getLogger(__name__)

PORTION, RUNS = 1000, 100
"""Records looked at, and perhaps deleted, in one transaction; fewer runs, which take their logs along."""

DONE = "records pruned"
"""What the journal calls it when all that is old has gone."""

EVERY = timedelta(hours=23)


@dataclass(frozen=True, slots=True)
class Ages:
    """How old records of each kind may get; None for as old as they like."""

    logs: timedelta | None = None
    runs: timedelta | None = None
    events: timedelta | None = None
    journal: timedelta | None = None


def ages() -> Ages:
    """What the settings say, in days; 0 is for ever."""
    days = {
        "logs": settings.KEEP_LOG_DAYS,
        "runs": settings.KEEP_RUN_DAYS,
        "events": settings.KEEP_EVENT_DAYS,
        "journal": settings.KEEP_JOURNAL_DAYS,
    }
    return Ages(**{name: timedelta(days=count) for name, count in days.items() if count})


def is_due(*, now: datetime) -> bool:
    """Whether the last time was a day ago."""
    last = JournalEntry.objects.filter(event=DONE).order_by("-id").first()
    return last is None or last.at <= now - EVERY


def prune(ages: Ages, *, now: datetime, go_on: Callable[[], bool] = lambda: True) -> dict[str, int] | None:
    """Delete what is older than `ages` and not needed. How many of each kind went; None if it was stopped.

    :param go_on: asked before each portion; what is left when it says no goes the next time.
    """
    gone: dict[str, int] = {}
    for kind in _kinds(ages, now):
        gone[kind.noun] = 0
        for portion in _portions(kind):
            if not go_on():
                return None
            gone[kind.noun] += _delete(kind, portion)
    journal.note(DONE, at=now, gone=gone)
    return gone


def count(ages: Ages, *, now: datetime) -> dict[str, int]:
    """How many of each kind would go. There are more, where they stay only for the sake of others that go."""
    return {
        kind.noun: sum(kind.spare(portion).count() for portion in _portions(kind))
        for kind in _kinds(ages, now)
    }


@dataclass(frozen=True, slots=True)
class _Kind:
    """Records that may go: those of `old`, which nothing needs. `made` is the column of when they came."""

    noun: str
    made: str
    before: datetime
    old: QuerySet[Any]
    portion: int = field(default_factory=lambda: PORTION)

    def spare(self, pks: list[int]) -> QuerySet[Any]:
        return self.old.filter(pk__in=pks)


def _kinds(ages: Ages, now: datetime) -> Iterator[_Kind]:
    if ages.logs is not None:
        yield _Kind("log lines", "at", now - ages.logs, _old_lines(now - ages.logs))
        yield _Kind("looks", "at", now - ages.logs, SensorLook.objects.filter(at__lt=now - ages.logs))
    if ages.runs is not None:
        yield _Kind("held runs", "opened_at", now - ages.runs, _old_rounds(now - ages.runs))
        yield _Kind("runs", "queued_at", now - ages.runs, _old_runs(now - ages.runs), RUNS)
    if ages.events is not None:
        yield _Kind("events", "timestamp", now - ages.events, _old_events(now - ages.events))
    if ages.journal is not None:
        before = now - ages.journal
        yield _Kind("journal entries", "at", before, JournalEntry.objects.filter(at__lt=before))


def _portions(kind: _Kind) -> Iterator[list[int]]:
    """Primary keys, oldest first, as far as there are old ones among them."""
    rows = kind.old.model._default_manager.order_by("pk").values_list("pk", kind.made)
    after = 0
    while page := list(rows.filter(pk__gt=after)[: kind.portion]):
        if all(made >= kind.before for _, made in page):
            return
        after = page[-1][0]
        yield [pk for pk, made in page if made < kind.before]


def _delete(kind: _Kind, pks: list[int]) -> int:
    """Delete those that are spare and that nobody has locked. What is referred to at this moment stays."""
    try:
        with transaction.atomic():
            locked = (
                kind.spare(pks).order_by("pk").select_for_update(no_key=True, skip_locked=True, of=("self",))
            )
            spare = list(locked.values_list("pk", flat=True))
            kind.old.model._default_manager.filter(pk__in=spare).delete()
    except (IntegrityError, ProtectedError):
        log.warning("some of %s %s-%s are needed after all: they stay", kind.noun, pks[0], pks[-1])
        return 0
    return len(spare)


def _old_lines(before: datetime) -> QuerySet[LogLine]:
    return LogLine.objects.filter(at__lt=before, run__state__in=DagRun.FINISHED)


def _old_rounds(before: datetime) -> QuerySet[HeldRun]:
    """Closed held runs that no later round looks back at: it looks at the one before, and at who fired last.

    It also asks whether any has consumed the newest event of a partition.
    """
    others = HeldRun.objects.filter(dag=OuterRef("dag"), partition_key=OuterRef("partition_key"))
    far_later = others.filter(round__gt=OuterRef("round") + 1)
    fired_later = others.filter(round__gt=OuterRef("round"), state=HeldRun.State.FIRED)
    again = ConsumedEvent.objects.filter(
        event=OuterRef("event"),
        held_run__dag=OuterRef("held_run__dag"),
        held_run__partition_key=OuterRef("held_run__partition_key"),
        held_run__round__gt=OuterRef("held_run__round"),
        held_run__state=HeldRun.State.FIRED,
    )
    newest = Partition.objects.filter(last_event=OuterRef("event"))
    telling = ConsumedEvent.objects.filter(Exists(newest), ~Exists(again), held_run=OuterRef("pk"))
    return HeldRun.objects.filter(
        ~Exists(telling),
        Exists(far_later),
        ~Q(state=HeldRun.State.FIRED) | Exists(fired_later),
        closed_at__lt=before,
        is_drawn=False,
    )


def _old_runs(before: datetime) -> QuerySet[DagRun]:
    states = Partition.objects.filter(Q(attempt_run=OuterRef("pk")) | Q(outcome_run=OuterRef("pk")))
    planned = BackfillPartition.objects.filter(run=OuterRef("pk"), target__backfill__completed_at=None)
    return DagRun.objects.finished().filter(
        ~Exists(states),
        ~Exists(HeldRun.objects.filter(run=OuterRef("pk"))),
        ~Exists(planned),
        ~Exists(Backfill.objects.open().filter(pk=OuterRef("backfill"))),
        ended_at__lt=before,
    )


def _old_events(before: datetime) -> QuerySet[AssetEvent]:
    newer = AssetEvent.objects.filter(asset=OuterRef("asset"), partition_key=None, pk__gt=OuterRef("pk"))
    return AssetEvent.objects.filter(
        ~Exists(Partition.objects.filter(last_event=OuterRef("pk"))),
        ~Exists(ConsumedEvent.objects.filter(event=OuterRef("pk"))),
        ~Exists(Backfill.objects.open().filter(runs=OuterRef("source_run"))),
        Q(partition_key__isnull=False) | Exists(newer),
        timestamp__lt=before,
        routed_at__isnull=False,
    )
