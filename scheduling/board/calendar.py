"""How many runs of a Dag each day or hour has seen, and how many its timetable is going to make."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import islice
from zoneinfo import ZoneInfo

from django.db.models import Count, Q
from django.db.models.functions import Coalesce, TruncDay, TruncHour

from core.models import Dag, DagRun
from scheduling import listening
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.timetables import CronTriggerTimetable

PLANNED = "planned"
MOST_PLANNED = 2000
"""Ticks to come that are counted, however long the rest of the year is."""


@dataclass(frozen=True, slots=True)
class Span:
    """From `first` on and before `end`, where they are given."""

    first: datetime | None = None
    end: datetime | None = None

    def __contains__(self, at: datetime) -> bool:
        return (self.first is None or self.first <= at) and (self.end is None or at < self.end)


@dataclass(frozen=True, slots=True)
class Square:
    """So many runs of one state, or planned ones, in the day or hour that begins at `at`."""

    at: datetime
    state: str
    count: int


def squares(dag: Dag, span: Span, *, hourly: bool, now: datetime) -> list[Square]:
    """Runs per day or hour and state, and after them those that are planned until the end of the year.

    A run belongs to the date of its partition; without one, to when it was to start. Days are those of the
    timetable's zone. One query, whose cost grows with the runs of the Dag.
    """
    zone = zone_of(dag)
    return [*_past(dag, span, hourly, zone), *_to_come(dag, span, hourly, now.astimezone(zone))]


def zone_of(dag: Dag) -> ZoneInfo:
    """The zone in which the timetable of `dag` counts days; UTC where it has none."""
    try:
        return ZoneInfo(str(getattr(listening.timetable_of(dag), "timezone", "UTC")))
    except PartitionError:
        return ZoneInfo("UTC")


def _past(dag: Dag, span: Span, hourly: bool, zone: tzinfo) -> Iterator[Square]:
    within = Q()
    if span.first:
        within &= Q(when__gte=span.first)
    if span.end:
        within &= Q(when__lt=span.end)
    begin = (TruncHour if hourly else TruncDay)("when", tzinfo=zone)
    rows = (
        DagRun.objects.filter(dag=dag)
        .annotate(when=Coalesce("partition_date", "run_after"))
        .filter(within)
        .annotate(begin=begin)
        .values_list("begin", "state")
        .annotate(Count("pk"))
        .order_by("begin", "state")
    )
    for at, state, count in rows:
        yield Square(at.astimezone(UTC), state, count)


def _to_come(dag: Dag, span: Span, hourly: bool, now: datetime) -> Iterator[Square]:
    """`now` is in the zone of the timetable: its year is the one that is meant."""
    try:
        timetable = listening.timetable_of(dag)
    except PartitionError:
        return
    if not isinstance(timetable, CronTriggerTimetable) or not dag.is_active:
        return
    end = datetime(now.year + 1, 1, 1, tzinfo=now.tzinfo)
    ticks = timetable.ticks(now.astimezone(UTC), min(end, dag.end_date or end).astimezone(UTC))
    planned: Counter[datetime] = Counter()
    for tick in islice(ticks, MOST_PLANNED):
        at = tick.partition_date or tick.at
        if at in span and at < end:
            planned[_begin(at.astimezone(now.tzinfo), hourly)] += 1
    for at, count in sorted(planned.items()):
        yield Square(at, PLANNED, count)


def _begin(at: datetime, hourly: bool) -> datetime:
    hour = at.hour if hourly else 0
    fold = at.fold if hourly else 0
    return at.replace(hour=hour, minute=0, second=0, microsecond=0, fold=fold).astimezone(UTC)
