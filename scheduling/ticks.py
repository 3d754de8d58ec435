"""Timetables with a cadence: which ticks are due, each a run of its own.

1. `advance` takes Dags whose next tick has come, each locked so that two beats do not do the same work.
2. The ticks since the last look become runs; a constraint makes each unique, whatever happens to the lock.
3. A run of a backfill that has waited for the day of its key is the run of that tick: none is made beside it
   (`foretold`).
4. The Dag remembers how far it has looked, and when to look next.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Protocol, cast

from django.db import transaction

from core import bulk
from core.models import Dag
from scheduling import foretold, listening, newruns
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.timetables import Tick

log = logging.getLogger(__name__)

MISSED_AFTER = timedelta(seconds=60)
"""A tick older than this when it is found was missed; what happens then is the Dag's `catchup`."""

MOST_TICKS = 1000
"""Ticks made up for one Dag in one look; the rest follow in the next."""

MOST_COUNTED = 10_000
"""Missed ticks that are counted before it is said that there are more."""

BROKEN_PAUSE = timedelta(minutes=1)

INSTANT = timedelta(microseconds=1)
NEVER = datetime.max.replace(tzinfo=UTC)


class Cadence(Protocol):
    """What a timetable that is periodic can tell; a registered one need not be a cron."""

    def ticks(self, after: datetime, until: datetime) -> Iterator[Tick]: ...

    def next_tick(self, after: datetime) -> Tick | None: ...

    def first_tick(self, *, now: datetime, start: datetime | None) -> Tick | None: ...


def advance(*, now: datetime, limit: int = 500) -> int:
    """Create the runs of every tick up to `now` for up to `limit` due Dags. Returns how many were looked at.

    Running it again, or twice at once, adds nothing. A Dag whose backfill is at work is left for the next
    look.
    """
    with transaction.atomic():
        due = (
            Dag.objects.due(now)
            .order_by("next_tick_at", "pk")
            .select_for_update(skip_locked=True, no_key=True)
        )
        dags = list(due[:limit])
        new, busy = foretold.leave_out([run for dag in dags for run in _advance(dag, now)])
        if new:
            newruns.create(new, at=now)
        seen = [dag for dag in dags if dag.pk not in busy]
        cursors = [(dag.pk, dag.ticked_until, dag.next_tick_at) for dag in seen]
        bulk.update(Dag, ("ticked_until", "next_tick_at"), cursors)
    return len(seen)


@dataclass(frozen=True, slots=True)
class Missed:
    """Ticks that nothing has looked at; `count` stops at `MOST_COUNTED`."""

    count: int = 0
    first: Tick | None = None
    last: Tick | None = None

    @property
    def is_more(self) -> bool:
        return self.count == MOST_COUNTED


def missed(dag: Dag, *, now: datetime) -> Missed:
    """What `dag` would make up if it were unpaused now and somebody asked for it.

    Nothing for one that has yet to begin at its start date: that is for its `catchup`.
    """
    if not dag.is_periodic or (dag.ticked_until is None and dag.start_date):
        return Missed()
    try:
        timetable = cast(Cadence, listening.timetable_of(dag))
        until = min(now, dag.end_date) if dag.end_date else now
        found = list(islice(timetable.ticks(_seen_until(dag, timetable), until), MOST_COUNTED))
    except Exception:  # a plug-in's timetable may raise anything; its page says what is wrong
        log.exception("what %s has missed cannot be told", dag)
        return Missed()
    return Missed(len(found), found[0], found[-1]) if found else Missed()


def _advance(dag: Dag, now: datetime) -> list[newruns.NewRun]:
    """The runs that `dag` owes; moves its cursor. A timetable that cannot say is asked again in a minute."""
    try:
        timetable = listening.timetable_of(dag)
        if timetable is None or not timetable.periodic:
            dag.next_tick_at = NEVER
            return []
        found = _found(dag, cast(Cadence, timetable), now)
    except PartitionError as error:
        log.warning("Dag %s has no ticks: %s", dag, error)
    except Exception:  # a plug-in's timetable may raise anything; it stops this Dag only
        log.exception("the timetable of %s failed", dag)
    else:
        return [_run(dag, tick) for tick in _wanted(dag, found, now)]
    dag.next_tick_at = now + BROKEN_PAUSE
    return []


def _found(dag: Dag, timetable: Cadence, now: datetime) -> list[Tick]:
    after = _seen_until(dag, timetable)
    until = min(now, dag.end_date) if dag.end_date else now
    found = list(islice(timetable.ticks(after, until), MOST_TICKS)) if until > after else []
    seen = found[-1].at if len(found) == MOST_TICKS else max(after, until)
    following = timetable.next_tick(seen)
    over = following is None or (dag.end_date is not None and following.at > dag.end_date)
    dag.ticked_until = seen
    dag.next_tick_at = NEVER if over or following is None else following.at
    return found


def _seen_until(dag: Dag, timetable: Cadence) -> datetime:
    """The instant after which ticks are new. A Dag without a start date starts when it is first seen."""
    if dag.ticked_until:
        return dag.ticked_until
    if dag.start_date:
        return dag.start_date - INSTANT
    first = timetable.first_tick(now=dag.created_at, start=None)
    return min(first.at - INSTANT, dag.created_at) if first else dag.created_at


def _wanted(dag: Dag, found: list[Tick], now: datetime) -> Iterator[Tick]:
    more_to_come = dag.next_tick_at is not None and dag.next_tick_at <= now
    for place, tick in enumerate(found):
        is_missed = tick.at < now - MISSED_AFTER
        if dag.make_up_until and tick.at <= dag.make_up_until:
            is_missed = False
        last = place == len(found) - 1 and not more_to_come
        if not is_missed or dag.catchup == Dag.Catchup.ALL or (dag.catchup == Dag.Catchup.LAST and last):
            yield tick


def _run(dag: Dag, tick: Tick) -> newruns.NewRun:
    return newruns.NewRun(
        dag=dag,
        run_type=newruns.Type.SCHEDULED,
        partition_key=tick.partition_key,
        partition_date=tick.partition_date,
        tick_at=tick.at,
        run_after=tick.at,
        triggered_by="timetable",
    )
