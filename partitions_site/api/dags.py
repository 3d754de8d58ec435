"""Dags: `/api/v2/dags`."""

from dataclasses import replace

from django.db.models import OuterRef, QuerySet, Subquery
from django.http import QueryDict
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import Dag, DagRun
from partitions_site.api.auth import GROUPED, Address, check_may, deed, sight_of
from partitions_site.api.dag_rows import DAGS, DagDetailsOut, DagOut
from partitions_site.api.errors import BadRequest
from partitions_site.api.fields import Flag
from partitions_site.api.forms import Form, read_body
from partitions_site.api.pages import SLICE
from partitions_site.api.schema import gives
from scheduling import configuration
from scheduling.belonging import Sight

PAUSE = "core.change_dag"


class DagIn(Form):
    is_paused = Flag()
    make_up_missed = Flag(
        required=False, default=False, help_text="Unpausing makes up the ticks that came while it was paused"
    )


UPDATE_MASK = OpenApiParameter("update_mask", str, many=True, description="`is_paused`, or nothing")


class Dags(Address):
    """`/api/v2/dags`."""

    within = GROUPED
    needs = {"PATCH": PAUSE}

    @DAGS.described("get_dags", "Dags")
    def get(self, request: Request) -> Response:
        query = request.query_params
        return DAGS.answer(request, _listed(sight_of(request), query))

    @extend_schema(
        operation_id="patch_dags",
        summary="Pause or unpause Dags",
        description="Every Dag that the query matches and that you may pause: none without a pattern for "
        "`dag_id`. With `limit` or `offset` those of that page.",
        request=DagIn,
        parameters=[UPDATE_MASK, *DAGS.narrowing(), *SLICE],
        responses=gives(DAGS.collection("patch_dags"), refusals=(400, 413, 415, 422)),
    )
    def patch(self, request: Request) -> Response:
        (paused, make_up), query = _read_pause(request), request.query_params
        rows = _pausable(request, query)
        page = DAGS.page(query, rows)
        for dag in page.rows if {"limit", "offset"} & query.keys() else list(rows):
            configuration.set_paused(dag, paused, deed=deed(request), at=timezone.now(), make_up=make_up)
        now = {dag.pk: dag for dag in rows.all()}
        return Response(DAGS.written(replace(page, rows=[now.get(dag.pk, dag) for dag in page.rows])))


class OneDag(Address):
    """`/api/v2/dags/{dag_id}`."""

    within = GROUPED
    needs = {"PATCH": PAUSE}

    @extend_schema(operation_id="get_dag", summary="One Dag", responses=gives(DagOut, refusals=(404,)))
    def get(self, request: Request, dag_id: str) -> Response:
        return Response(DagOut(find_dag(request, dag_id)).data)

    @extend_schema(
        operation_id="patch_dag",
        summary="Pause or unpause a Dag",
        request=DagIn,
        parameters=[UPDATE_MASK],
        responses=gives(DagOut, refusals=(400, 404, 413, 415, 422)),
    )
    def patch(self, request: Request, dag_id: str) -> Response:
        (paused, make_up), dag = _read_pause(request), find_dag(request, dag_id)
        configuration.set_paused(dag, paused, deed=deed(request), at=timezone.now(), make_up=make_up)
        return Response(DagOut(find_dag(request, dag_id)).data)


class DagDetails(Address):
    """`/api/v2/dags/{dag_id}/details`."""

    within = GROUPED

    @extend_schema(
        operation_id="get_dag_details",
        summary="All about a Dag",
        responses=gives(DagDetailsOut, refusals=(404,)),
    )
    def get(self, request: Request, dag_id: str) -> Response:
        return Response(DagDetailsOut(find_dag(request, dag_id)).data)


def find_dag(request: Request, dag_id: str) -> Dag:
    """The Dag that a request is about.

    :raises NotFound: if none is called so, of those that whoever asks is shown.
    :raises PermissionDenied: if they may not do with it what they ask.
    """
    shown = Dag.objects.filter(sight_of(request).dags()).select_related("source")
    dag = shown.filter(dag_id=dag_id).first()
    if dag is None:
        raise NotFound(f"The Dag with ID: `{dag_id}` was not found")
    check_may(request, dag)
    return dag


def _listed(sight: Sight, query: QueryDict) -> "QuerySet[Dag]":
    """All Dags; with their last run only where something is asked of it, for that costs a look per Dag."""
    dags = Dag.objects.filter(sight.dags()).select_related("source")
    asked = {*query, *(each.removeprefix("-") for each in query.getlist("order_by"))}
    if not asked & {"last_dag_run_state", "last_run_state", "last_run_start_date", "state"}:
        return dags
    runs = DagRun.objects.filter(dag=OuterRef("pk")).order_by("-id")
    return dags.annotate(
        last_run_state=Subquery(runs.values("state")[:1]),
        last_run_started_at=Subquery(runs.values("started_at")[:1]),
    )


def _pausable(request: Request, query: QueryDict) -> "QuerySet[Dag]":
    """Dags that a query names by a pattern, of those that whoever asks may pause."""
    listed = _listed(sight_of(request), query)
    if not {"dag_id_pattern", "dag_id_prefix_pattern"} & query.keys():
        return listed.none()
    found = [dag.pk for dag in listed.filter(DAGS.narrowed(query)) if request.user.has_perm(PAUSE, dag)]
    return listed.filter(pk__in=found)


def _read_pause(request: Request) -> tuple[bool, bool]:
    """Whether to pause, and whether unpausing makes up what was missed."""
    mask = request.query_params.getlist("update_mask")
    if mask and mask != ["is_paused"]:
        raise BadRequest("Only `is_paused` field can be updated through the REST API")
    asked = read_body(DagIn, request)
    return asked["is_paused"], asked["make_up_missed"]
