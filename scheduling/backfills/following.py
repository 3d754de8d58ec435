"""Partitions that wait for upstream keys of their backfill: looked at when one of those has ended."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from core import bulk
from core.models import BackfillPartition, BackfillTarget
from scheduling import listening
from scheduling.backfills import outcomes, preceding, upstream
from scheduling.backfills.outcomes import Ended, Outcome
from scheduling.backfills.preceding import Before, Sources, sources_of
from scheduling.listening import BrokenDefinition, DagListening

State = BackfillPartition.State
PORTION = 1000
"""Partitions that are looked at together."""

MOST_NAMED = 3
FAILED = (State.FAILED, State.BLOCKED, State.CANCELLED)


def look(targets: Sequence[BackfillTarget], ended: Ended, now: datetime) -> None:
    """Look at what waits for the keys that have ended, and then at what waits for what was blocked by that.

    :param targets: those of one backfill with their Dags, upstream first.
    """
    ended = defaultdict(list, {pk: list(keys) for pk, keys in ended.items() if keys})
    if not ended or not any(target.layer for target in targets):
        return
    sources = sources_of(targets)
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
    sources = sources_of(targets)
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
    before = preceding.before(heard, sources, [row.key for row in rows])
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
