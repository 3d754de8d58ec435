"""Events that wait for the next run of a Dag without partitions: three addresses of `queuedEvents`."""

from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import HeldRun, ReceivedKey
from partitions_site.api.assets import find_asset
from partitions_site.api.auth import GROUPED, Address, check_may, deed, sight_of
from partitions_site.api.dags import find_dag
from partitions_site.api.errors import Conflict
from partitions_site.api.fields import Instant
from partitions_site.api.filters import When
from partitions_site.api.forms import read_value, row_id
from partitions_site.api.pages import Listing
from partitions_site.api.schema import gives
from scheduling import holds
from scheduling.listening import UNKEYED


class QueuedEventOut(serializers.Serializer[Any]):
    dag_id = serializers.CharField(source="held_run.dag.dag_id")
    asset_id = serializers.IntegerField()
    created_at = Instant(source="received_at")
    dag_display_name = serializers.CharField(source="held_run.dag.dag_id")


QUEUED = Listing(
    noun="queued_events",
    out=QueuedEventOut,
    orders={"id": "id"},
    filters=[When("before", lambda at: Q(received_at__lt=at), Instant, words="Only those from before this")],
)


BEFORE = OpenApiParameter("before", str, description="Only those from before this")


class OfAsset(Address):
    """`/api/v2/assets/{asset_id}/queuedEvents`."""

    within = GROUPED
    needs = {"DELETE": "core.change_heldrun"}

    @QUEUED.described("get_asset_queued_events", "Queued events of an asset", refusals=(404,))
    def get(self, request: Request, asset_id: str) -> Response:
        asset = find_asset(request, row_id("asset_id", asset_id))
        shown = _queued().filter(sight_of(request).dags("held_run__dag"))
        return QUEUED.answer(request, shown.filter(asset=asset))

    @extend_schema(
        operation_id="delete_asset_queued_events",
        summary="Forget queued events of an asset: one Dag at a time",
        parameters=[BEFORE],
        responses=gives(None, 204, refusals=(404, 409, 422)),
    )
    def delete(self, request: Request, asset_id: str) -> Response:
        found = _queued().filter(sight_of(request).dags("held_run__dag"))
        found = found.filter(QUEUED.narrowed(request.query_params), asset_id=row_id("asset_id", asset_id))
        return _refused(found, f"Queue event with asset_id: `{asset_id}` was not found")


class OfDag(Address):
    """`/api/v2/dags/{dag_id}/assets/queuedEvents`."""

    within = GROUPED
    needs = {"DELETE": "core.change_heldrun"}

    @QUEUED.described("get_dag_asset_queued_events", "Queued events of a Dag", refusals=(404,))
    def get(self, request: Request, dag_id: str) -> Response:
        return QUEUED.answer(request, _queued().filter(held_run__dag=find_dag(request, dag_id)))

    @extend_schema(
        operation_id="delete_dag_asset_queued_events",
        summary="Forget the queued events of a Dag",
        parameters=[BEFORE],
        responses=gives(None, 204, refusals=(404, 409, 422)),
    )
    def delete(self, request: Request, dag_id: str) -> Response:
        shown = HeldRun.objects.held().filter(sight_of(request).dags("dag"))
        held = shown.filter(dag__dag_id=dag_id, partition_key=UNKEYED).first()
        if held is None:
            raise NotFound(f"Queue event with dag_id: `{dag_id}` was not found")
        check_may(request, held)
        before = _before(request)
        if not holds.forget(held, before=before, deed=deed(request), at=timezone.now()):
            raise NotFound(f"Queue event with dag_id: `{dag_id}` from before {before} was not found")
        return Response(status=204)


class OfDagAndAsset(Address):
    """`/api/v2/dags/{dag_id}/assets/{asset_id}/queuedEvents`."""

    within = GROUPED
    needs = {"DELETE": "core.change_heldrun"}

    @extend_schema(
        operation_id="get_dag_asset_queued_event",
        summary="The queued event of a Dag and an asset",
        parameters=[BEFORE],
        responses=gives(QueuedEventOut, refusals=(404, 422)),
    )
    def get(self, request: Request, dag_id: str, asset_id: str) -> Response:
        found = self._found(request, dag_id, asset_id).first()
        if found is None:
            raise NotFound(_absent(dag_id, asset_id))
        return Response(QueuedEventOut(found).data)

    @extend_schema(
        operation_id="delete_dag_asset_queued_event",
        summary="Forget queued events of a Dag and an asset: all of the Dag's, or none",
        parameters=[BEFORE],
        responses=gives(None, 204, refusals=(404, 409, 422)),
    )
    def delete(self, request: Request, dag_id: str, asset_id: str) -> Response:
        return _refused(self._found(request, dag_id, asset_id), _absent(dag_id, asset_id))

    def _found(self, request: Request, dag_id: str, asset_id: str) -> "QuerySet[ReceivedKey]":
        of_both = {"held_run__dag": find_dag(request, dag_id), "asset_id": row_id("asset_id", asset_id)}
        return _queued().filter(QUEUED.narrowed(request.query_params), **of_both)


def _queued() -> "QuerySet[ReceivedKey]":
    rows = ReceivedKey.objects.filter(held_run__state=HeldRun.State.HELD, held_run__partition_key=UNKEYED)
    return rows.select_related("held_run__dag")


def _before(request: Request) -> datetime | None:
    given = request.query_params.get("before")
    return None if given is None else read_value(Instant(), given, ["query", "before"])


def _absent(dag_id: str, asset_id: str) -> str:
    return f"Queued event with dag_id: `{dag_id}` and asset_id: `{asset_id}` was not found"


def _refused(found: "QuerySet[ReceivedKey]", absent: str) -> Response:
    first = found.first()
    if first is None:
        raise NotFound(absent)
    dag_id = first.held_run.dag.dag_id
    raise Conflict(
        f"Events wait for a run together: DELETE /api/v2/dags/{dag_id}/assets/queuedEvents forgets them"
    )
