"""Tells a worker to look now. A ring that gets lost costs one sweep, never the work.

However many ring in a burst, one message per bell is under way: the first to ring raises a flag, the others
see it, and the worker takes it down before it looks. A flag whose message got lost falls by itself.
"""

import logging
import math
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from functools import cache

from celery import current_app
from django.conf import settings
from django.db import connection, transaction
from kombu.exceptions import OperationalError
from redis import Redis
from redis.exceptions import RedisError

from core import models

log = logging.getLogger(__name__)


class Bell(StrEnum):
    """What to look at; the name of the Celery task that does."""

    ROUTE = "route_events"
    JUDGE = "judge_held_runs"
    START = "start_runs"
    ADVANCE_BACKFILLS = "advance_backfills"
    ALERT = "send_alerts"
    DRAW = "draw"


def ring(bell: Bell) -> None:
    """Ring when the transaction under way has committed; at once if there is none.

    A site whose broker lives in one process leaves a row for it instead. On SQLite the row commits with the
    transaction; elsewhere two transactions that ring two bells each would wait for each other.
    """
    if not settings.EMBEDDED:
        transaction.on_commit(lambda: _publish(bell), robust=True)
    elif connection.vendor == "sqlite":
        _leave_row(bell)
    else:
        transaction.on_commit(lambda: _leave_row(bell), robust=True)


def ring_if_due(judge_after: Iterable[datetime | None]) -> None:
    """Whoever has locked held runs, but does not judge them, says so with when each is to be judged.

    Whoever judges passes over rows that are locked: without this they would wait for the next sweep.
    """
    if any(judge_after):
        ring(Bell.JUDGE)


def heard(bell: Bell) -> None:
    """Whoever looks says so before: a ring from now on is worth another look."""
    if _has_flags():
        try:
            _flags().delete(_flag(bell))
        except RedisError as error:
            log.warning("the flag of %s stays up for a sweep: %s", bell, error)


def _leave_row(bell: Bell) -> None:
    models.Bell.objects.bulk_create(
        [models.Bell(name=bell)], update_conflicts=True, unique_fields=["name"], update_fields=["rung_at"]
    )


def _publish(bell: Bell) -> None:
    if not _raise_flag(bell):
        return
    try:
        current_app.send_task(f"scheduling.{bell}", retry=False)
    except OperationalError as error:
        log.warning("nobody heard %s (%s): the next sweep will do it", bell, error)
        heard(bell)


def _raise_flag(bell: Bell) -> bool:
    """Whether this ring is worth a message: none is under way, or nobody can tell."""
    if not _has_flags():
        return True
    try:
        life = max(1, math.ceil(settings.SWEEP_SECONDS))
        return bool(_flags().set(_flag(bell), 1, ex=life, nx=True))
    except RedisError:
        return True


def _has_flags() -> bool:
    """Only what all processes share can keep them."""
    return bool(settings.REDIS_URL) and not settings.EMBEDDED


@cache
def _flags() -> Redis:
    """One client for all threads; Django's cache would make a new one for each ring."""
    return Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2, socket_timeout=5)


def _flag(bell: Bell) -> str:
    return f"partita:rung:{bell}"
