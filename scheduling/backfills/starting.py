"""A plan becomes a backfill: worked out once more, compared with what was shown, and recorded in one go."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db import transaction

from core import bulk
from core.models import Backfill, BackfillPartition, BackfillTarget, Dag, DagRun, Partition
from scheduling import doorbell, journal, runs
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.phrases import some
from scheduling.backfills import graph
from scheduling.backfills.asking import Ask, NothingToBackfill, StalePlan
from scheduling.backfills.planning import plan
from scheduling.backfills.plans import Part, Plan, shown_at, shown_count
from scheduling.doorbell import Bell
from scheduling.journal import Deed

MOST_LOOKED_AT = 1000
State = BackfillPartition.State
COLUMNS = ("target_id", "key", "position", "state", "reason", "run_id")


@transaction.atomic
def start(ask: Ask, *, deed: Deed, at: datetime, shown: str | None = None) -> Backfill:
    """Record what `ask` comes to, and wake the worker that advances it.

    Two who ask for the same at once do not both get it: the second one finds the keys in progress.

    :param shown: the token of the plan that was shown; if what would start now is another, nothing does.
    :raises StalePlan: saying what has changed since.
    :raises NothingToBackfill: if no key would run; for whatever else, see `plan`.
    """
    _lock(ask)
    now = plan(ask, now=at)
    if shown is not None and shown.partition("~")[2] != now.token().partition("~")[2]:
        raise StalePlan(_what_changed(shown, now))
    if not now.count:
        raise NothingToBackfill(now.why_nothing())
    backfill = _record(now, deed, at)
    journal.note(
        "backfill started",
        deed=deed,
        at=at,
        about=ask.dags[0],
        backfill=backfill.pk,
        keys=ask.words(),
        partitions={part.dag.dag_id: part.count for part in now.parts},
        skipped=now.skipped,
    )
    doorbell.ring(Bell.ADVANCE_BACKFILLS)
    return backfill


def _lock(ask: Ask) -> None:
    """Lock every Dag that may come into the plan: nobody else starts a backfill of them meanwhile."""
    links, pks = graph.load(), {dag.pk for dag in ask.dags}
    if ask.with_upstream:
        pks |= links.upstream(pks)
    if ask.with_downstream:
        pks |= links.downstream(pks)
    rows = Dag.objects.select_for_update(no_key=True).filter(pk__in=pks)
    list(rows.order_by("pk").values_list("pk"))


def _record(now: Plan, deed: Deed, at: datetime) -> Backfill:
    ask = now.ask
    first, last = (ask.dates.first, ask.dates.last) if ask.dates else _span(now.parts)
    backfill = Backfill.objects.create(
        title=ask.title,
        words=ask.words(),
        asked=ask.kept(),
        from_date=first,
        to_date=last,
        conf=dict(ask.conf),
        reprocess=ask.again,
        order=ask.order,
        is_chained=ask.is_chained,
        keys_per_run=ask.keys_per_run,
        max_active_runs=ask.max_active_runs,
        created_by=deed.by,
        created_at=at,
        updated_at=at,
        advance_after=at,
    )
    for part in now.parts:
        if part.order:
            _record_part(backfill, part)
    return backfill


def _span(parts: Sequence[Part]) -> tuple[datetime | None, datetime | None]:
    """The dates of the first and the last key, where keys have dates."""
    part = parts[-1]
    dates = []
    for key in (part.order[0], part.order[-1]) if part.order else ():
        try:
            dates.append(runs.date_of(part.dag, key))
        except PartitionError:
            continue
    known = sorted(date for date in dates if date is not None)
    return (known[0], known[-1]) if known else (None, None)


def _record_part(backfill: Backfill, part: Part) -> None:
    target = BackfillTarget.objects.create(
        backfill=backfill,
        dag=part.dag,
        layer=part.layer,
        planned=len(part.order),
        skipped=len(part.skipped),
    )
    bulk.load(BackfillPartition, COLUMNS, list(_rows(target.pk, part)))


def _rows(target_id: int, part: Part) -> Iterator[tuple[object, ...]]:
    skipped, waiting = part.skipped, part.waiting
    for position, key in enumerate(part.order):
        if key in skipped:
            yield target_id, key, position, State.SKIPPED.value, skipped[key], None
        else:
            state = State.WAITING if key in waiting else State.READY
            yield target_id, key, position, state.value, "", None


def _what_changed(shown: str, now: Plan) -> str:
    """The difference between a plan that was shown and that of now, from what happened in between."""
    count, since = shown_count(shown), shown_at(shown)
    then = "others would run, or in another order"
    if count is not None and count != now.count:
        then = f"{some(count, 'partition')} would have run, now {now.count}"
    causes = _causes(now, since) if since else ()
    because = f": {'; '.join(causes)}" if causes else ""
    return f"the plan has changed since it was shown: {then}{because}"


def _causes(now: Plan, at: datetime) -> Sequence[str]:
    """Three things at most that have happened since `at`, on which the plan depends."""
    dags = [part.dag for part in now.parts] or list(now.ask.dags)
    keys = {key for part in now.parts for key in part.order}
    changed = [f"Dag {dag} was changed" for dag in dags if dag.updated_at > at]
    runs = DagRun.objects.filter(dag__in=dags, queued_at__gte=at).order_by("pk")
    queued = [
        f"run {run_id} of {key} was queued"
        for run_id, key in runs.values_list("run_id", "partition_key")[:MOST_LOOKED_AT]
        if key in keys
    ]
    parts = Partition.objects.filter(asset__outlets__dag__in=dags, updated_at__gte=at).order_by("updated_at")
    moved = [f"{row.key} is {row.state} now" for row in parts[:MOST_LOOKED_AT] if row.key in keys]
    return (changed + queued + moved)[:3]
