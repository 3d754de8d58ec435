"""Dags: `/api/v2/dags`."""

from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import QueryDict
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import Dag, DagRun, Dependency
from partitions_site.api import dag_filters, wire
from partitions_site.api.auth import GROUPED, Address, check_may, deed, sight_of
from partitions_site.api.errors import BadRequest
from partitions_site.api.expressions import asset_expression
from partitions_site.api.fields import Always, Flag, Form, Instant, Text, read_body
from partitions_site.api.filters import AnyOf, Pattern, Prefix, When
from partitions_site.api.pages import Listing
from partitions_site.api.schema import gives
from scheduling import configuration, listening
from scheduling.algebra.errors import PartitionError
from scheduling.belonging import Sight

SLOTS = 16
"""Airflow's default of tasks at a time; tasks of a run go one after another here."""


class TagOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    dag_id = serializers.CharField()
    dag_display_name = serializers.CharField()


class DagProblemOut(serializers.Serializer[Any]):
    code = serializers.CharField()
    level = serializers.CharField()
    sentence = serializers.CharField()


class DagOut(serializers.Serializer[Any]):
    dag_id = serializers.CharField()
    dag_display_name = serializers.CharField(source="dag_id")
    is_paused = serializers.BooleanField()
    is_stale = serializers.SerializerMethodField()
    last_parsed_time = Instant(source="source.loaded_at", allow_null=True, default=None)
    last_parse_duration = Always(None)
    last_expired = Always(None)
    bundle_name = Always(wire.BUNDLE)
    bundle_version = Always(None)
    relative_fileloc = serializers.CharField(source="source.name", default=None, allow_null=True)
    fileloc = serializers.CharField(source="source.name", default="")
    description = serializers.SerializerMethodField()
    timetable_summary = serializers.SerializerMethodField()
    timetable_description = serializers.SerializerMethodField()
    timetable_partitioned = serializers.BooleanField(source="is_partitioned")
    timetable_periodic = serializers.BooleanField(source="is_periodic")
    tags = serializers.SerializerMethodField()
    max_active_tasks = Always(SLOTS)
    max_active_runs = serializers.IntegerField()
    max_consecutive_failed_dag_runs = Always(0)
    has_task_concurrency_limits = Always(False)
    has_import_errors = serializers.SerializerMethodField()
    next_dagrun_logical_date = Always(None)
    next_dagrun_data_interval_start = Always(None)
    next_dagrun_data_interval_end = Always(None)
    next_dagrun_run_after = Instant(source="next_tick_at", allow_null=True)
    allowed_run_types = Always(None)
    owners = Always(["partita"])
    is_backfillable = serializers.BooleanField(source="is_periodic")
    file_token = Always("")
    problems = DagProblemOut(many=True, help_text="What is wrong with the definition")

    def get_is_stale(self, dag: Dag) -> bool:
        return not dag.is_active

    def get_description(self, dag: Dag) -> str | None:
        return dag.description or None

    def get_timetable_summary(self, dag: Dag) -> str | None:
        timetable = _timetable(dag)
        return timetable.summary if timetable else None

    def get_timetable_description(self, dag: Dag) -> str | None:
        if dag.schedule is None:
            return "Never, external triggers only"
        timetable = _timetable(dag)
        return timetable.words() if timetable else "Its definition cannot be read"

    @extend_schema_field(TagOut(many=True))
    def get_tags(self, dag: Dag) -> list[dict[str, str]]:
        return [{"name": tag, "dag_id": dag.dag_id, "dag_display_name": dag.dag_id} for tag in dag.tags]

    def get_has_import_errors(self, dag: Dag) -> bool:
        return bool(dag.source and dag.source.error)


class DagDetailsOut(DagOut):
    catchup = serializers.SerializerMethodField()
    dag_run_timeout = serializers.SerializerMethodField(help_text="As ISO 8601 writes a duration")
    asset_expression = serializers.SerializerMethodField()
    doc_md = Always(None)
    start_date = Instant(allow_null=True)
    end_date = Instant(allow_null=True)
    is_paused_upon_creation = Always(None)
    params = Always({})
    render_template_as_native_obj = Always(False)
    template_search_path = Always(None)
    timezone = serializers.SerializerMethodField()
    last_parsed = Instant(source="source.loaded_at", allow_null=True, default=None)
    default_args = Always({})
    rerun_with_latest_version = Always(None)
    owner_links = Always({})
    is_favorite = Always(False)
    active_runs_count = serializers.SerializerMethodField()
    concurrency = Always(SLOTS)
    latest_dag_version = serializers.SerializerMethodField()

    def get_dag_run_timeout(self, dag: Dag) -> str | None:
        return f"PT{dag.run_timeout.total_seconds():g}S" if dag.run_timeout else None

    def get_catchup(self, dag: Dag) -> bool:
        return dag.catchup == Dag.Catchup.ALL

    @extend_schema_field({"type": ["object", "null"], "additionalProperties": True})
    def get_asset_expression(self, dag: Dag) -> dict[str, Any] | None:
        return asset_expression(dag)

    def get_timezone(self, dag: Dag) -> str:
        return str(getattr(_timetable(dag), "timezone", "UTC"))

    def get_active_runs_count(self, dag: Dag) -> int:
        return dag.runs.filter(state__in=[DagRun.State.QUEUED, DagRun.State.RUNNING]).count()

    @extend_schema_field(wire.DagVersionOut)
    def get_latest_dag_version(self, dag: Dag) -> Any:
        return wire.DagVersionOut(wire.version(dag)).data


class DagIn(Form):
    is_paused = Flag()
    make_up_missed = Flag(
        required=False, default=False, help_text="Unpausing makes up the ticks that came while it was paused"
    )


_BROKEN = Q(source__isnull=False) & ~Q(source__error="")
_LISTENING = Q(pk__in=Dependency.objects.values("dag_id"))

DAGS = Listing(
    noun="dags",
    out=DagOut,
    orders={
        "dag_id": "dag_id",
        "dag_display_name": "dag_id",
        "next_dagrun": "next_tick_at",
        "state": "last_run_state",
        "start_date": "start_date",
        "last_run_state": "last_run_state",
        "last_run_start_date": "last_run_started_at",
    },
    filters=[
        Pattern("dag_id", "dag_id"),
        Prefix("dag_id", "dag_id"),
        Pattern("dag_display_name", "dag_id"),
        Prefix("dag_display_name", "dag_id"),
        dag_filters.Tags(),
        AnyOf("owners", lambda owners: Q() if "partita" in owners else Q(pk__in=[])),
        When("paused", lambda paused: Q(is_paused=paused)),
        When("exclude_stale", lambda exclude: Q(is_active=True) if exclude else Q(), default="true"),
        When("has_import_errors", lambda has: _BROKEN if has else ~_BROKEN),
        When("has_asset_schedule", lambda has: _LISTENING if has else ~_LISTENING),
        When("is_favorite", lambda is_favorite: Q(pk__in=[]) if is_favorite else Q()),
        When("last_dag_run_state", dag_filters.last_run_state_is, Text),
        AnyOf("dag_run_state", dag_filters.has_runs_in),
        When("asset_dependency", dag_filters.listens_to, Text, words="Listens to an asset called or at this"),
        AnyOf("timetable_type", dag_filters.has_timetable),
        When("bundle_name", dag_filters.is_in_bundle, Text),
    ],
    default=("dag_id",),
)

UPDATE_MASK = OpenApiParameter("update_mask", str, many=True, description="`is_paused`, or nothing")


class Dags(Address):
    """`/api/v2/dags`."""

    within = GROUPED
    needs = {"PATCH": "core.change_dag"}

    @DAGS.described("get_dags", "Dags")
    def get(self, request: Request) -> Response:
        query = request.query_params
        return DAGS.answer(request, _listed(sight_of(request), query))

    @extend_schema(
        operation_id="patch_dags",
        summary="Pause or unpause Dags",
        description="Every Dag that the query matches and that you may pause: none without a pattern for "
        "`dag_id`.",
        request=DagIn,
        parameters=[UPDATE_MASK],
        responses=gives(DAGS.collection("patch_dags"), refusals=(400, 422)),
    )
    def patch(self, request: Request) -> Response:
        (paused, make_up), query = _read_pause(request), request.query_params
        named = {"dag_id_pattern", "dag_id_prefix_pattern"} & query.keys()
        shown = list(_listed(sight_of(request), query).filter(DAGS.narrowed(query))) if named else []
        found = [dag for dag in shown if request.user.has_perm("core.change_dag", dag)]
        for dag in found:
            configuration.set_paused(dag, paused, deed=deed(request), at=timezone.now(), make_up=make_up)
        return DAGS.answer(
            request, _listed(sight_of(request), query).filter(pk__in=[dag.pk for dag in found]), narrow=False
        )


class OneDag(Address):
    """`/api/v2/dags/{dag_id}`."""

    within = GROUPED
    needs = {"PATCH": "core.change_dag"}

    @extend_schema(operation_id="get_dag", summary="One Dag", responses=gives(DagOut, refusals=(404,)))
    def get(self, request: Request, dag_id: str) -> Response:
        return Response(DagOut(find_dag(request, dag_id)).data)

    @extend_schema(
        operation_id="patch_dag",
        summary="Pause or unpause a Dag",
        request=DagIn,
        parameters=[UPDATE_MASK],
        responses=gives(DagOut, refusals=(400, 404, 422)),
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


def _read_pause(request: Request) -> tuple[bool, bool]:
    """Whether to pause, and whether unpausing makes up what was missed."""
    mask = request.query_params.getlist("update_mask")
    if mask and mask != ["is_paused"]:
        raise BadRequest("Only `is_paused` field can be updated through the REST API")
    asked = read_body(DagIn, request)
    return asked["is_paused"], asked["make_up_missed"]


def _timetable(dag: Dag) -> Any:
    try:
        return listening.timetable_of(dag)
    except PartitionError:
        return None
