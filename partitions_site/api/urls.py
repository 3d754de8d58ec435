"""Addresses of the API. None ends in a slash, as Airflow's do not."""

from django.urls import path
from django.urls.resolvers import URLPattern
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from partitions_site.api import (
    assets,
    backfill_plans,
    backfills,
    bulk_events,
    calendar,
    clearing,
    dag_stats,
    dags,
    doors,
    dynamic_keys,
    elsewhere,
    event_logs,
    events,
    explaining,
    grants,
    health,
    held_runs,
    many_runs,
    mapping_previews,
    materialize,
    metrics,
    one_run,
    partitioned,
    partitions,
    pools,
    queued_events,
    schedules,
    schema,
    sensors,
    tokens,
    waiting,
)
from partitions_site.api.auth import OpenAddress


class Unknown(OpenAddress):
    """Any other address under `/api`."""

    @extend_schema(exclude=True)
    def get(self, request: Request, rest: str) -> Response:
        return Response({"error": "API route not found"}, status=404)


v2: list[URLPattern] = [
    path("version", health.Version.as_view()),
    path("monitor/health", health.MonitorHealth.as_view()),
    path("openapi.json", schema.OpenApi.as_view(), name="openapi"),
    path("assets", assets.Assets.as_view()),
    path("assets/aliases", assets.Aliases.as_view()),
    path("assets/aliases/<str:asset_alias_id>", assets.OneAlias.as_view()),
    path("assets/events", events.Events.as_view()),
    path("assets/events/bulk", bulk_events.BulkEvents.as_view()),
    path("assets/events/<str:event_id>", events.OneEvent.as_view()),
    path("assets/<str:asset_id>", assets.OneAsset.as_view()),
    path("assets/<str:asset_id>/partitions", partitions.AssetPartitions.as_view()),
    path("assets/<str:asset_id>/materialize", materialize.Materialize.as_view()),
    path("assets/<str:asset_id>/queuedEvents", queued_events.OfAsset.as_view()),
    path("backfills", backfills.Backfills.as_view()),
    path("backfills/dry_run", backfill_plans.DryRun.as_view()),
    path("backfills/<str:backfill_id>", backfills.OneBackfill.as_view()),
    path("backfills/<str:backfill_id>/pause", backfills.PauseBackfill.as_view()),
    path("backfills/<str:backfill_id>/unpause", backfills.UnpauseBackfill.as_view()),
    path("backfills/<str:backfill_id>/cancel", backfills.CancelBackfill.as_view()),
    path("backfills/<str:backfill_id>/retry", backfills.RetryBackfill.as_view()),
    path("backfills/<str:backfill_id>/partitions", backfills.BackfillPartitions.as_view()),
    path("dags", dags.Dags.as_view()),
    path("dags/<str:dag_id>", dags.OneDag.as_view()),
    path("dags/<str:dag_id>/schedule", schedules.Schedule.as_view()),
    path("dags/<str:dag_id>/mapping/preview", mapping_previews.MappingPreview.as_view()),
    path("dags/<str:dag_id>/explain", explaining.Explain.as_view()),
    path("dags/<str:dag_id>/details", dags.DagDetails.as_view()),
    path("dags/<str:dag_id>/assets/queuedEvents", queued_events.OfDag.as_view()),
    path("dags/<str:dag_id>/assets/<str:asset_id>/queuedEvents", queued_events.OfDagAndAsset.as_view()),
    path("dags/<str:dag_id>/clearDagRuns", clearing.ClearRuns.as_view()),
    path("dags/<str:dag_id>/clearPartitions", clearing.ClearPartitions.as_view()),
    path("dags/<str:dag_id>/dagRuns", many_runs.Runs.as_view()),
    path("dags/~/dagRuns/list", many_runs.ListRuns.as_view()),
    path("dags/<str:dag_id>/dagRuns/<str:run_id>", one_run.OneRun.as_view()),
    path("dags/<str:dag_id>/dagRuns/<str:run_id>/clear", clearing.ClearRun.as_view()),
    path("dags/<str:dag_id>/dagRuns/<str:run_id>/wait", waiting.Wait.as_view()),
    path("dags/<str:dag_id>/dagRuns/<str:run_id>/upstreamAssetEvents", one_run.UpstreamEvents.as_view()),
    path("config", doors.Config.as_view()),
    path("dagStats", dag_stats.DagStats.as_view()),
    path("eventLogs", event_logs.EventLogs.as_view()),
    path("eventLogs/<str:event_log_id>", event_logs.OneEventLog.as_view()),
    path("runs/claim", elsewhere.Claim.as_view()),
    path("runs/<str:run_pk>/heartbeat", elsewhere.Heartbeat.as_view()),
    path("runs/<str:run_pk>/finish", elsewhere.Finish.as_view()),
    path("runs/<str:run_pk>/callback", elsewhere.Callback.as_view()),
    path("pools", pools.Pools.as_view()),
    path("pools/<path:pool_name>", pools.OnePool.as_view()),
    path("heldRuns", held_runs.HeldRuns.as_view()),
    path("heldRuns/<str:held_run_id>", held_runs.OneHeldRun.as_view()),
    path("heldRuns/<str:held_run_id>/fire", held_runs.FireHeldRun.as_view()),
    path("heldRuns/<str:held_run_id>/cancel", held_runs.CancelHeldRun.as_view()),
    path("heldRuns/<str:held_run_id>/reevaluate", held_runs.ReevaluateHeldRun.as_view()),
    path("grants", grants.Grants.as_view()),
    path("grants/<str:grant_id>", grants.OneGrant.as_view()),
    path("sensors", sensors.Sensors.as_view()),
    path("sensors/<path:name>/look", sensors.LookNow.as_view()),
    path("sensors/<path:name>/looks", sensors.Looks.as_view()),
    path("sensors/<path:name>", sensors.OneSensor.as_view()),
    path("partitionsDefinitions/<str:name>/keys", dynamic_keys.Keys.as_view()),
]

urlpatterns: list[URLPattern] = [
    path("auth/token", tokens.WebToken.as_view()),
    path("auth/token/cli", tokens.CliToken.as_view()),
    path("auth/tokens", tokens.PersonalTokens.as_view()),
    path("auth/tokens/<str:token_id>", tokens.PersonalToken.as_view()),
    path("api/v2/auth/login", doors.Login.as_view()),
    path("api/v2/auth/logout", doors.Logout.as_view()),
    *(path(f"api/v2/{each.pattern}", each.callback, name=each.name) for each in v2),
    path("ui/partitioned_dag_runs", partitioned.PartitionedRuns.as_view()),
    path("ui/pending_partitioned_dag_run/<str:dag_id>", partitioned.PendingRun.as_view()),
    path("ui/backfills", backfills.BackfillsOfPages.as_view()),
    path("ui/calendar/<str:dag_id>", calendar.Calendar.as_view()),
    path("ui/next_run_assets/<str:dag_id>", partitioned.NextRunAssets.as_view()),
    path("livez", health.Live.as_view()),
    path("readyz", health.Ready.as_view()),
    path("metrics", metrics.Metrics.as_view()),
    path("openapi.json", schema.OpenApi.as_view()),
    path("docs", schema.Docs.as_view(), name="docs"),
    path("api/<path:rest>", Unknown.as_view()),
]
