"""Replays the year of temperatures through the engine: a run ingests each day of each city.

A replay only queues those runs, as a person would who triggers the Dag. What follows from them, the engine
does; `turn` does the same where no engine is running, and does no harm beside one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from django.db import transaction
from django.db.models import F

from core.models import AssetEvent, Dag, DagRun
from scheduling import claims, execution, holds, journal, newruns, runs, turns
from scheduling.algebra.errors import PartitionError
from scheduling.examples._readings import FILES
from scheduling.journal import Deed
from scheduling.newruns import NewRun

INGEST = "ingest_temperatures"
DAGS = (INGEST, "daily_temperature", "monthly_temperature", "all_cities_temperature")
CITIES = tuple(FILES)
YEAR = 2010
FIRST_DAY, FIRST_DAYS = date(YEAR, 3, 8), 8
"""What is replayed at the first start: the week in which a day lacks an hour, and the day after."""

FEW = 2
OPEN = (DagRun.State.QUEUED, DagRun.State.RUNNING)
Clock = Callable[[], datetime]


class NoDemo(PartitionError):
    """The definitions of the example are not loaded."""


@dataclass(frozen=True, slots=True)
class Part:
    """One day of one city."""

    city: str
    day: date


def parts(days: Iterable[date], cities: Sequence[str] = CITIES) -> list[Part]:
    """Every city of every day, in the order in which they would have come in."""
    return [Part(city, day) for day in days for city in cities]


def days_from(first: date, count: int) -> list[date]:
    """So many dates from `first` on."""
    return [date.fromordinal(first.toordinal() + number) for number in range(count)]


@transaction.atomic
def replay(wanted: Sequence[Part], *, deed: Deed, at: datetime) -> list[int]:
    """Queue a run for each part; the primary keys of the runs.

    :raises NoDemo: if the Dag that ingests is not defined.
    """
    dag = Dag.objects.active().filter(dag_id=INGEST).first()
    if dag is None:
        raise NoDemo(f"no active Dag is called {INGEST}: load the definitions scheduling.examples first")
    new = [
        NewRun(
            dag=dag,
            run_type=runs.Type.MANUAL,
            conf={"city": part.city, "day": part.day.isoformat()},
            note=f"{part.city}, {part.day}",
            triggered_by=deed.via,
            created_by=deed.by,
        )
        for part in wanted
    ]
    journal.note("demo replayed", deed=deed, at=at, about=dag, parts=len(new))
    return [run.pk for run in newruns.create(new, at=at)]


def begin(*, at: datetime) -> int:
    """Replay the first days if nothing has ever been ingested; how many runs that queues.

    Called when an installation starts, so that its pages have something to show.
    """
    dag = Dag.objects.active().filter(dag_id=INGEST).first()
    if dag is None or dag.runs.exists():
        return 0
    return len(replay(parts(days_from(FIRST_DAY, FIRST_DAYS)), deed=Deed(by="demo"), at=at))


def turn(*, worker: str, clock: Clock) -> bool:
    """Let the engine do what it can in one round: start runs, map events, judge. Whether it found any."""
    busy = False
    for pk in turns.dispatch(now=clock()):
        run = claims.claim(pk, worker=worker, now=clock())
        if run is not None:
            execution.execute(run, clock=clock)
            busy = True
    while holds.route_pending(now=clock()):
        busy = True
    while holds.judge_due(now=clock()):
        busy = True
    return busy


def unfinished(pks: Sequence[int]) -> int:
    """How many of these runs have not ended."""
    return sum(
        DagRun.objects.filter(pk__in=pks[start : start + 500], state__in=OPEN).count()
        for start in range(0, len(pks), 500)
    )


def is_settled() -> bool:
    """Whether everything that follows from what was ingested has been done."""
    return not (
        AssetEvent.objects.unrouted().exists()
        or DagRun.objects.filter(dag__dag_id__in=DAGS, state__in=OPEN).exists()
    )


def outcome() -> Iterator[str]:
    """What there is now: a sentence for each Dag, and one for each held run that lacks but a few keys."""
    for dag in Dag.objects.filter(dag_id__in=DAGS):
        ended = dag.runs.filter(state=DagRun.State.SUCCESS).count()
        held = dag.held_runs.held()
        yield f"{dag.dag_id}: {ended} runs succeeded, {held.count()} held"
        for row in held.filter(received_count__gte=F("required_count") - FEW).order_by(
            "partition_date", "partition_key"
        ):
            yield f"  {row.partition_key}: {row.sentence}"
