"""How a Dag is written in answers, and the list of them."""

from typing import Any

from django.db.models import Q
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from core.models import Dag, DagRun, Dependency
from partitions_site.api import dag_filters, wire
from partitions_site.api.expressions import asset_expression
from partitions_site.api.fields import Always, Instant, Text
from partitions_site.api.filters import AnyOf, Pattern, Prefix, When
from partitions_site.api.pages import Listing
from scheduling import listening
from scheduling.algebra.errors import PartitionError

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
        When("bundle_version", lambda version: Q(pk__in=[]), Text, words="There are no bundles: nothing"),
        dag_filters.RunTimes(),
    ],
    default=("dag_id",),
)


def _timetable(dag: Dag) -> Any:
    try:
        return listening.timetable_of(dag)
    except PartitionError:
        return None
