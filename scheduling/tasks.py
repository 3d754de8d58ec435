"""The Celery face: reads the clock, makes one call. Nothing imports this; messages name these tasks."""

import os
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from celery import shared_task

from core.models import Pulse
from scheduling import backfills, claims, doorbell, execution, health, holds, ticks, timeouts

BUDGET = timedelta(seconds=20)
"""How long one task goes on with a queue that does not empty, before others get their turn."""


@shared_task(name="scheduling.route_events")
def route_events() -> None:
    _until_done(lambda now: holds.route_pending(now=now), doorbell.Bell.ROUTE)
    if backfills.is_due(now=_now()):  # one that waited for the events just mapped
        doorbell.ring(doorbell.Bell.ADVANCE_BACKFILLS)


@shared_task(name="scheduling.judge_held_runs")
def judge_held_runs() -> None:
    _until_done(lambda now: holds.judge_due(now=now), doorbell.Bell.JUDGE)


@shared_task(name="scheduling.advance_backfills")
def advance_backfills() -> None:
    _until_done(lambda now: backfills.advance(now=now), doorbell.Bell.ADVANCE_BACKFILLS)


@shared_task(name="scheduling.start_runs")
def start_runs() -> None:
    doorbell.heard(doorbell.Bell.START)
    while run_pks := claims.dispatch(now=_now()):
        for run_pk in run_pks:
            execute_run.delay(run_pk)


@shared_task(name="scheduling.execute_run")
def execute_run(run_pk: int) -> None:
    run = claims.claim(run_pk, worker=_worker(), now=_now())
    if run:
        execution.execute(run, clock=_now)


@shared_task(name="scheduling.advance_ticks")
def advance_ticks() -> None:
    ticks.advance(now=_now())


@shared_task(name="scheduling.sweep")
def sweep() -> None:
    """Repairs every lost message: looks at the queues in the database, and takes over from dead workers."""
    health.pulse("beat", Pulse.Kind.BEAT, now=_now())  # it sent this message, less than its expiry ago
    health.pulse(_worker(), Pulse.Kind.WORKER, now=_now())
    timeouts.end_overdue(now=_now())
    claims.take_over_lost(now=_now())
    route_events()
    judge_held_runs()
    advance_backfills()
    start_runs()


def _until_done(look: Callable[[datetime], int], bell: doorbell.Bell) -> None:
    """Look until nothing is left; after a while ring again instead, so that others get their turn."""
    started = _now()
    doorbell.heard(bell)
    while look(_now()):
        if _now() - started > BUDGET:
            doorbell.ring(bell)
            return


def _worker() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _now() -> datetime:
    return datetime.now(UTC)
