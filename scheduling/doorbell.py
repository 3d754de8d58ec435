"""Tells a worker to look now. A ring that gets lost costs one sweep, never the work."""

import logging
from enum import StrEnum

from celery import current_app
from django.conf import settings
from django.db import connection, transaction
from kombu.exceptions import OperationalError

from core import models

log = logging.getLogger(__name__)


class Bell(StrEnum):
    """What to look at; the name of the Celery task that does."""

    ROUTE = "route_events"
    JUDGE = "judge_held_runs"
    START = "start_runs"
    ADVANCE_BACKFILLS = "advance_backfills"


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


def _leave_row(bell: Bell) -> None:
    models.Bell.objects.bulk_create(
        [models.Bell(name=bell)], update_conflicts=True, unique_fields=["name"], update_fields=["rung_at"]
    )


def _publish(bell: Bell) -> None:
    try:
        current_app.send_task(f"scheduling.{bell}", retry=False)
    except OperationalError as error:
        log.warning("nobody heard %s (%s): the next sweep will do it", bell, error)
