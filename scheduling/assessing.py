"""Held runs as values, and the verdict on each: what the scheduler, pages and the API all ask."""

import logging
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import F

from core.models import Dag, HeldRun, Partition
from scheduling import filling, listening, presence, reach, rounds, tally
from scheduling.algebra import verdicts
from scheduling.algebra.closed import Closed
from scheduling.algebra.conditions import Leaf
from scheduling.algebra.progress import Held
from scheduling.algebra.verdicts import Kind, Listening, Verdict
from scheduling.listening import BrokenDefinition, DagListening
from scheduling.runlog import storable
from scheduling.tally import Place

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is asked once for many held runs: which are late, every key that has data, assets without keys,
    and what assets are to have.
    """

    late: Collection[int]
    known: Mapping[int, tuple[str, ...]]
    present: Set[int]
    closed: Mapping[int, Closed]


@dataclass(frozen=True, slots=True)
class Case:
    """One held run as `verdicts.judge` takes it, and the Dag that it is of."""

    dag: Dag
    listening: Listening
    held: Held


def assess(rows: Sequence[HeldRun], *, now: datetime) -> dict[int, Verdict]:
    """The verdict on each of `rows` as things stand. Reads only, in a fixed number of queries."""
    return _verdicts(cases(rows), now)


def judge_all(
    rows: Sequence[HeldRun],
    heard: Mapping[int, DagListening | BrokenDefinition],
    received: Mapping[int, Mapping[Place, bool]],
    *,
    now: datetime,
) -> dict[int, Verdict]:
    """The verdict on each of `rows`, saved or not, if their Dags listened as `heard` says."""
    return _verdicts(_cases(rows, heard, received), now)


def cases(rows: Sequence[HeldRun]) -> dict[int, Case | BrokenDefinition]:
    """What there is to judge about each of `rows`, by primary key."""
    received = tally.received_of(row.pk for row in rows)
    return _cases(rows, listening.of_dags({row.dag_id: row.dag for row in rows}.values()), received)


def as_if_opened(dag: Dag, key: str, *, now: datetime) -> Case:
    """What there would be to judge if the first held run of `key` were opened now. Reads only.

    :raises BrokenDefinition: if the definition of the Dag cannot be read.
    """
    heard = listening.of_dag(dag)
    row = HeldRun(dag=dag, partition_key=key, opened_at=now, last_event_at=now)
    there = filling.there_for(dag, heard, key)
    held = Held(
        key=key,
        opened_at=now,
        last_event_at=now,
        paused=dag.is_paused,
        received={
            heard.leaf_of[asset_id]: dict.fromkeys(keys, True) for asset_id, keys in there.items() if keys
        },
        known={heard.leaf_of[pk]: keys for pk, keys in _known([row], {dag.pk: heard}).items()},
        present=_present_of(heard, {asset_id for asset_id, keys in there.items() if keys}),
        closed={heard.leaf_of[pk]: each for pk, each in reach.closed_of(heard.leaf_of.keys()).items()},
    )
    return Case(dag, heard.listening, held)


def judge(case: Case, *, now: datetime) -> Verdict:
    """The verdict on one case."""
    try:
        verdict = verdicts.judge(case.listening, case.held, now)
    except Exception as error:  # a plug-in's mapper or policy may raise anything; it holds this run only
        log.exception("judging %s of %s failed", case.held.key, case.dag)
        sentence = f"the definition of {case.dag} failed: {type(error).__name__}: {error}"
        return Verdict(Kind.BROKEN, storable(sentence))
    if not case.dag.is_active:
        sentence = "no file defines the Dag any more; it goes on when one does"
        return replace(verdict, kind=Kind.PAUSED, sentence=sentence, until=None, gives_up=False)
    return verdict


def _verdicts(found: Mapping[int, Case | BrokenDefinition], now: datetime) -> dict[int, Verdict]:
    return {
        pk: judge(case, now=now) if isinstance(case, Case) else Verdict(Kind.BROKEN, str(case))
        for pk, case in found.items()
    }


def _cases(
    rows: Sequence[HeldRun],
    heard: Mapping[int, DagListening | BrokenDefinition],
    received: Mapping[int, Mapping[Place, bool]],
) -> dict[int, Case | BrokenDefinition]:
    assets = {
        pk for row in rows if isinstance(each := heard[row.dag_id], DagListening) for pk in each.leaf_of
    }
    facts = Facts(
        rounds.fired_before(rows),
        _known(rows, heard),
        _present(rows, heard, received),
        reach.closed_of(assets),
    )
    return {row.pk: _case(row, heard[row.dag_id], received[row.pk], facts) for row in rows}


def _known(
    rows: Sequence[HeldRun], heard: Mapping[int, DagListening | BrokenDefinition]
) -> dict[int, tuple[str, ...]]:
    """Every key that has data, of the assets whose mappers need to know (`needs_known`)."""
    answers = {row.dag_id: heard[row.dag_id] for row in rows}.values()
    asset_ids = {
        asset_id
        for answer in answers
        if isinstance(answer, DagListening)
        for asset_id in answer.leaf_of
        if answer.mapper(asset_id).needs_known
    }
    known: dict[int, list[str]] = {asset_id: [] for asset_id in asset_ids}
    oldest_first = (F("partition_date").asc(nulls_first=True), "pk")
    parts = Partition.objects.filter(asset_id__in=asset_ids, data_at__isnull=False).order_by(*oldest_first)
    for asset_id, key in parts.values_list("asset_id", "key") if asset_ids else ():
        known[asset_id].append(key)
    return {asset_id: tuple(keys) for asset_id, keys in known.items()}


def _present(
    rows: Sequence[HeldRun],
    heard: Mapping[int, DagListening | BrokenDefinition],
    received: Mapping[int, Mapping[Place, bool]],
) -> Set[int]:
    """Assets without partitions that have data. Only those are looked at of which a held run has no key."""
    asset_ids: set[int] = set()
    for row in rows:
        answer = heard[row.dag_id]
        if isinstance(answer, DagListening) and not answer.takes_keyless:
            asset_ids |= answer.leaf_of.keys() - {asset_id for asset_id, _ in received[row.pk]}
    return presence.latest_events(asset_ids).keys() if asset_ids else frozenset()


def _present_of(heard: DagListening, received: Set[int]) -> Collection[Leaf]:
    """The leaves of assets without partitions that have data and of which nothing was received."""
    if heard.takes_keyless or not (lacking := heard.leaf_of.keys() - received):
        return ()
    return {heard.leaf_of[pk] for pk in presence.latest_events(lacking)}


def _case(
    row: HeldRun, answer: DagListening | BrokenDefinition, received: Mapping[Place, bool], facts: Facts
) -> Case | BrokenDefinition:
    if isinstance(answer, BrokenDefinition):
        return answer
    leaf_of = answer.leaf_of
    counted: dict[Leaf, dict[str, bool]] = {}
    for (asset_id, key), is_fresh in sorted(received.items()):
        if asset_id in leaf_of:
            counted.setdefault(leaf_of[asset_id], {})[key] = is_fresh
    held = Held(
        key=row.partition_key,
        opened_at=row.opened_at,
        last_event_at=row.last_event_at,
        is_late=row.pk in facts.late,
        paused=row.dag.is_paused,
        received=counted,
        known={leaf_of[pk]: keys for pk, keys in facts.known.items() if pk in leaf_of},
        present=() if answer.takes_keyless else {leaf_of[pk] for pk in facts.present if pk in leaf_of},
        closed={leaf_of[pk]: each for pk, each in facts.closed.items() if pk in leaf_of},
    )
    return Case(row.dag, answer.listening, held)
