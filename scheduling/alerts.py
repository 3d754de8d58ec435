"""Tells another system over HTTP what a site finds by itself: signed as runs are, and never in the way.

1. An alert is a row (`overdue`). Whoever sends it first moves `send_after` on, so that nobody else does.
2. Nothing is locked while the other side answers. A 2xx ends it; anything else is tried again later.
3. After so many attempts, or where the address is in a network that is not open, the journal has the reason.

The receiver can tell a repetition by the `id` in the body: an answer may get lost on its way back.
"""

import json
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F

from core.models import Alert
from scheduling import journal, outbound, webhooks
from scheduling.outbound import Forbidden, Unreachable

ATTEMPTS = 8
FIRST_WAIT = timedelta(seconds=30)
PATIENCE = timedelta(seconds=10)


def send_next(*, clock: Callable[[], datetime]) -> bool:
    """Try to send the alert that is due longest; false if none is due. Call outside a transaction."""
    alert = _take(clock())
    if alert is None:
        return False
    failure, is_final = _post(alert, clock())
    if failure:
        _note_failure(alert, failure, is_final or alert.attempts >= ATTEMPTS, clock())
    else:
        Alert.objects.filter(pk=alert.pk).update(sent_at=clock(), send_after=None, error="")
    return True


def is_due(*, now: datetime) -> bool:
    return Alert.objects.due(now).exists()


def _take(now: datetime) -> Alert | None:
    """An alert that nobody else sends for a while."""
    for alert in Alert.objects.due(now)[:20]:
        again = now + FIRST_WAIT * 2**alert.attempts
        mine = Alert.objects.filter(pk=alert.pk, send_after=alert.send_after)
        if mine.update(send_after=again, attempts=F("attempts") + 1):
            alert.attempts += 1
            return alert
    return None


def _post(alert: Alert, now: datetime) -> tuple[str, bool]:
    """Why it could not be sent, empty if it was; and whether another attempt is of no use."""
    body = json.dumps(alert.body, ensure_ascii=False).encode()
    headers = webhooks.headers(settings.ALERT_SECRET, now, body)
    try:
        answer = outbound.post(settings.ALERT_URL, body, headers, patience=PATIENCE)
    except Forbidden as refusal:
        return str(refusal), True
    except Unreachable as failure:
        return str(failure), False
    return "" if 200 <= answer.status < 300 else f"the alert address answered {answer.status}", False


def _note_failure(alert: Alert, failure: str, is_over: bool, now: datetime) -> None:
    with transaction.atomic():
        rows = Alert.objects.filter(pk=alert.pk)
        if is_over:
            rows.update(error=failure, send_after=None)
            row = alert.held_run
            key, attempts = row.partition_key, alert.attempts
            journal.note("alert given up", at=now, about=row.dag, key=key, error=failure, attempts=attempts)
        else:
            rows.update(error=failure)
