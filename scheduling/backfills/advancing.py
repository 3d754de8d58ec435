"""Lets backfills go on, whoever's message says so.

1. `advance` takes each open backfill that can go on, locked, so that two workers do not do the same.
2. Partitions whose run has ended say how (`outcomes`); what waited for them is looked at (`following`), and
   whatever waits when nothing else is under way.
3. As many runs are queued as it may have ahead (`ahead`), by one backfill of a Dag after the other.
4. With nothing open any more it has ended; else it sleeps until one of its runs has ended.
"""

import logging
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import F, Sum

from core import locks
from core.models import Backfill, BackfillPartition, BackfillTarget
from scheduling import journal
from scheduling.backfills import ahead, following, outcomes
from scheduling.backfills.outcomes import Ended

log = logging.getLogger(__name__)
BROKEN_PAUSE = timedelta(minutes=1)


def advance(*, now: datetime) -> int:
    """Let every backfill go on that can. Returns how many did; none is left that could when 0.

    Cost follows the runs that have ended and those that start, not the partitions that wait.
    """
    moved = 0
    for pk in Backfill.objects.due(now).order_by("pk").values_list("pk", flat=True):
        try:
            moved += _advance_once_more(pk, now)
        except Exception:  # whatever is wrong with one backfill, the others go on
            log.exception("backfill %s cannot go on", pk)
            Backfill.objects.open().filter(pk=pk).update(advance_after=now + BROKEN_PAUSE)
    return moved


def is_due(*, now: datetime) -> bool:
    """Whether a backfill wants to be looked at again, for other reasons than that a run has ended."""
    return Backfill.objects.open().filter(advance_after__lte=now).exists()


def collect(targets: Sequence[BackfillTarget], now: datetime) -> bool:
    """Partitions whose run has ended take over how it ended; what waits for them is looked at."""
    found = outcomes.of_ended_runs(targets)
    if not found:
        return False
    outcomes.record(found)
    ended: Ended = defaultdict(list)
    for each in found:
        ended[each.target_id].append(each.key)
    for target in targets:
        ended[target.pk] += outcomes.stop_chain(target, found)
    following.look(targets, ended, now)
    return True


def finish_if_done(backfill: Backfill, now: datetime) -> bool:
    """Complete `backfill`, which this transaction has locked, if nothing of it is open any more."""
    parts = F("planned") - F("done") - F("failed") - F("skipped") - F("cancelled")
    counts = backfill.targets.aggregate(
        open=Sum(parts),
        done=Sum("done"),
        failed=Sum("failed"),
        skipped=Sum("skipped"),
        cancelled=Sum("cancelled"),
    )
    if counts.pop("open"):
        return False
    backfill.completed_at, backfill.advance_after, backfill.updated_at = now, None, now
    backfill.save(update_fields=["completed_at", "advance_after", "updated_at"])
    first = backfill.targets.select_related("dag").order_by("-layer", "pk")[0]
    journal.note("backfill ended", at=now, about=first.dag, backfill=backfill.pk, **counts)
    return True


def targets_of(backfill: Backfill) -> list[BackfillTarget]:
    """With their Dags, upstream first."""
    return list(backfill.targets.select_related("dag").order_by("layer", "pk"))


def _advance_once_more(pk: int, now: datetime) -> bool:
    """`_advance`, anew if a run that it adopts was deleted at the same moment: that is not there now."""
    try:
        return _advance(pk, now)
    except IntegrityError:
        return _advance(pk, now)


@transaction.atomic
def _advance(pk: int, now: datetime) -> bool:
    rows = Backfill.objects.open().select_for_update(skip_locked=True, no_key=True)
    backfill = rows.filter(pk=pk).first()
    if backfill is None:
        return False
    targets = targets_of(backfill)
    moved = collect(targets, now)
    _wake(targets, now)
    more = False
    if backfill.cancelled_at:
        more = bool(outcomes.cancel_some(targets))
        moved = moved or more
    elif not backfill.is_paused:
        locks.hold_backfilling(target.dag_id for target in targets)
        queued = ahead.queue(backfill, targets, now)
        following.look(targets, queued.ended, now)
        moved = moved or bool(queued.runs or queued.adopted) or any(queued.ended.values())
        more = queued.more or any(queued.ended.values())
    if finish_if_done(backfill, now):
        return True
    backfill.advance_after = now if more else None
    backfill.save(update_fields=["advance_after"])
    return moved


def _wake(targets: Sequence[BackfillTarget], now: datetime) -> None:
    """With nothing else under way, look at whatever waits: its Dag may listen otherwise than at the start.

    Then it may wait for keys that ended long ago, and none that is to end would lead to it.
    """
    rows = BackfillPartition.objects.filter(target__in=targets)
    if any(target.layer for target in targets) and not (rows.started().exists() or rows.ready().exists()):
        following.look_again(targets, now)
