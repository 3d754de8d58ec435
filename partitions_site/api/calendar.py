"""A year of runs, as the calendar of Airflow's pages asks for it: `/ui/calendar/{dag_id}`."""

from collections import Counter
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from partitions_site.api import days, wire
from partitions_site.api.auth import GROUPED, Address
from partitions_site.api.dags import find_dag
from partitions_site.api.fields import Instant, OneOf
from partitions_site.api.forms import read_value
from partitions_site.api.schema import gives
from scheduling.board import calendar

DAILY, HOURLY = "daily", "hourly"
BOUNDS = ("gte", "gt", "lte", "lt")


class SquareOut(serializers.Serializer[Any]):
    date = Instant()
    state = serializers.CharField(help_text="A state of runs, or `planned`")
    count = serializers.IntegerField()


class CalendarOut(serializers.Serializer[Any]):
    total_entries = serializers.IntegerField()
    dag_runs = SquareOut(many=True)


class Calendar(Address):
    """`/ui/calendar/{dag_id}`."""

    within = GROUPED

    @extend_schema(
        operation_id="get_calendar",
        summary="Runs per day or hour and state, and those that are planned",
        parameters=[
            OpenApiParameter("granularity", str, enum=[DAILY, HOURLY], default=DAILY),
            *(
                OpenApiParameter(f"{name}_{bound}", str, description=words)
                for name, words in {
                    "partition_date": "A day in the zone of the Dag's timetable",
                    "logical_date": "An instant",
                }.items()
                for bound in BOUNDS
            ),
        ],
        responses=gives(CalendarOut, refusals=(404, 422)),
    )
    def get(self, request: Request, dag_id: str) -> Response:
        query, dag = request.query_params, find_dag(request, dag_id)
        given = query.get("granularity", DAILY)
        granularity = read_value(OneOf(choices=[DAILY, HOURLY]), given, ["query", "granularity"])
        squares = calendar.squares(
            dag, days.span(dag, query), hourly=granularity == HOURLY, now=timezone.now()
        )
        counts: Counter[tuple[Any, str]] = Counter()
        for each in squares:
            counts[each.at, wire.state_name(each.state)] += each.count
        found = [{"date": at, "state": state, "count": count} for (at, state), count in counts.items()]
        return Response(CalendarOut({"total_entries": len(found), "dag_runs": found}).data)
