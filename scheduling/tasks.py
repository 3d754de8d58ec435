"""The Celery face: reads the clock, makes one call. Nothing imports this; messages name these tasks."""

import logging
import os
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from celery import Task, shared_task
from django.conf import settings

from core import counting, upkeep
from core.models import Pulse
from scheduling import (
    alerts,
    backfills,
    claims,
    doorbell,
    drawings,
    execution,
    health,
    holds,
    messages,
    overdue,
    retention,
    sensors,
    ticks,
    timeouts,
    turns,
)
from scheduling.doorbell import Bell

log = logging.getLogger(__name__)

BUDGET = timedelta(seconds=20)
"""How long one task goes on with a queue that does not empty, before others get their turn."""

PRUNING = timedelta(seconds=120)
"""The same for taking old records away, which nobody waits for."""


@shared_task(name="scheduling.route_events")
def route_events() -> None:
    _until_done(lambda now: holds.route_pending(now=now), Bell.ROUTE)
    # Another message would do it, too, when a thread is free for it: whoever has just mapped need not wait.
    _until_done(lambda now: holds.judge_due(now=now), Bell.JUDGE)
    if backfills.is_due(now=_now()):  # one that waited for the events just mapped
        doorbell.ring(Bell.ADVANCE_BACKFILLS)


@shared_task(name="scheduling.judge_held_runs")
def judge_held_runs() -> None:
    _until_done(lambda now: holds.judge_due(now=now), Bell.JUDGE)


@shared_task(name="scheduling.advance_backfills")
def advance_backfills() -> None:
    _until_done(lambda now: backfills.advance(now=now), Bell.ADVANCE_BACKFILLS)


@shared_task(name="scheduling.draw")
def draw() -> None:
    _until_done(lambda now: drawings.draw(now=now), Bell.DRAW)


@shared_task(name="scheduling.start_runs")
def start_runs() -> None:
    doorbell.heard(Bell.START)
    _send_for_workers(again=turns.DISPATCH_AGAIN)


@shared_task(name="scheduling.execute_run")
def execute_run(run_pk: int, limit: float | None = None) -> None:
    """`limit`: seconds after which this process is ended, if its Dag said so when the message was sent."""
    if limit and timeouts.is_too_short(run_pk, limit):
        turns.take_messages_back([run_pk])
        doorbell.ring(Bell.START)
        return
    run = claims.claim(run_pk, worker=_worker(), now=_now())
    if run:
        execution.execute(run, clock=_now)


@shared_task(name="scheduling.advance_ticks")
def advance_ticks() -> None:
    started = _now()
    while ticks.advance(now=_now()) and _now() - started < BUDGET:
        pass  # at midnight, more Dags are due than one look takes
    looks = sensors.dispatch(now=_now())
    sensors.take_back(messages.send_looks(looks, sensors.longest(looks)))


@shared_task(name="scheduling.look")
def look(sensor_pk: int, number: int) -> None:
    sensors.look(sensor_pk, number, clock=_now)


@shared_task(name="scheduling.send_alerts")
def send_alerts() -> None:
    """Until none is due; after a while others get their turn."""
    started = _now()
    doorbell.heard(Bell.ALERT)
    while alerts.send_next(clock=_now):
        if _now() - started > BUDGET:
            doorbell.ring(Bell.ALERT)
            return


@shared_task(name="scheduling.prune")
def prune() -> None:
    """Once a day, however often it is sent; what takes too long goes on in another message."""
    started = _now()
    if not retention.is_due(now=started):
        return
    gone = retention.prune(retention.ages(), now=started, go_on=lambda: _now() - started < PRUNING)
    if gone is None:
        prune.delay()


@shared_task(name="scheduling.sweep", bind=True)
def sweep(self: Task) -> None:
    """What beat sends: it was alive when it did, which may have been a while ago."""
    sent_at = _sent_at(self)
    if _now() - sent_at < health.patience():
        health.pulse("beat", Pulse.Kind.BEAT, now=sent_at)
    if settings.EMBEDDED:  # elsewhere each worker says so itself
        health.pulse(_worker(), Pulse.Kind.WORKER, now=_now())
    repair()


@shared_task(name="scheduling.repair")
def repair() -> None:
    """Repairs every lost message: looks at the queues in the database, and takes over from dead workers.

    Whoever notices that beat is silent calls it, too. Each look gets a small part of the time between two, so
    that a long queue does not keep the others, or the next one, waiting. One that fails keeps nobody back,
    and shows: a sweep leaves a pulse when all of it has come to its end.
    """
    budget = timedelta(seconds=settings.SWEEP_SECONDS / 3)
    looks: list[Callable[[], object]] = [
        lambda: timeouts.end_overdue(now=_now()),
        lambda: claims.take_over_lost(now=_now()),
        lambda: _until_done(lambda now: holds.route_pending(now=now), Bell.ROUTE, budget),
        lambda: _until_done(lambda now: holds.judge_due(now=now), Bell.JUDGE, budget),
        lambda: _until_done(lambda now: backfills.advance(now=now), Bell.ADVANCE_BACKFILLS, budget),
        lambda: _note_late(budget),
        _send_lost_messages,
        lambda: _until_done(lambda now: drawings.draw(now=now), Bell.DRAW, budget),
        counting.fold,
        upkeep.refresh_statistics,
    ]
    failures = [look for look in looks if not _succeeds(look)]
    if not failures:
        health.pulse("sweep", Pulse.Kind.SWEEP, now=_now())


def _succeeds(look: Callable[[], object]) -> bool:
    try:
        look()
    except Exception:
        log.exception("A part of the sweep failed; the next sweep tries again")
        return False
    return True


def _note_late(budget: timedelta) -> None:
    """Those that have become late; what is left then is for the next sweep."""
    started = _now()
    while overdue.note_late(now=_now()) and _now() - started < budget:
        pass
    if alerts.is_due(now=_now()):
        doorbell.ring(Bell.ALERT)


def _send_lost_messages() -> None:
    """When no message waits, those that were sent and are not taken after an interval are lost."""
    interval = timedelta(seconds=settings.SWEEP_SECONDS)
    _send_for_workers(again=interval if messages.none_waits() else turns.DISPATCH_AGAIN)


def _send_for_workers(*, again: timedelta) -> None:
    while run_pks := turns.dispatch(now=_now(), again=again):
        if unsent := messages.send(run_pks, timeouts.longest(run_pks)):
            turns.take_messages_back(unsent)
            return


def _until_done(look: Callable[[datetime], int], bell: Bell, budget: timedelta = BUDGET) -> None:
    """Look until nothing is left; after a while ring again instead, so that others get their turn."""
    started = _now()
    doorbell.heard(bell)
    while look(_now()):
        if _now() - started > budget:
            doorbell.ring(bell)
            return


def _sent_at(task: Task) -> datetime:
    """When the message of `task` was sent: a fixed time before it expires."""
    if not task.request.expires:
        return _now()
    expires = task.request.expires
    at = datetime.fromisoformat(expires) if isinstance(expires, str) else expires
    return at - timedelta(seconds=settings.SWEEP_EXPIRES)


def _worker() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _now() -> datetime:
    return datetime.now(UTC)
