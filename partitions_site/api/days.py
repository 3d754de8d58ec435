"""Calendar days of a Dag: partition dates are asked for by day, in the zone of its timetable."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Q
from django.http import QueryDict

from core.models import Dag
from partitions_site.api.errors import BadRequest, Invalid, problem
from partitions_site.api.fields import Instant
from partitions_site.api.forms import read_value
from scheduling.board import calendar
from scheduling.board.calendar import Span


def asked_for(dag: Dag | None, query: QueryDict) -> Q:
    """What `partition_date_gte` and `partition_date_lte` narrow to, both days included.

    :raises BadRequest: if there is no one partitioned Dag whose days are meant.
    """
    asked = {end: query.get(f"partition_date_{end}") for end in ("gte", "lte")}
    given = {end: text for end, text in asked.items() if text is not None}
    if not given:
        return Q()
    if dag is None:
        raise BadRequest("partition_date_gte and partition_date_lte require a specific dag_id.")
    if not dag.is_partitioned:
        raise BadRequest(f"Dag '{dag.dag_id}' is not a partitioned Dag: its runs have no partition_date.")
    return within(dag, **{end: _day(text, f"partition_date_{end}") for end, text in given.items()})


def span(dag: Dag, query: QueryDict) -> Span:
    """The time that `partition_date_*` days and `logical_date_*` instants of a query leave over."""
    zone = calendar.zone_of(dag)
    firsts: list[datetime] = []
    ends: list[datetime] = []
    for bound, most in (("gte", False), ("gt", False), ("lte", True), ("lt", True)):
        beyond = bound in ("gt", "lte")
        if (text := query.get(f"partition_date_{bound}")) is not None:
            day = _day(text, f"partition_date_{bound}") + timedelta(days=beyond)
            (ends if most else firsts).append(_midnight(day, zone))
        name = f"logical_date_{bound}"
        if (text := query.get(name)) is not None:
            at: datetime = read_value(Instant(), text, ["query", name])
            (ends if most else firsts).append(at + timedelta(microseconds=beyond))
    return Span(max(firsts, default=None), min(ends, default=None))


def within(dag: Dag, gte: date | None = None, lte: date | None = None) -> Q:
    """Partition dates of `dag` from the day `gte` to the day `lte`, in the zone of its timetable."""
    found, zone = Q(), calendar.zone_of(dag)
    if gte:
        found &= Q(partition_date__gte=_midnight(gte, zone))
    if lte:
        found &= Q(partition_date__lt=_midnight(lte + timedelta(days=1), zone))
    return found


def _day(text: str, name: str) -> date:
    try:
        day = date.fromisoformat(text[:10])
        if not 1 < day.year < 9999:
            raise ValueError(text)
        return day
    except ValueError:
        words = "Input should be a valid date in the format YYYY-MM-DD"
        raise Invalid([problem("date_from_datetime_parsing", ["query", name], words, text)]) from None


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)
