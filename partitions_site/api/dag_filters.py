"""What lists of Dags are narrowed by where no one column says it."""

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q
from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter

from core.models import Dag, DagRun, Dependency
from partitions_site.api import wire
from partitions_site.api.errors import Unprocessable
from partitions_site.api.fields import OneOf, Text
from partitions_site.api.filters import Range
from partitions_site.api.forms import read_value

ANY, ALL = "any", "all"


@dataclass(frozen=True, slots=True)
class Tags:
    """`tags=a&tags=b`: Dags with one of these, or with `tags_match_mode=all` with each of them.

    Tags are a list in a column: few Dags, so they are looked through here.
    """

    def parameters(self) -> list[OpenApiParameter]:
        return [
            OpenApiParameter("tags", str, many=True, description="One of these; may be repeated"),
            OpenApiParameter("tags_match_mode", str, enum=[ANY, ALL], description="All of `tags`, or any"),
        ]

    def narrow(self, query: QueryDict) -> Q:
        wanted = {read_value(Text(), each, ["query", "tags"]) for each in query.getlist("tags")}
        given = query.get("tags_match_mode", ANY)
        mode = read_value(OneOf(choices=[ANY, ALL]), given, ["query", "tags_match_mode"])
        if not wanted:
            return Q()
        rows = Dag.objects.values_list("pk", "tags")
        has = wanted.issubset if mode == ALL else lambda own: bool(wanted.intersection(own))
        return Q(pk__in=[pk for pk, own in rows if has(own)])


@dataclass(frozen=True, slots=True)
class RunTimes:
    """`dag_run_start_date_gte=…`: Dags with a run that started, or ended, within all that is said of it."""

    def parameters(self) -> list[OpenApiParameter]:
        return [parameter for each in RUN_TIMES for parameter in each.parameters()]

    def narrow(self, query: QueryDict) -> Q:
        within = RUN_TIMES[0].narrow(query) & RUN_TIMES[1].narrow(query)
        return Q(Exists(DagRun.objects.filter(within, dag=OuterRef("pk")))) if within else Q()


RUN_TIMES = Range("dag_run_start_date", "started_at"), Range("dag_run_end_date", "ended_at")


def last_run_state_is(name: str) -> Q:
    return Q(last_run_state__in=_states(name, "last_dag_run_state"))


def has_runs_in(names: list[str]) -> Q:
    states = [each for name in names for each in _states(name, "dag_run_state")]
    return Q(pk__in=DagRun.objects.filter(state__in=states).values("dag"))


def listens_to(pattern: str) -> Q:
    named = Q(asset__name__like=f"%{pattern}%") | Q(asset__uri__like=f"%{pattern}%")
    return Q(pk__in=Dependency.objects.filter(named).values("dag"))


def has_timetable(names: list[str]) -> Q:
    """Named as Airflow does, with or without the module."""
    return Q(schedule__type__in=[name.rpartition(".")[2] for name in names])


def is_in_bundle(name: str) -> Q:
    return Q() if name == wire.BUNDLE else Q(pk__in=[])


def _states(name: str, parameter: str) -> tuple[str, ...]:
    if name not in wire.RUN_STATES:
        valid = ", ".join(wire.RUN_STATES)
        raise Unprocessable(f"Invalid value for {parameter}. Valid values are {valid}")
    return wire.RUN_STATES[name]
