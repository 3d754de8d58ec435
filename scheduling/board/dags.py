"""Dags for lists and pages: their schedule in words, how their last runs went, what they hold."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from django.db.models import Count, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce

from core.models import Asset, Dag, DagRun, HeldRun
from scheduling import listening, overdue
from scheduling.algebra.durations import duration_words
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.timetables import CronTriggerTimetable, PartitionedAssetTimetable, Tick
from scheduling.algebra.verdicts import Late
from scheduling.assessing import assess
from scheduling.board import reading
from scheduling.board.cells import Cells, Look

LAST_RUNS = 14
LATE = {
    Late.IMMEDIATE: "start it again at once",
    Late.HOLD: "wait until a person fires them",
    Late.MARK_STALE: "start nothing: the partition shows as stale",
    Late.RESTART: "start it again when all have come anew",
}
SUGGESTIONS = 8


@dataclass(frozen=True, slots=True)
class DagLine:
    """One Dag in a list. `runs` are its last ones, oldest first; `late` is what late keys do."""

    dag: Dag
    schedule: str
    late: str = ""
    runs: list[DagRun] = field(default_factory=list)
    held_count: int = 0
    active_count: int = 0
    error_count: int = 0

    @property
    def is_failing(self) -> bool:
        """Whether the last of its runs that has ended has failed."""
        ended = [run.state for run in self.runs if run.state in DagRun.FINISHED]
        return bool(ended) and ended[-1] == DagRun.State.FAILED


def lines(dags: Sequence[Dag]) -> list[DagLine]:
    """The line of each Dag. Four queries, and one for Dags that this process has not seen."""
    latest = _last_runs(dags)
    held = dict(
        HeldRun.objects.held().filter(dag__in=dags).order_by().values_list("dag").annotate(count=Count("*"))
    )
    moving = Q(state__in=[DagRun.State.QUEUED, DagRun.State.RUNNING])
    active = dict(
        DagRun.objects.filter(moving, dag__in=dags).order_by().values_list("dag").annotate(count=Count("*"))
    )
    heard = listening.of_dags(dag for dag in dags if dag.is_partitioned and not dag.is_periodic)
    return [
        DagLine(
            dag,
            schedule_words(dag, heard.get(dag.pk)),
            late_words(heard.get(dag.pk)),
            latest.get(dag.pk, []),
            held.get(dag.pk, 0),
            active.get(dag.pk, 0),
            sum(problem.get("level") == "error" for problem in dag.problems),
        )
        for dag in dags
    ]


def schedule_words(
    dag: Dag, heard: "listening.DagListening | listening.BrokenDefinition | None" = None
) -> str:
    """When the Dag runs, to stand after "runs"."""
    try:
        timetable = listening.timetable_of(dag)
    except PartitionError as error:
        return f"never: {error}"
    if timetable is None:
        return "only when somebody triggers it"
    if isinstance(timetable, PartitionedAssetTimetable) and isinstance(heard, listening.DagListening):
        return timetable.words(heard.listening.mappers)
    return timetable.words()


def late_words(heard: "listening.DagListening | listening.BrokenDefinition | None") -> str:
    """What a key does that comes after its partition has run, to stand after "they"; empty where none can."""
    if not isinstance(heard, listening.DagListening) or not heard.takes_keys or heard.takes_keyless:
        return ""
    told = heard.listening
    if told.late is Late.SETTLE and not told.starts_with_one_key():
        quiet = duration_words(told.settle)
        return f"start it again when all have come anew, or after {quiet} in which none comes"
    return LATE.get(told.late, LATE[Late.IMMEDIATE])


def next_ticks(dag: Dag, *, now: datetime, count: int = 5) -> list[Tick]:
    """The ticks to come; none for a Dag without a cadence."""
    try:
        timetable = listening.timetable_of(dag)
    except PartitionError:
        return []
    if not isinstance(timetable, CronTriggerTimetable):
        return []
    ticks: list[Tick] = []
    while len(ticks) < count:
        tick = timetable.next_tick(ticks[-1].at if ticks else now)
        if tick is None or (dag.end_date and tick.at > dag.end_date):
            break
        ticks.append(tick)
    return ticks


def suggestions(dag: Dag, *, now: datetime) -> dict[str, list[str]]:
    """Keys that a person who triggers `dag` may mean: held, waited for, failed, missing, and the latest."""
    held = HeldRun.objects.held().filter(dag=dag).exclude(partition_key="").order_by("-pk")
    runs = DagRun.objects.filter(dag=dag, partition_key__isnull=False).order_by("-pk")
    recent = runs.values_list("partition_key", flat=True)[: 4 * SUGGESTIONS]
    first = list(held.values_list("partition_key", flat=True)[:SUGGESTIONS])
    found = {
        "held": first,
        **{name: [key for key in keys if key not in first] for name, keys in _lacking(dag, now).items()},
        "recent": list(dict.fromkeys(key for key in recent if key)),
    }
    return {name: keys[:SUGGESTIONS] for name, keys in found.items() if keys}


def _last_runs(dags: Sequence[Dag]) -> dict[int, list[DagRun]]:
    """The last runs of each Dag, oldest first. Two queries that read no other runs.

    The first says with which run they begin; numbering the runs of each Dag would read all of them.
    """
    own = DagRun.objects.filter(dag=OuterRef("pk")).order_by("-pk").values("pk")
    first = Coalesce(Subquery(own[LAST_RUNS - 1 : LAST_RUNS]), Value(0))
    wanted = Q(pk__in=[])
    for pk, begin in Dag.objects.filter(pk__in=[dag.pk for dag in dags]).values_list("pk", first):
        wanted |= Q(dag=pk, pk__gte=begin)
    latest: dict[int, list[DagRun]] = {}
    for run in DagRun.objects.filter(wanted).order_by("pk"):
        latest.setdefault(run.dag_id, []).append(run)
    return latest


def _lacking(dag: Dag, now: datetime) -> dict[str, list[str]]:
    """Of the first asset that `dag` writes: keys that are waited for, and the newest failed and missing."""
    outlet = dag.outlets.select_related("asset").order_by("pk").first()
    if outlet is None:
        return {}
    cells = reading.read([outlet.asset], now=now, patient=False)[outlet.asset.pk].cells
    return {
        "waited for": _awaited(outlet.asset, now),
        Look.FAILED.word: _newest(cells, Look.FAILED),
        Look.MISSING.word: _next_missing(cells),
    }


def _awaited(asset: Asset, now: datetime) -> list[str]:
    """The keys of `asset` that the latest held runs lack."""
    held = HeldRun.objects.held().filter(dag__dependencies__asset=asset).distinct().order_by("-pk")
    rows = list(held.select_related("dag")[:SUGGESTIONS])
    owed = overdue.owed(rows, assess(rows, now=now), most=SUGGESTIONS) if rows else {}
    return list(dict.fromkeys(each.key for row in rows for each in owed[row.pk] if each.asset == asset))


def _next_missing(cells: Cells) -> list[str]:
    """What is missing around the newest data: the holes before it, newest first, and the first after it."""
    newer = cells.newer(cells.newest_at)
    before, after = range(newer.start) if newer else cells.positions(), newer
    find = partial(cells.some_of, Look.MISSING, first=0)
    ahead = find(after, size=SUGGESTIONS // 2, backwards=False)
    found = find(before, size=SUGGESTIONS - len(ahead), backwards=True)
    return [place.key for place in cells.places.places_at([*ahead, *found])]


def _newest(cells: Cells, look: Look) -> list[str]:
    found = cells.some_of(look, cells.positions(), first=0, size=SUGGESTIONS, backwards=True)
    return [place.key for place in cells.places.places_at(found)]
