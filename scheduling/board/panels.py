"""Everything known of one partition: its state, how it came to be, what waits for it, what depends on it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, Q

from core.models import Asset, AssetEvent, Dag, DagRun, HeldRun, LogLine, Outlet, Partition
from scheduling import holds, listening, rounds
from scheduling.algebra.mappers import Mapper
from scheduling.algebra.phrases import key_list
from scheduling.algebra.progress import Progress, why_not_counted
from scheduling.algebra.verdicts import Verdict
from scheduling.belonging import EVERYTHING, Sight
from scheduling.board.attempts import LoggedAttempt, by_attempt
from scheduling.board.cells import Look
from scheduling.board.reading import outside
from scheduling.listening import UNKEYED, DagListening

EVENTS = 20
LOG_LINES = 8
CONSUMED = 2000


@dataclass(frozen=True, slots=True)
class Held:
    """An open held run and the verdict on it as things stand."""

    row: HeldRun
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Dependent:
    """A downstream key that a Dag makes of this partition, and what has become of it.

    `is_stale`: what the Dag wrote for it was made of older keys than there are. `problem`: why it is not made
    of this partition.
    """

    dag: Dag
    key: str
    held: Held | None = None
    run: DagRun | None = None
    problem: str = ""
    is_stale: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """The keys of one asset that a run was made from, in words.

    `unexpected`: keys that map to its key and that its schedule does not require, so they made nothing of it.
    """

    asset: str
    words: str
    unexpected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    asset: Asset
    key: str
    partition: Partition | None
    events: list[AssetEvent]
    run: DagRun | None
    log: list[LoggedAttempt]
    made_from: list[Source]
    producers: list[Dag]
    held: list[Held]
    dependents: list[Dependent]
    outside: str = ""

    @property
    def takes_key(self) -> bool:
        """Whether a Dag that writes the asset has runs for a key."""
        return any(dag.is_partitioned for dag in self.producers)

    @property
    def look(self) -> Look:
        state = self.partition.state if self.partition else "missing"
        if state == "missing":
            return Look.HELD if self.held else Look.MISSING
        if state == "materialized" and self.partition and self.partition.is_stale:
            return Look.STALE
        return Look[state.upper()]


def facts(asset: Asset, key: str, *, now: datetime, sight: Sight = EVERYTHING) -> Facts:
    """All about one key of one asset, with the Dags that are shown.

    The number of queries does not depend on how much there is.
    """
    partition = (
        Partition.objects.filter(asset=asset, key=key)
        .select_related("attempt_run__dag", "last_event__source_run__dag")
        .first()
    )
    events = AssetEvent.objects.filter(asset=asset, partition_key=key).select_related("source_run__dag")
    run = _run(partition)
    dags = Dag.objects.active().filter(sight.dags())
    producers = list(dags.filter(outlets__asset=asset).distinct())
    consumers = list(dags.filter(dependencies__asset=asset).distinct())
    wanted = _wanted(asset, key, consumers)
    pairs = {(dag.pk, key) for dag in producers} | {(each.dag.pk, each.key) for each in wanted}
    held = _held(pairs, now)
    return Facts(
        asset=asset,
        key=key,
        partition=partition,
        events=list(events.order_by("-id")[:EVENTS]),
        run=run,
        log=by_attempt(run, _last_lines(run)) if run else [],
        made_from=made_from(run),
        producers=producers,
        held=[held[dag.pk, key] for dag in producers if (dag.pk, key) in held],
        dependents=_with_outcomes(wanted, held),
        outside=outside(asset, key, now),
    )


def made_from(run: DagRun | None) -> list[Source]:
    """What a run consumed. Which of the keys are unexpected is asked of today's schedule."""
    if run is None:
        return []
    rows = AssetEvent.objects.consumed_by(run.pk).order_by("asset__name", "partition_key")
    by_asset: dict[tuple[str, int], dict[str, None]] = {}
    for name, pk, key in rows.values_list("asset__name", "asset", "partition_key")[:CONSUMED]:
        by_asset.setdefault((name, pk), {})[key or "no key"] = None
    known = _progress(run) if by_asset else {}
    return [_source(name, list(keys), known.get(pk, [])) for (name, pk), keys in by_asset.items()]


def _source(name: str, keys: Sequence[str], known: Sequence[Progress]) -> Source:
    unexpected = frozenset(key for each in known for key in each.unexpected)
    counted = [key for key in keys if key not in unexpected]
    required = next((each.required for each in known if each.required), ())
    words = _words(counted, required if frozenset(required).issuperset(counted) else counted)
    return Source(name, words, tuple(key for key in keys if key in unexpected))


def _progress(run: DagRun) -> dict[int, list[Progress]]:
    """How far the held runs of `run` were, by asset."""
    rows = list(HeldRun.objects.filter(run=run).select_related("dag"))
    heard = listening.of_dags({row.dag for row in rows})
    found: dict[int, list[Progress]] = {}
    for row, verdict in zip(rows, holds.assess(rows, now=run.queued_at).values(), strict=True):
        answer = heard[row.dag_id]
        if isinstance(answer, DagListening):
            for asset_id, leaf in answer.leaf_of.items():
                found.setdefault(asset_id, []).extend(each for each in verdict.progress if each.leaf == leaf)
    return found


def _words(keys: Sequence[str], among: Sequence[str]) -> str:
    """Nothing, the key, or how many and which: a range has every key of `among` that lies in it."""
    if len(keys) < 2:
        return "".join(keys)
    return f"{len(keys)} keys: {key_list(keys, among, '').strip()}"


def _run(partition: Partition | None) -> DagRun | None:
    """The latest attempt at the partition, or the run that made its data."""
    if partition is None:
        return None
    return partition.attempt_run or (partition.last_event.source_run if partition.last_event else None)


def _last_lines(run: DagRun) -> list[LogLine]:
    return list(LogLine.objects.filter(run=run).order_by("-id")[:LOG_LINES])[::-1]


def _wanted(asset: Asset, key: str, consumers: Sequence[Dag]) -> list[Dependent]:
    heard = listening.of_dags(consumers)
    wanted = []
    for dag in consumers:
        answer = heard[dag.pk]
        if not isinstance(answer, DagListening):
            wanted.append(Dependent(dag, "", problem=str(answer)))
        elif not answer.takes_keys:
            wanted.append(Dependent(dag, "", problem="counts only events without a partition key"))
        elif asset.pk in answer.leaf_of:
            wanted.extend(_mapped(dag, answer, asset, key))
    return wanted


def _mapped(dag: Dag, answer: DagListening, asset: Asset, key: str) -> Iterable[Dependent]:
    mapper = answer.mapper(asset.pk)
    try:
        keys = list(dict.fromkeys(mapper.to_downstream(key)))[:50]
        return [Dependent(dag, each, problem=_not_counted(mapper, key, each)) for each in keys]
    except Exception as error:  # a plug-in's mapper may raise anything; the panel shows the rest
        return [Dependent(dag, "", problem=str(error) or type(error).__name__)]


def _not_counted(mapper: Mapper, key: str, downstream: str) -> str:
    why = why_not_counted(mapper, key, mapper.required(downstream))
    return f"does not count this key: {why}" if why else ""


def _held(pairs: set[tuple[int, str]], now: datetime) -> dict[tuple[int, str], Held]:
    rows = list(HeldRun.objects.held().filter(rounds.any_of(pairs)).select_related("dag").order_by("pk"))
    verdicts = holds.assess(rows, now=now)
    return {(row.dag_id, row.partition_key): Held(row, verdicts[row.pk]) for row in rows}


def _with_outcomes(wanted: Sequence[Dependent], held: dict[tuple[int, str], Held]) -> list[Dependent]:
    runs = DagRun.objects.filter(
        rounds.any_of({(each.dag.pk, each.key) for each in wanted if each.key})
    ).order_by()
    last = runs.values("dag", "partition_key").annotate(last=Max("pk")).values("last")
    rows = DagRun.objects.filter(pk__in=last).select_related("dag")
    latest = {(run.dag_id, run.partition_key): run for run in rows}
    stale = _stale(wanted)
    return [
        Dependent(
            each.dag,
            each.key,
            held.get(name),
            latest.get(name),
            each.problem,
            not each.problem and name in stale,
        )
        for each in wanted
        if (name := (each.dag.pk, each.key or UNKEYED))
    ]


def _stale(wanted: Sequence[Dependent]) -> set[tuple[int, str]]:
    """The Dags and keys of `wanted` of which something that the Dag writes is stale. Two queries."""
    written: dict[int, set[int]] = {}
    outlets = Outlet.objects.filter(dag__in={each.dag.pk for each in wanted if each.key})
    for dag_id, asset_id in outlets.values_list("dag_id", "asset_id") if wanted else ():
        written.setdefault(dag_id, set()).add(asset_id)
    by_key: dict[str, set[int]] = {}
    for each in wanted:
        by_key.setdefault(each.key, set()).update(written.get(each.dag.pk, ()))
    among = Q(pk__in=[])
    for key, assets in by_key.items():
        among |= Q(asset__in=assets, key=key)
    rows = Partition.objects.filter(among, is_stale=True).values_list("asset", "key")
    stale = set(rows) if written else set()
    return {
        (each.dag.pk, each.key)
        for each in wanted
        if any((asset_id, each.key) in stale for asset_id in written.get(each.dag.pk, ()))
    }
