"""Ticks whose keys a backfill has asked for before their time: each of these keys is made once.

The run that has waited for the day of its key is the run of the tick. One of several keys waits for the last
of them; the keys of it that have come leave it, each as a run of its own, so that no day is late by it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import F, QuerySet

from core import bulk
from core.models import Backfill, BackfillPartition, DagRun
from scheduling import newruns
from scheduling.newruns import NewRun

State = DagRun.State
Wanted = Mapping[tuple[int, str, datetime], NewRun]
"""What ticks would make, by Dag, key and instant."""


def leave_out(new: list[NewRun]) -> list[NewRun]:
    """Those of `new`, whose Dags are locked, that no backfill has asked for before their time.

    Pausing or cancelling the backfill keeps the schedule from nothing: only what has begun stays its run.
    """
    wanted = {
        (each.dag.pk, each.partition_key, each.tick_at): each
        for each in new
        if each.partition_key and each.tick_at
    }
    if not wanted:
        return new
    begun = _let_leave_ranges(wanted)
    waited = _asked_before(wanted).filter(partition_key__any=list({key for _, key, _ in wanted}))
    found = [
        (pk, wanted[place])
        for pk, *rest in waited.values_list("pk", "dag_id", "partition_key", "run_after")
        if (place := tuple(rest)) in wanted
    ]
    made = begun
    if found:
        locked = waited.filter(pk__any=[pk for pk, _ in found]).order_by("pk").select_for_update(no_key=True)
        made |= _let_be_of_their_ticks(list(locked), dict(found))
    return [each for each in new if id(each) not in made]


def _asked_before(wanted: Wanted) -> QuerySet[DagRun]:
    """Runs of backfills that were to wait for the day of their key, or the last of their keys."""
    return DagRun.objects.filter(
        dag__in={dag_id for dag_id, *_ in wanted},
        run_type=newruns.Type.BACKFILL,
        queued_at__lt=F("run_after"),
        tick_at=None,
    ).exclude(state=State.CANCELLED)


def _let_leave_ranges(wanted: Wanted) -> set[int]:
    """Make runs of the keys that leave the runs of several which still wait, as if these had been asked for.

    :returns: the identities of those `wanted` that such a run has begun with, too late to leave it.
    """
    able = {dag_id: key for (dag_id, key, _), each in wanted.items() if each.dag.max_keys_per_run != 1}
    if not able:
        return set()
    # A run of several keys has none of its own: the index of keys finds it.
    ranges = _asked_before(wanted).filter(
        dag__in=able,
        partition_key=None,
        partition_keys__isnull=False,
        run_after__gte=min(at for _, _, at in wanted),
    )
    _lock_backfills(ranges)
    begun: set[int] = set()
    for run in ranges.order_by("pk").select_for_update(no_key=True, of=("self",)).select_related("dag"):
        due = [
            each
            for (dag_id, key, at), each in sorted(wanted.items(), key=lambda item: item[0][2])
            if dag_id == run.dag_id and key in run.keys and at == each.partition_date and run.queued_at < at
        ]
        if run.state == State.QUEUED:
            _split(run, due)
        else:
            begun |= {id(each) for each in due}
    return begun


def _lock_backfills(ranges: QuerySet[DagRun]) -> None:
    """Those that have keys of such runs, before the runs, as everybody does who changes both."""
    own = Backfill.objects.filter(runs__in=ranges).order_by("pk").distinct().values_list("pk", flat=True)
    if pks := list(own):
        list(Backfill.objects.filter(pk__in=pks).order_by("pk").select_for_update(no_key=True))


def _split(run: DagRun, due: Sequence[NewRun]) -> None:
    """The keys that are `due` leave `run`, which ends as the run of the last one if it has no others."""
    keys = [each.partition_key for each in due]
    left = [key for key in run.keys if key not in keys]
    leaving = due if left else due[:-1]
    made = newruns.create([_alone(run, each) for each in leaving], at=run.queued_at) if leaving else []
    run_of = {each.partition_key: each.pk for each in made}
    rows = BackfillPartition.objects.filter(run=run, key__in=run_of).values_list("pk", "key")
    bulk.update(BackfillPartition, ("run_id",), [(pk, run_of[key]) for pk, key in rows])
    rest = DagRun.objects.filter(pk=run.pk)
    if left:
        rest.update(partition_keys=left)
    elif due:
        last = due[-1]
        rest.update(
            partition_keys=None,
            partition_key=last.partition_key,
            partition_date=last.partition_date,
            run_after=last.tick_at,
        )


def _alone(run: DagRun, due: NewRun) -> NewRun:
    return NewRun(
        dag=run.dag,
        run_type=newruns.Type.BACKFILL,
        partition_key=due.partition_key,
        partition_date=due.partition_date,
        backfill=run.backfill,
        run_after=due.tick_at,
        conf=run.conf,
        triggered_by=run.triggered_by,
        created_by=run.created_by,
    )


def _let_be_of_their_ticks(foretold: Sequence[DagRun], tick_of: Mapping[int, NewRun]) -> set[int]:
    """Let runs of backfills, which are locked, be those of their ticks, the first where that has none.

    :param tick_of: by the primary key of each, what its tick would make.
    :returns: the identities of those that need not be made.
    """
    ticks = DagRun.objects.filter(
        dag__any=list({run.dag_id for run in foretold}),
        tick_at__in={tick_of[run.pk].tick_at for run in foretold},
    )
    taken = set(ticks.values_list("dag_id", "tick_at"))
    made: set[int] = set()
    rows: list[tuple[Any, ...]] = []
    for run in foretold:
        new = tick_of[run.pk]
        if (run.dag_id, new.tick_at) in taken:
            continue
        taken.add((run.dag_id, new.tick_at))
        made.add(id(new))
        is_queued = run.state == DagRun.State.QUEUED
        said = (new.run_type.value, new.triggered_by, None) if is_queued else _said(run)
        rows.append((run.pk, new.tick_at, *said))
    bulk.update(DagRun, ("tick_at", "run_type", "triggered_by", "backfill_id"), rows)
    return made


def _said(run: DagRun) -> tuple[str, str, int | None]:
    return run.run_type, run.triggered_by, run.backfill_id
