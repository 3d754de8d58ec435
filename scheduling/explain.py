"""Why has this partition not run? For any Dag and key: the fewest facts that are missing, and who owes them.

1. What is there of the key already answers first: a run, an open held run, a refusal of the key.
2. Else the Dag is asked: one that waits for assets is judged as if its held run were opened now, one with a
   cadence is asked for its tick.
3. What would happen if the missing facts came is judged too. Every verdict is one of `algebra/verdicts`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import partial

from core.models import BackfillPartition, Dag, DagRun, HeldRun, MappingProblem
from scheduling import coming, listening, overdue, queueing, recorded, runs, whatif, without
from scheduling.algebra import phrases
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.lacking import Lack, lacks_of
from scheduling.algebra.timetables import AssetTimetable, PartitionedAssetTimetable
from scheduling.algebra.verdicts import Kind, Verdict
from scheduling.assessing import Case, as_if_opened, cases, judge
from scheduling.expected import Expectations, Owed, none_maps, with_attempts
from scheduling.listening import UNKEYED, BrokenDefinition
from scheduling.queueing import Hindrance


class KeyNeeded(PartitionError):
    """No key was given of a Dag whose every run has one."""


class Standing(StrEnum):
    """How a partition stands with its Dag."""

    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    RUNNING = "running"
    QUEUED = "queued"
    HELD = "held"
    AWAITED = "awaited"
    SCHEDULED = "scheduled"
    PASSED_OVER = "passed over"
    BY_HAND = "by hand"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Explanation:
    """`facts` are the fewest that let it run; `outcome` says what happens when they are there.

    A fact without a key is any event of its asset. `comes_at`: when its next tick is.
    """

    dag: Dag
    key: str
    standing: Standing
    sentence: str
    verdict: Verdict | None = None
    facts: Sequence[Owed] = ()
    outcome: str = ""
    fires: bool = False
    comes_at: datetime | None = None
    hindrances: Sequence[Hindrance] = ()
    held: HeldRun | None = None
    rounds: Sequence[HeldRun] = ()
    runs: Sequence[DagRun] = ()
    problems: Sequence[MappingProblem] = ()
    backfills: Sequence[BackfillPartition] = field(default=())

    @property
    def unexpected(self) -> list[tuple[str, tuple[str, ...]]]:
        """Keys that have come, map to this one and are not required, by the name of their asset."""
        progress = self.verdict.progress if self.verdict else ()
        return [(each.leaf.words(), each.unexpected) for each in progress if each.unexpected]


def explain(dag: Dag, key: str | None, *, now: datetime) -> Explanation:
    """Why `dag` has not run for `key` (none for a Dag whose runs have no key), or that it has.

    Reads only; the number of queries does not grow with what is held or was run.

    :raises KeyNeeded: without a key, if every run of the Dag has one.
    """
    name = key or UNKEYED
    _check_named(dag, name)
    made = recorded.runs_of(dag, name)
    past = recorded.rounds_of(dag, name)
    answer = _answer(dag, name, made, past, now)
    keys = [each.key for each in answer.facts if each.key]
    return replace(
        answer,
        rounds=past,
        runs=made,
        problems=recorded.problems_of(dag, keys),
        backfills=recorded.backfills_of(dag, name),
    )


def _check_named(dag: Dag, key: str) -> None:
    try:
        timetable = listening.timetable_of(dag)
    except PartitionError:
        return
    if not key and timetable and timetable.partitioned:
        raise KeyNeeded(f"say which partition: every run of {dag} has a partition key")


def _answer(
    dag: Dag, key: str, made: Sequence[DagRun], past: Sequence[HeldRun], now: datetime
) -> Explanation:
    latest = made[0] if made else None
    held = next((row for row in past if row.state == HeldRun.State.HELD), None)
    if latest and latest.state == DagRun.State.RUNNING:
        return Explanation(dag, key, Standing.RUNNING, "It is running now.", held=held)
    if latest and latest.state == DagRun.State.QUEUED:
        why = queueing.of_run(latest, now=now)
        return Explanation(dag, key, Standing.QUEUED, why[0].sentence, hindrances=why, held=held)
    if held:
        return _of_held(held, now)
    if latest:
        return _of_ended(dag, key, latest)
    return _of_nothing(dag, key, now)


def _of_held(row: HeldRun, now: datetime) -> Explanation:
    case = cases([row])[row.pk]
    if isinstance(case, BrokenDefinition):
        return Explanation(row.dag, row.partition_key, Standing.NEVER, str(case), held=row)
    verdict = judge(case, now=now)
    answer = Explanation(
        row.dag,
        row.partition_key,
        Standing.HELD,
        phrases.ended(f"It is held, {verdict.sentence}"),
        verdict,
        held=row,
    )
    return _with_facts(answer, case, verdict, now)


def _of_ended(dag: Dag, key: str, run: DagRun) -> Explanation:
    ended = f"{run.ended_at:%Y-%m-%d %H:%M:%S} UTC" if run.ended_at else "before"
    if run.state == DagRun.State.SUCCESS:
        sentence = f"It has run: its last run ended well at {ended}{without.in_words(run)}."
        return Explanation(dag, key, Standing.DONE, sentence)
    if run.state == DagRun.State.FAILED:
        error = run.error.strip().rpartition("\n")[2]
        sentence = f"It ran and failed at {ended}{f': {error}' if error else ''}"
        return Explanation(
            dag, key, Standing.FAILED, phrases.ended(sentence), outcome="Run it again to try once more."
        )
    sentence = f"Its last run was {run.state} at {ended}."
    return Explanation(dag, key, Standing.CANCELLED, sentence, outcome="Run it again, or trigger it by hand.")


def _of_nothing(dag: Dag, key: str, now: datetime) -> Explanation:
    """Nothing of the key is there: neither a run nor a held run."""
    try:
        timetable = listening.timetable_of(dag)
        if dag.is_active:
            runs.date_of(dag, key or None)
    except PartitionError as refusal:
        return Explanation(dag, key, Standing.NEVER, phrases.ended(f"It can never run: {refusal}"))
    if not isinstance(timetable, (PartitionedAssetTimetable, AssetTimetable)):
        found = coming.of_key(dag, timetable, key, now=now)
        limits = queueing.of_dag(dag)
        return Explanation(
            dag, key, Standing(found.how), found.sentence, comes_at=found.at, hindrances=limits
        )
    try:
        case = as_if_opened(dag, key, now=now)
    except BrokenDefinition as broken:
        return Explanation(dag, key, Standing.NEVER, phrases.ended(f"It can never run: {broken}"))
    verdict = judge(case, now=now)
    if _is_there(case, verdict):
        sentence = (
            "Nothing has come for it since it listens; what it needs is there, so the next event starts it."
        )
    else:
        sentence = phrases.ended(f"Nothing holds a run of it yet: {verdict.sentence}")
    return _with_facts(Explanation(dag, key, Standing.AWAITED, sentence, verdict), case, verdict, now)


def _with_facts(answer: Explanation, case: Case, verdict: Verdict, now: datetime) -> Explanation:
    """`answer` with the fewest facts that let it fire, and what would happen if they came."""
    hindrances = queueing.of_dag(case.dag)
    answer = replace(answer, hindrances=hindrances)
    if answer.held:
        lacks = overdue.lacks_in(answer.held, listening.of_dag(case.dag), verdict)
    else:
        lacks = lacks_of(case.listening, case.held.key, verdict)
    way = whatif.way(case, lacks, is_open=answer.held is not None)
    if way.wanted is None:
        sentence = phrases.ended(f"It can never fire: {'; '.join(way.problems)}")
        return replace(answer, standing=Standing.NEVER, sentence=sentence)
    facts = _owed(case, way.wanted)
    never = next((fact for fact in facts if fact.expected.is_never), None)
    if never and not (verdict.kind is Kind.WAITING and verdict.until):
        return _without(answer, facts, never)
    then = judge(replace(case, held=whatif.with_keys(case, way.wanted, now)), now=now)
    return replace(
        answer,
        sentence=answer.sentence + _silence(way.silent),
        facts=facts,
        outcome=whatif.outcome(then, hindrances, bool(way.wanted)),
        fires=then.kind is Kind.READY,
    )


def _without(answer: Explanation, facts: Sequence[Owed], never: Owed) -> Explanation:
    """`answer` where the definition of an asset does not have a key that is needed: nobody makes that one."""
    name = str(never.asset)
    why = f"{name} is to have no such key as {never.key}" if never.key else none_maps(name)
    outcome = (
        f"By itself it never fires: {why}. Reported by hand, {'it' if never.key else 'one'} would count."
    )
    if answer.held:
        return replace(answer, facts=facts, outcome=outcome)
    sentence = phrases.ended(f"It can never run by itself: {why}")
    return replace(answer, standing=Standing.NEVER, sentence=sentence, facts=facts, outcome="")


def _silence(reasons: Sequence[str]) -> str:
    """That keys which it needs open no held run: what else must."""
    others = len(reasons) - 1
    nor = f" (nor {'does another' if others == 1 else f'do {others} others'})" if others > 0 else ""
    return f" By itself this opens nothing: {reasons[0]}{nor}; another asset must." if reasons else ""


def _owed(case: Case, wanted: Sequence[Lack]) -> list[Owed]:
    assets = overdue.assets_of([case.dag.pk])[case.dag.pk]
    expectations = Expectations(assets.values())
    named = [replace(lack, keys=lack.keys[: lack.count] or ("",)) for lack in wanted]
    tell = partial(overdue.owed_of, assets=assets, expectations=expectations, since=case.held.opened_at)
    return with_attempts([each for lack in named for each in tell(lack)])


def _is_there(case: Case, verdict: Verdict) -> bool:
    """Whether it only lacks an event by which somebody looks at it."""
    there = {each.leaf for each in verdict.progress if each.satisfied}
    return case.listening.condition.holds(lambda leaf: leaf in there)
