"""What is known of an asset's partitions: `/api/v2/assets/{asset_id}/partitions`."""

from typing import Any

from django.db.models import Q
from django.http import QueryDict
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import Partition
from partitions_site.api import dimensions, partition_counts, partition_ranges
from partitions_site.api.assets import find_asset
from partitions_site.api.auth import GROUPED, Address, deed
from partitions_site.api.errors import Invalid, Unprocessable, problem
from partitions_site.api.fields import Flag, Instant, JsonObject, PartitionKey
from partitions_site.api.filters import AnyOf, Pattern, Prefix, Range, When
from partitions_site.api.forms import read_value, row_id
from partitions_site.api.pages import Listing
from partitions_site.api.schema import gives
from scheduling import wiping
from scheduling.masking import masked


class PartitionOut(serializers.Serializer[Any]):
    partition_key = serializers.CharField(source="key")
    partition_date = Instant(allow_null=True)
    state = serializers.CharField(help_text="materialized, failed, running or missing")
    is_stale = serializers.BooleanField()
    data_at = Instant(allow_null=True, help_text="When it last came to have data")
    last_attempt = serializers.SerializerMethodField()
    last_event_id = serializers.IntegerField(allow_null=True)
    dag_id = serializers.CharField(source="attempt_run.dag.dag_id", default=None, allow_null=True)
    dag_run_id = serializers.CharField(source="attempt_run.run_id", default=None, allow_null=True)
    extra = serializers.SerializerMethodField()
    updated_at = Instant()

    def get_last_attempt(self, row: Partition) -> str | None:
        return row.attempt or None

    @extend_schema_field(JsonObject())
    def get_extra(self, row: Partition) -> Any:
        return masked(row.extra)


class WipedOut(serializers.Serializer[Any]):
    partition_keys = serializers.ListField(child=serializers.CharField(), help_text="Those that had data")


RANGES_WORDS = (
    "Ranges of neighbours that look alike instead of rows, with partitions that are expected and were never "
    "seen. `state` may then be stale or held, too; dates narrow nothing"
)

NO_ROWS = (
    "A partition that is missing has no row: ask for its ranges (ranges=true&state=missing) or its count "
    "(summary=true)"
)

PARTITIONS = Listing(
    noun="partitions",
    out=PartitionOut,
    orders={
        "partition_key": "key",
        "partition_date": "partition_date",
        "data_at": "data_at",
        "updated_at": "updated_at",
        "state": "state",
    },
    filters=[
        AnyOf("state", "state", {name: (name,) for name in Partition.State.values}),
        AnyOf("partition_key", "key"),
        Pattern("partition_key", "key", alternatives=False),
        Prefix("partition_key", "key", alternatives=False),
        Range("partition_date", "partition_date"),
        Range("updated_at", "updated_at"),
        When("is_stale", lambda is_stale: Q(is_stale=is_stale)),
    ],
    default=("key",),
    bounded=True,
    parameters=[
        dimensions.DIMENSION,
        OpenApiParameter("summary", bool, default=False, description=partition_counts.WORDS),
        OpenApiParameter("ranges", bool, default=False, description=RANGES_WORDS),
    ],
)


class AssetPartitions(Address):
    """`/api/v2/assets/{asset_id}/partitions`."""

    within = GROUPED
    needs = {"DELETE": "core.delete_partition"}

    @PARTITIONS.described(
        "get_asset_partitions",
        "State of each partition that was seen",
        refusals=(404,),
        also=(partition_counts.CountsOut, partition_ranges.RangesOut),
    )
    def get(self, request: Request, asset_id: str) -> Response:
        query, asset = request.query_params, find_asset(request, row_id("asset_id", asset_id))
        if _flag(query, "ranges"):
            return Response(partition_ranges.answered(asset, query))
        rows = Partition.objects.filter(dimensions.asked_for(asset, query).narrowed(), asset=asset)
        if _flag(query, "summary"):
            narrowed = rows.filter(PARTITIONS.narrowed(query))
            return Response(partition_counts.answered(asset, query) or partition_counts.of_rows(narrowed))
        if Partition.State.MISSING in query.getlist("state"):
            raise Unprocessable(NO_ROWS)
        return PARTITIONS.answer(request, rows.select_related("attempt_run__dag"))

    @extend_schema(
        operation_id="wipe_asset_partitions",
        summary="Say that partitions have no data any more; their events and runs stay",
        description="Open held runs no longer count them. All of them are wiped, or none.",
        parameters=[OpenApiParameter("partition_key", str, many=True, required=True)],
        responses=gives(WipedOut, refusals=(404, 422)),
    )
    def delete(self, request: Request, asset_id: str) -> Response:
        asset = find_asset(request, row_id("asset_id", asset_id))
        given = request.query_params.getlist("partition_key")
        if not given:
            raise Invalid([problem("missing", ["query", "partition_key"], "Field required")])
        keys = [read_value(PartitionKey(), key, ["query", "partition_key"]) for key in given]
        wiped = wiping.wipe(asset, keys, deed=deed(request), at=timezone.now())
        return Response(WipedOut({"partition_keys": wiped}).data)


def _flag(query: QueryDict, name: str) -> bool:
    found: bool = read_value(Flag(), query.get(name, "false"), ["query", name])
    return found
