"""Ticks whose keys a backfill has asked for before their time: each of these keys is made once.

The run that has waited for the day of its key is the run of the tick. One of several keys waits for the last
of them; the keys of it that have come leave it, each as a run of its own, so that no day is late by it.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
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


def leave_out(new: list[NewRun]) -> tuple[list[NewRun], Collection[int]]:
    """Those of `new`, whose Dags are locked, that no backfill has asked for before their time.

    Pausing or cancelling the backfill keeps the schedule from nothing: only what has begun stays its run.

    :returns: also the Dags whose backfill somebody else has just now: no other Dag waits for that. Nothing is
        left to make of theirs, and it is to be asked for again.
    """
    wanted = {
        (each.dag.pk, each.partition_key, each.tick_at): each
        for each in new
        if each.partition_key and each.tick_at
    }
    if not wanted:
        return new, ()
    busy = _lock_backfills(_ranges(wanted))
    wanted = {place: each for place, each in wanted.items() if each.dag.pk not in busy}
    made = _let_leave_ranges(wanted) | _let_keep_ticks(wanted)
    return [each for each in new if id(each) not in made and each.dag.pk not in busy], busy


def _let_keep_ticks(wanted: Wanted) -> set[int]:
    """The identities of those `wanted` that runs of single keys are, which have waited for them."""
    waited = _asked_before(wanted).filter(partition_key__any=list({key for _, key, _ in wanted}))
    found = [
        (pk, each)
        for pk, dag_id, key, at in waited.values_list("pk", "dag_id", "partition_key", "run_after")
        if key and at and (each := wanted.get((dag_id, key, at)))
    ]
    if not found:
        return set()
    locked = waited.filter(pk__any=[pk for pk, _ in found]).order_by("pk").select_for_update(no_key=True)
    return _let_be_of_their_ticks(list(locked), dict(found))


def _asked_before(wanted: Wanted) -> QuerySet[DagRun]:
    """Runs of backfills that were to wait for the day of their key, or the last of their keys."""
    return DagRun.objects.filter(
        dag__in={dag_id for dag_id, *_ in wanted},
        run_type=newruns.Type.BACKFILL,
        queued_at__lt=F("run_after"),
        tick_at=None,
    ).exclude(state=State.CANCELLED)


def _ranges(wanted: Wanted) -> QuerySet[DagRun]:
    """Those of several keys. Such a run has no key of its own: the index of keys finds it."""
    able = {dag_id for (dag_id, _, _), each in wanted.items() if each.dag.max_keys_per_run != 1}
    if not able:
        return DagRun.objects.none()
    return _asked_before(wanted).filter(
        dag__in=able,
        partition_key=None,
        partition_keys__isnull=False,
        run_after__gte=min(at for _, _, at in wanted),
    )


def _let_leave_ranges(wanted: Wanted) -> set[int]:
    """Make runs of the keys that leave the runs of several which still wait, as if these had been asked for.

    :returns: the identities of those `wanted` that such a run has begun with, too late to leave it.
    """
    ticks_of: dict[int, list[tuple[str, NewRun]]] = defaultdict(list)
    for (dag_id, key, at), each in sorted(wanted.items(), key=lambda item: item[0][2]):
        if at == each.partition_date:
            ticks_of[dag_id].append((key, each))
    begun: set[int] = set()
    ranges = _ranges(wanted).order_by("pk").select_for_update(no_key=True, of=("self",))
    for run in ranges.select_related("dag", "backfill"):
        keys, after = set(run.keys), run.queued_at
        due = [
            each
            for key, each in ticks_of[run.dag_id]
            if key in keys and each.tick_at is not None and after < each.tick_at
        ]
        if run.state == State.QUEUED:
            _split(run, due)
        else:
            begun |= {id(each) for each in due}
    return begun


def _lock_backfills(ranges: QuerySet[DagRun]) -> set[int]:
    """Lock those that have such runs, before the runs, as everybody does who changes both.

    :returns: the Dags of those that somebody else has.
    """
    own = set(ranges.filter(backfill__isnull=False).values_list("backfill_id", "dag_id"))
    rows = Backfill.objects.select_for_update(no_key=True, skip_locked=True).order_by("pk")
    locked = {row.pk for row in rows.filter(pk__in={pk for pk, _ in own})}
    return {dag_id for pk, dag_id in own if pk not in locked}


def _split(run: DagRun, due: Sequence[NewRun]) -> None:
    """The keys that are `due` leave `run`, which ends as the run of the last one if it has no others."""
    keys = {each.partition_key for each in due}
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
