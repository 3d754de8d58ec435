"""A paused Dag starts nothing; what arrives is counted all the same."""

from datetime import datetime
from typing import Any

from django.db import transaction

from core.models import Dag
from scheduling import holds, journal, ticks
from scheduling.doorbell import Bell, ring
from scheduling.journal import Deed


@transaction.atomic
def set_paused(dag: Dag, paused: bool, *, deed: Deed, at: datetime, make_up: bool = False) -> bool:
    """Pause `dag`, or let it run again: then held runs that are complete fire and queued runs start.

    :param make_up: the ticks that came while it was paused are made up, whatever its `catchup` says;
        otherwise they are passed over. The journal says how many.
    :returns: whether that changed anything.
    """
    row = Dag.objects.select_for_update(no_key=True, of=("self",)).get(pk=dag.pk)
    if row.is_paused == paused:
        return False
    row.is_paused, row.updated_at = paused, at
    told = {} if paused else _let_run(row, make_up, at)
    row.save(update_fields=["is_paused", "updated_at", "ticked_until", "next_tick_at", "make_up_until"])
    if not paused:
        holds.judge_again([row], at=at)
        ring(Bell.START)
    journal.note("dag paused" if paused else "dag unpaused", deed=deed, at=at, about=row, **told)
    dag.refresh_from_db()
    return True


def skip_ticks(dag: Dag, at: datetime) -> None:
    """The next tick is the first after `at`; a Dag that has not begun yet still begins at its start date."""
    if dag.ticked_until is not None or dag.start_date is None:
        dag.ticked_until = at
    dag.next_tick_at = None


def _let_run(row: Dag, make_up: bool, at: datetime) -> dict[str, Any]:
    """Decide about the ticks that were missed; what the journal says of it."""
    count = ticks.missed(row, now=at).count
    if make_up:
        row.make_up_until, row.next_tick_at = at, None
    else:
        skip_ticks(row, at)
    return {("ticks_made_up" if make_up else "ticks_passed_over"): count} if count else {}
