"""Partitions that wait for upstream keys of their backfill: looked at when one of those has ended."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from core import bulk
from core.models import BackfillPartition, BackfillTarget, Outlet
from scheduling import listening
from scheduling.backfills import outcomes, upstream
from scheduling.backfills.outcomes import Ended, Outcome
from scheduling.listening import BrokenDefinition, DagListening

State = BackfillPartition.State
PORTION = 1000
"""Partitions that are looked at together."""

MOST_NAMED = 3
FAILED = (State.FAILED, State.BLOCKED, State.CANCELLED)

Sources = Mapping[int, Sequence[BackfillTarget]]
"""The targets of the backfill that write each asset."""


@dataclass(frozen=True, slots=True)
class Before:
    """One upstream partition of the same backfill."""

    asset_id: int
    dag_id: str
    key: str
    state: str
    ended_at: datetime | None

    @property
    def is_open(self) -> bool:
        return self.state in BackfillPartition.OPEN


def look(targets: Sequence[BackfillTarget], ended: Ended, now: datetime) -> None:
    """Look at what waits for the keys that have ended, and then at what waits for what was blocked by that.

    :param targets: those of one backfill with their Dags, upstream first.
    """
    ended = defaultdict(list, {pk: list(keys) for pk, keys in ended.items() if keys})
    if not ended or not any(target.layer for target in targets):
        return
    sources = _sources(targets)
    heard = listening.of_dags([target.dag for target in targets if target.layer])
    for target in targets:
        if not target.layer:
            continue
        answer = heard[target.dag_id]
        if isinstance(answer, BrokenDefinition):
            ended[target.pk] += outcomes.end_unstarted(target, State.FAILED, str(answer))
            continue
        led = list(_led_to(answer, sources, ended))
        waiting = BackfillPartition.objects.filter(target=target, state=State.WAITING)
        for start in range(0, len(led), PORTION):
            rows = list(waiting.filter(key__in=led[start : start + PORTION]))
            ended[target.pk] += _look_at(target, rows, answer, sources, now)


def look_again(targets: Sequence[BackfillTarget], now: datetime) -> Ended:
    """Look at everything that waits, whatever has ended: after partitions were opened again.

    What waits by a definition that is broken has failed, as in `look`: mending that would not wake it.

    :returns: what has ended by that.
    """
    sources = _sources(targets)
    ended: Ended = {}
    for target in targets:
        if not target.layer:
            continue
        answer = listening.of_dags([target.dag])[target.dag_id]
        if isinstance(answer, BrokenDefinition):
            ended[target.pk] = outcomes.end_unstarted(target, State.FAILED, str(answer))
            continue
        waiting = BackfillPartition.objects.filter(target=target, state=State.WAITING)
        keys, ended[target.pk] = list(waiting.values_list("key", flat=True)), []
        for start in range(0, len(keys), PORTION):
            rows = list(waiting.filter(key__in=keys[start : start + PORTION]))
            ended[target.pk] += _look_at(target, rows, answer, sources, now)
    return ended


def _sources(targets: Sequence[BackfillTarget]) -> Sources:
    by_dag = {target.dag_id: target for target in targets}
    found: dict[int, list[BackfillTarget]] = defaultdict(list)
    outlets = Outlet.objects.filter(dag__in=by_dag).values_list("asset_id", "dag_id").distinct()
    for asset_id, dag_id in outlets:
        found[asset_id].append(by_dag[dag_id])
    return found


def _led_to(heard: DagListening, sources: Sources, ended: Ended) -> Iterable[str]:
    led: dict[str, None] = {}
    for asset_id in heard.leaf_of:
        for source in sources.get(asset_id, ()):
            led |= dict.fromkeys(upstream.mapped(heard.mapper(asset_id), ended.get(source.pk, ())))
    return led


def _look_at(
    target: BackfillTarget,
    rows: Sequence[BackfillPartition],
    heard: DagListening,
    sources: Sources,
    now: datetime,
) -> list[str]:
    """Make `rows` ready, or block them, if nothing that they wait for is open. The keys that were blocked."""
    before = _before(heard, sources, [row.key for row in rows])
    ripe = [row for row in rows if not any(each.is_open for each in before[row.key])]
    gone: dict[int, set[str]] = defaultdict(set)
    for row in ripe:
        for each in before[row.key]:
            if each.state in FAILED:
                gone[each.asset_id].add(each.key)
    verdicts = upstream.judge(target.dag, [row.key for row in ripe], now=now, gone=gone)
    ready = [row for row in ripe if verdicts[row.key].may_fire]
    bulk.update(
        BackfillPartition,
        ("state", "ripe_at"),
        [(row.pk, State.READY.value, _ripe_at(before[row.key], now)) for row in ready],
    )
    blocked = [
        Outcome(row.pk, target.pk, row.key, State.BLOCKED, _why(before[row.key], verdicts[row.key].sentence))
        for row in ripe
        if not verdicts[row.key].may_fire
    ]
    outcomes.record(blocked)
    return [each.key for each in blocked] + outcomes.stop_chain(target, blocked)


def _before(heard: DagListening, sources: Sources, keys: Sequence[str]) -> dict[str, list[Before]]:
    """By key, the upstream partitions of the backfill that it needs; all of them where that is not known."""
    found: dict[str, list[Before]] = {key: [] for key in keys}
    for asset_id in heard.leaf_of:
        mapper = heard.mapper(asset_id)
        needed = {key: upstream.needs(mapper, key) for key in keys}
        for source in sources.get(asset_id, ()):
            known = _partitions(asset_id, source, needed.values())
            for key, names in needed.items():
                found[key] += (
                    known.values() if names is None else [known[name] for name in names if name in known]
                )
    return found


def _partitions(
    asset_id: int, source: BackfillTarget, needed: Collection[Collection[str] | None]
) -> dict[str, Before]:
    rows = BackfillPartition.objects.filter(target=source)
    if None not in needed:
        rows = rows.filter(key__in={name for names in needed for name in names or ()})
    return {
        key: Before(asset_id, source.dag.dag_id, key, state, ended_at)
        for key, state, ended_at in rows.values_list("key", "state", "run__ended_at")
    }


def _ripe_at(before: Iterable[Before], now: datetime) -> datetime:
    return max((each.ended_at for each in before if each.ended_at), default=now)


def _why(before: Iterable[Before], sentence: str) -> str:
    """What a blocked partition says: which upstream partition failed, or what its verdict says."""
    failed = [each for each in before if each.state in FAILED]
    if not failed:
        return f"its upstream is not complete: {sentence}"
    named = ", ".join(f"{each.key} of {each.dag_id}" for each in failed[:MOST_NAMED])
    more = f" and {len(failed) - MOST_NAMED} more" if len(failed) > MOST_NAMED else ""
    return f"not run, because it needs {named}{more}, which did not succeed"
