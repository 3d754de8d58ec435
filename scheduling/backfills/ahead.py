"""Queues the runs that a backfill may have ahead, for the next partitions in order, alone or in chunks."""

import re
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, Min, Q

from core import bulk
from core.models import AssetEvent, Backfill, BackfillPartition, BackfillTarget, DagRun, HeldRun
from scheduling import assessing, firing, listening, newruns, opening, runs
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.timetables import PartitionedAssetTimetable
from scheduling.algebra.verdicts import Verdict
from scheduling.backfills import adopting, outcomes
from scheduling.backfills.asking import MOST_KEYS_PER_RUN
from scheduling.backfills.outcomes import Ended, Outcome
from scheduling.newruns import NewRun
from scheduling.runlog import storable

State = BackfillPartition.State
Item = BackfillPartition
Dates = dict[int, datetime | None]
"""Partition dates by the primary key of the partition."""

AHEAD = 2
"""How many times its `max_active_runs` a backfill may have queued and running of each Dag: the next ones are
there when a slot gets free. Only claims say how many run."""

MOST_RUNS = 1000
"""Runs that are queued in one transaction."""

SAFE_IN_RUN_ID = re.compile(r"[A-Za-z0-9_.~:+-]{1,100}")


@dataclass(slots=True)
class Queued:
    """How many runs were queued, how many partitions others run, and what ended because it cannot run.

    `more`: not all is done yet.
    """

    runs: int = 0
    adopted: int = 0
    ended: Ended = field(default_factory=dict)
    more: bool = False


def queue(backfill: Backfill, targets: Sequence[BackfillTarget], now: datetime) -> Queued:
    """Queue what `backfill`, which this transaction has locked, may have ahead, downstream first."""
    ahead = _ahead(backfill, now)
    unrouted = _oldest_unrouted(backfill)
    queued = Queued()
    for target in reversed(targets):
        room = AHEAD * backfill.max_active_runs - ahead[target.dag_id]
        if room > 0:
            allowed, before = min(room, MOST_RUNS - queued.runs), queued.runs
            if allowed > 0:
                _queue(_Queueing(backfill, target, targets, now, unrouted), queued, allowed)
            queued.more |= queued.runs - before == allowed < room
    # Partitions that others run have taken no room: the next ones may have it.
    queued.more |= unrouted is not None or queued.adopted > 0
    return queued


def keys_per_run(backfill: Backfill, target: BackfillTarget) -> int:
    """How many keys a run of that Dag takes: as many as were asked for and as it can."""
    limits = (backfill.keys_per_run, target.dag.max_keys_per_run, MOST_KEYS_PER_RUN)
    return min(limit for limit in limits if limit is not None)


def _ahead(backfill: Backfill, now: datetime) -> Counter[int]:
    """How many of its runs run, or could, by Dag: none keeps those of another waiting.

    Those that wait for a retry or for their day keep no other run waiting.
    """
    could = Q(state=DagRun.State.QUEUED, run_after__lte=now)
    runs_ahead = backfill.runs.filter(Q(state=DagRun.State.RUNNING) | could).order_by().values_list("dag_id")
    return Counter(dict(runs_ahead.annotate(Count("pk"))))


@dataclass(frozen=True, slots=True)
class _Queueing:
    backfill: Backfill
    target: BackfillTarget
    targets: Sequence[BackfillTarget]
    now: datetime
    unrouted: datetime | None


def _queue(of: _Queueing, queued: Queued, room: int) -> None:
    """Queue up to `room` runs of one Dag."""
    if not of.target.dag.is_active:
        sentence = f"Dag {of.target.dag} is not defined any more"
        queued.ended[of.target.pk] = outcomes.end_unstarted(of.target, State.FAILED, sentence)
        return
    rows = _next(of, room)
    if not rows:
        return
    held = _held(of, rows)
    adopted = adopting.adopted(of.backfill, of.target, of.targets, rows)
    bulk.update(Item, ("state", "run_id"), [(pk, State.STARTED.value, run) for pk, run in adopted.items()])
    queued.adopted += len(adopted)
    dates, refused = _dated(of, [row for row in rows if row.pk not in adopted])
    outcomes.record(refused)
    queued.ended[of.target.pk] = [each.key for each in refused]
    opening.drop_opened([held[row.key] for row in rows if held and row.pk not in dates])
    made = _start(of, [row for row in rows if row.pk in dates], dates, held)
    queued.runs += len(made)
    queued.more |= any(run.run_after > of.now for run in made)
    queued.ended[of.target.pk] += outcomes.stop_chain(of.target, refused)


def _next(of: _Queueing, room: int) -> list[Item]:
    """The partitions that start next, in whole chunks as long as more may come."""
    size = keys_per_run(of.backfill, of.target)
    own = Item.objects.filter(target=of.target)
    if of.backfill.is_chained:
        room = 0 if own.started().exists() else min(room, 1)
    ready = own.filter(state=State.READY).order_by("position")
    if of.unrouted is not None:
        # The engine must have seen the events that made these ready, or it would start a run of its own.
        ready = ready.filter(Q(ripe_at=None) | Q(ripe_at__lt=of.unrouted))
    rows = list(ready[: room * size])
    if size > 1 and len(rows) % size and own.filter(state=State.WAITING).exists():
        rows = rows[: len(rows) // size * size]
    return rows


def _oldest_unrouted(backfill: Backfill) -> datetime | None:
    """When the oldest event was recorded that a run of the backfill wrote and nobody has mapped yet."""
    unrouted = AssetEvent.objects.filter(routed_at=None, source_run__backfill=backfill)
    oldest: datetime | None = unrouted.aggregate(oldest=Min("timestamp"))["oldest"]
    return oldest


def _held(of: _Queueing, rows: Sequence[Item]) -> dict[str, HeldRun]:
    """The held run of each key, locked before anybody looks who runs it: none fires from now on.

    None for a Dag that waits for no assets.
    """
    if not _listens(of.target):
        return {}
    dag = of.target.dag
    found = opening.lock_or_open({(dag.pk, row.key) for row in rows}, {dag.pk: dag}, of.now)
    return {key: row for (_, key), row in found.items()}


def _start(of: _Queueing, rows: Sequence[Item], dates: Dates, held: Mapping[str, HeldRun]) -> list[DagRun]:
    """Queue the runs of `rows`, which nobody else runs."""
    size = keys_per_run(of.backfill, of.target)
    chunks = [rows[at : at + size] for at in range(0, len(rows), size)]
    verdicts = _verdicts(of, [held[row.key] for row in rows]) if held else {}
    made = newruns.create([_new(of, chunk, dates, verdicts) for chunk in chunks], at=of.now)
    bulk.update(
        Item,
        ("state", "run_id"),
        [
            (row.pk, State.STARTED.value, run.pk)
            for run, chunk in zip(made, chunks, strict=True)
            for row in chunk
        ],
    )
    if made and held:
        _settle_held(of, chunks, made, held)
    return made


def _verdicts(of: _Queueing, rows: Sequence[HeldRun]) -> dict[str, Verdict]:
    """By key, the verdict on the held runs, filled now, which become the runs that make these keys."""
    opening.fill_opened(rows, {of.target.dag_id: of.target.dag}, of.now)
    for row in rows:
        row.dag = of.target.dag
    answers = assessing.assess(rows, now=of.now)
    return {row.partition_key: answers[row.pk] for row in rows}


def _listens(target: BackfillTarget) -> bool:
    """Whether the Dag waits for assets, so that its keys may be held."""
    try:
        return isinstance(listening.timetable_of(target.dag), PartitionedAssetTimetable)
    except PartitionError:
        return False


def _dated(of: _Queueing, rows: Sequence[Item]) -> tuple[Dates, list[Outcome]]:
    """The partition date of each row; how those end that are no keys of the Dag any more."""
    dates: Dates = {}
    refused = []
    for row in rows:
        try:
            dates[row.pk] = runs.date_of(of.target.dag, row.key)
        except PartitionError as error:
            refused.append(Outcome(row.pk, of.target.pk, row.key, State.FAILED, storable(str(error))))
    return dates, refused


def _new(of: _Queueing, chunk: Sequence[Item], dates: Dates, verdicts: Mapping[str, Verdict]) -> NewRun:
    keys = [row.key for row in chunk]
    date = dates[chunk[0].pk] if len(chunk) == 1 else None
    after = max((each for row in chunk if (each := dates[row.pk])), default=of.now)
    return NewRun(
        dag=of.target.dag,
        run_type=newruns.Type.BACKFILL,
        partition_key=keys[0] if len(keys) == 1 else None,
        partition_keys=None if len(keys) == 1 else keys,
        partition_date=date,
        run_after=max(after, of.now),
        run_id=_run_id(keys, date or of.now),
        conf=of.backfill.conf,
        triggered_by="backfill",
        created_by=of.backfill.created_by,
        backfill=of.backfill,
        **firing.noted(verdicts[key] for key in keys if key in verdicts),
    )


def _run_id(keys: Sequence[str], at: datetime) -> str | None:
    """As Airflow has it, with the key, where a key can stand in an address as it is."""
    if len(keys) > 1 or not SAFE_IN_RUN_ID.fullmatch(keys[0]):
        return None
    return f"backfill__{at.isoformat()}__{keys[0]}__{secrets.token_hex(4)}"


def _settle_held(
    of: _Queueing,
    chunks: Sequence[Sequence[Item]],
    made: Sequence[DagRun],
    held: Mapping[str, HeldRun],
) -> None:
    """The held run of each key becomes the run that makes it, with the events it consumes."""
    pairs = [(held[row.key], run) for run, chunk in zip(made, chunks, strict=True) for row in chunk]
    rows, runs_of = [row for row, _ in pairs], [run for _, run in pairs]
    firing.become(rows, runs_of, by=of.backfill.created_by, at=of.now)
