"""What an engine that works alone does first: take back what the one before it had in hand when it died."""

from datetime import datetime, timedelta

from core.models import DagRun
from scheduling import claims, sensors

MOMENT = timedelta(microseconds=1)


def take_back(*, now: datetime) -> None:
    """Let every lease run out and forget every message that was under way, of runs and of sensors.

    Only for an engine that knows it is the only one: it need not wait to see whether a worker is still alive.
    """
    here = DagRun.objects.filter(state=DagRun.State.RUNNING, is_elsewhere=False)
    here.update(lease_until=now - MOMENT)
    DagRun.objects.filter(state=DagRun.State.QUEUED).update(dispatched_at=None)
    claims.take_over_lost(now=now)
    sensors.forget_looks()
