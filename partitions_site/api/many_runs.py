"""Runs of a Dag: `/api/v2/dags/{dag_id}/dagRuns`; `~` in the place of a Dag stands for all of them."""

from datetime import datetime
from typing import Any

from django.http import QueryDict
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from partitions_site.api import bulk_runs, days
from partitions_site.api.auth import A_READ, GROUPED, Address, deed, sight_of
from partitions_site.api.dags import find_dag
from partitions_site.api.fields import Instant, Text, Whole
from partitions_site.api.forms import Form, read_body
from partitions_site.api.once import HEADER, once
from partitions_site.api.runs import ALL_DAGS, RUNS, RunIn, RunOut, listed, read_ask
from partitions_site.api.schema import gives
from scheduling import runs

RANGES = ("run_after", "logical_date", "start_date", "end_date")


class RunsListIn(Form):
    """What the list of runs is narrowed by, as a body: for lists of Dags too long for an address."""

    order_by = Text(required=False, allow_null=True)
    page_limit = Whole(required=False, default=100, min_value=0)
    page_offset = Whole(required=False, default=0, min_value=0)
    dag_ids = serializers.ListField(child=Text(), required=False, allow_null=True)
    states = serializers.ListField(child=Text(allow_null=True), required=False, allow_null=True)
    conf_contains = Text(required=False, allow_null=True)

    def get_fields(self) -> dict[str, Any]:
        instants = {
            f"{name}_{bound}": Instant(required=False, allow_null=True)
            for name in RANGES
            for bound in ("gte", "gt", "lte", "lt")
        }
        return super().get_fields() | instants


class Runs(Address):
    """`/api/v2/dags/{dag_id}/dagRuns`."""

    within = GROUPED
    needs = {"POST": "core.add_dagrun", "PATCH": "core.change_dagrun"}

    @RUNS.described("get_dag_runs", "Dag runs", refusals=(404,))
    def get(self, request: Request, dag_id: str) -> Response:
        dag = None if dag_id == ALL_DAGS else find_dag(request, dag_id)
        rows = listed(sight_of(request)).filter(days.asked_for(dag, request.query_params))
        return RUNS.answer(request, rows if dag is None else rows.filter(dag=dag))

    @extend_schema(
        operation_id="trigger_dag_run",
        summary="Trigger a Dag, usually for one partition key",
        request=RunIn,
        parameters=[HEADER],
        responses=gives(RunOut, refusals=(400, 404, 409, 413, 415, 422)),
    )
    @once
    def post(self, request: Request, dag_id: str) -> Response:
        ask, dag = read_ask(request), find_dag(request, dag_id)
        run = runs.trigger(dag, ask, deed=deed(request), at=timezone.now())
        return Response(RunOut(run).data)

    @extend_schema(
        operation_id="bulk_dag_runs",
        summary="Update or delete many runs",
        description="Answers 200 with the outcome of each. Deleting needs the right to delete runs.",
        request=bulk_runs.BulkIn,
        responses=gives(bulk_runs.BulkRunsOut, refusals=(413, 415, 422)),
    )
    def patch(self, request: Request, dag_id: str) -> Response:
        actions = read_body(bulk_runs.BulkIn, request)["actions"]
        return Response(bulk_runs.carry_out(actions, request, None if dag_id == ALL_DAGS else dag_id))


class ListRuns(Address):
    """`/api/v2/dags/~/dagRuns/list`: a read, though it is posted."""

    within = GROUPED
    needs = {"POST": A_READ}

    @extend_schema(
        operation_id="get_list_dag_runs_batch",
        summary="Dag runs, asked for by a body",
        request=RunsListIn,
        responses=gives(RUNS.collection("list_dag_runs"), refusals=(400, 413, 415, 422)),
    )
    def post(self, request: Request) -> Response:
        query = _as_query(read_body(RunsListIn, request))
        rows = listed(sight_of(request)).filter(RUNS.narrowed(query))
        if "dag_ids" in query:
            rows = rows.filter(dag__dag_id__in=query.getlist("dag_ids"))
        return Response(RUNS.written(RUNS.page(query, rows)))


def _as_query(asked: dict[str, Any]) -> QueryDict:
    """The body of a list as the query it stands for."""
    query = QueryDict(mutable=True)
    query["limit"], query["offset"] = str(asked.pop("page_limit")), str(asked.pop("page_offset"))
    query.setlist("state", [each for each in asked.pop("states", None) or [] if each])
    for name, value in asked.items():
        if isinstance(value, list):
            query.setlist(name, value)
        elif value is not None:
            query[name] = value.isoformat() if isinstance(value, datetime) else value
    return query
