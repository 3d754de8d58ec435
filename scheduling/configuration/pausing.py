"""A paused Dag starts nothing; what arrives is counted all the same."""

from datetime import datetime

from django.db import transaction

from core.models import Dag
from scheduling import holds, journal
from scheduling.doorbell import Bell, ring
from scheduling.journal import Deed


@transaction.atomic
def set_paused(dag: Dag, paused: bool, *, deed: Deed, at: datetime) -> bool:
    """Pause `dag`, or let it run again: then held runs that are complete fire and queued runs start.

    Ticks that came while it was paused are not made up.

    :returns: whether that changed anything.
    """
    row = Dag.objects.select_for_update(no_key=True, of=("self",)).get(pk=dag.pk)
    if row.is_paused == paused:
        return False
    row.is_paused, row.updated_at = paused, at
    if not paused:
        skip_ticks(row, at)
        holds.judge_again([row], at=at)
        ring(Bell.START)
    row.save(update_fields=["is_paused", "updated_at", "ticked_until", "next_tick_at"])
    journal.note("dag paused" if paused else "dag unpaused", deed=deed, at=at, about=row)
    dag.refresh_from_db()
    return True


def skip_ticks(dag: Dag, at: datetime) -> None:
    """The next tick is the first after `at`; a Dag that has not begun yet still begins at its start date."""
    if dag.ticked_until is not None or dag.start_date is None:
        dag.ticked_until = at
    dag.next_tick_at = None
