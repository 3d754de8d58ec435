"""Held runs where dashboards of Airflow look for them: three addresses under `/ui`, in its shapes."""

from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import HeldRun
from partitions_site.api import wire
from partitions_site.api.auth import GROUPED, Address, sight_of
from partitions_site.api.dags import find_dag
from partitions_site.api.errors import Invalid, problem
from partitions_site.api.expressions import asset_expression
from partitions_site.api.fields import Flag, Instant, JsonObject, Text
from partitions_site.api.forms import read_value
from partitions_site.api.held_run_rows import judged, waiting_assets
from partitions_site.api.schema import gives

NEWEST = 1000
"""Rows that the list gives at most; `/api/v2/heldRuns` has pages."""

State = HeldRun.State


class PartitionedRunOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    partition_key = serializers.CharField()
    created_at = serializers.CharField()
    total_received = serializers.IntegerField(source="received_count")
    total_required = serializers.IntegerField(source="required_count")
    dag_id = serializers.CharField(source="dag.dag_id")
    state = serializers.CharField()
    created_dag_run_id = serializers.CharField(source="run.run_id", default=None, allow_null=True)

    def to_representation(self, row: HeldRun) -> dict[str, Any]:
        row.created_at = row.opened_at.isoformat()  # type: ignore[attr-defined]
        written: dict[str, Any] = super().to_representation(row)
        return written | {"state": wire.state(row.run) if row.run else "pending"}


class PartitionedRunsOut(serializers.Serializer[Any]):
    partitioned_dag_runs = PartitionedRunOut(many=True)
    total = serializers.IntegerField()
    asset_expressions = JsonObject(allow_null=True)


class CountedAsset(serializers.Serializer[Any]):
    """What of one asset has come, and what is needed."""

    received_count = serializers.IntegerField()
    required_count = serializers.IntegerField()
    received_keys = serializers.ListField(child=serializers.CharField())
    required_keys = serializers.ListField(child=serializers.CharField())
    is_rollup = serializers.BooleanField()
    mapper_error = serializers.SerializerMethodField()
    asset_inactive = serializers.BooleanField()

    def get_mapper_error(self, asset: dict[str, Any]) -> bool:
        return bool(asset["error"])


class PendingAssetOut(CountedAsset):
    asset_id = serializers.IntegerField(allow_null=True)
    asset_name = serializers.CharField()
    asset_uri = serializers.CharField()
    received = serializers.BooleanField(source="is_satisfied")


class PendingRunOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    dag_id = serializers.CharField()
    partition_key = serializers.CharField()
    created_at = serializers.CharField()
    updated_at = serializers.CharField()
    created_dag_run_id = serializers.CharField(allow_null=True)
    assets = PendingAssetOut(many=True)
    total_required = serializers.IntegerField()
    total_received = serializers.IntegerField()
    asset_expression = JsonObject(allow_null=True)


class NextAssetOut(CountedAsset):
    id = serializers.IntegerField(source="asset_id", allow_null=True)
    name = serializers.CharField(source="asset_name")
    uri = serializers.CharField(source="asset_uri")
    last_update = Instant(allow_null=True)


class NextRunOut(serializers.Serializer[Any]):
    asset_expression = JsonObject(allow_null=True)
    events = NextAssetOut(many=True)
    pending_partition_count = serializers.IntegerField(allow_null=True)


class PartitionedRuns(Address):
    """`/ui/partitioned_dag_runs`: held runs and the runs they became, the newest first."""

    within = GROUPED

    @extend_schema(
        operation_id="get_partitioned_dag_runs",
        summary="Held runs, as Airflow's pages list them",
        parameters=[
            OpenApiParameter("dag_id", str),
            OpenApiParameter(
                "has_created_dag_run_id", bool, description="Held (false) or fired (true) ones only"
            ),
        ],
        responses=gives(PartitionedRunsOut, refusals=(404, 422)),
    )
    def get(self, request: Request) -> Response:
        query = request.query_params
        dag_id, rows = _text(query, "dag_id"), _keyed(request)
        if dag_id is not None:
            rows = rows.filter(dag=find_dag(request, dag_id))
        if (given := query.get("has_created_dag_run_id")) is not None:
            fired = read_value(Flag(), given, ["query", "has_created_dag_run_id"])
            rows = rows.filter(state=State.FIRED if fired else State.HELD)
        found = list(rows.order_by("-id")[:NEWEST])
        dags = {row.dag.dag_id: row.dag for row in found} if dag_id is None else {}
        body = {
            "partitioned_dag_runs": PartitionedRunOut(found, many=True).data,
            "total": len(found) if len(found) < NEWEST else rows.count(),
            "asset_expressions": {name: asset_expression(dag) for name, dag in dags.items()} or None,
        }
        return Response(body)


class PendingRun(Address):
    """`/ui/pending_partitioned_dag_run/{dag_id}`: one that has not fired."""

    within = GROUPED

    @extend_schema(
        operation_id="get_pending_partitioned_dag_run",
        summary="One held run, as Airflow's pages show it",
        parameters=[OpenApiParameter("partition_key", str, required=True)],
        responses=gives(PendingRunOut, refusals=(404, 422)),
    )
    def get(self, request: Request, dag_id: str) -> Response:
        key, dag = _text(request.query_params, "partition_key"), find_dag(request, dag_id)
        if key is None:
            raise Invalid([problem("missing", ["query", "partition_key"], "Field required")])
        row = _keyed(request).filter(dag=dag, partition_key=key, state=State.HELD).first()
        if row is None:
            raise NotFound(f"No PartitionDagRun found for dag={dag_id} partition={key}")
        assets = _assets(row)
        body = {
            "id": row.pk,
            "dag_id": dag_id,
            "partition_key": key,
            "created_at": row.opened_at.isoformat(),
            "updated_at": row.last_event_at.isoformat(),
            "created_dag_run_id": None,
            "assets": assets,
            "total_required": sum(each["required_count"] for each in assets),
            "total_received": sum(each["received_count"] for each in assets),
            "asset_expression": asset_expression(dag),
        }
        return Response(PendingRunOut(body).data)


class NextRunAssets(Address):
    """`/ui/next_run_assets/{dag_id}`: what the oldest held run waits for."""

    within = GROUPED

    @extend_schema(
        operation_id="get_next_run_assets",
        summary="What the oldest held run of a Dag waits for",
        responses=gives(NextRunOut, refusals=(404,)),
    )
    def get(self, request: Request, dag_id: str) -> Response:
        dag = find_dag(request, dag_id)
        rows = _keyed(request).filter(dag=dag, state=State.HELD)
        oldest = rows.order_by("id").first()
        body = {
            "asset_expression": asset_expression(dag),
            "events": _assets(oldest) if oldest else [],
            "pending_partition_count": rows.count() if dag.is_partitioned else None,
        }
        return Response(NextRunOut(body).data)


def _text(query: QueryDict, name: str) -> str | None:
    given = query.get(name)
    return None if given is None else read_value(Text(), given, ["query", name])


def _keyed(request: Request) -> "QuerySet[HeldRun]":
    """Held runs that are for a partition, open or fired."""
    shown = HeldRun.objects.filter(sight_of(request).dags("dag"))
    rows = shown.exclude(partition_key="").filter(state__in=[State.HELD, State.FIRED])
    return rows.select_related("dag", "run")


def _assets(row: HeldRun) -> list[dict[str, Any]]:
    found = waiting_assets(row, judged([row]))
    return [each | {"last_update": None} for each in found]
