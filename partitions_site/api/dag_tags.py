"""Tags of Dags: `/api/v2/dagTags`."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import Dag
from partitions_site.api.auth import GROUPED, Address, sight_of
from partitions_site.api.errors import BadRequest
from partitions_site.api.fields import Text
from partitions_site.api.forms import read_value
from partitions_site.api.pages import LIMIT, MOST_ROWS, SLICE, number
from partitions_site.api.schema import gives

ORDERS = {"name": False, "-name": True}


class TagsOut(serializers.Serializer[Any]):
    tags = serializers.ListField(child=serializers.CharField())
    total_entries = serializers.IntegerField()


class DagTags(Address):
    """`/api/v2/dagTags`."""

    within = GROUPED

    @extend_schema(
        operation_id="get_dag_tags",
        summary="Tags that Dags have",
        parameters=[
            OpenApiParameter("tag_name_pattern", str, description="Contains this, in any case"),
            OpenApiParameter("tag_name_prefix_pattern", str, description="Begins with this"),
            OpenApiParameter("order_by", str, enum=list(ORDERS)),
            *SLICE,
        ],
        responses=gives(TagsOut, refusals=(400, 422)),
    )
    def get(self, request: Request) -> Response:
        query = request.query_params
        order = query.get("order_by", "name")
        if order not in ORDERS:
            raise BadRequest(f"Ordering with '{order}' is disallowed: order by name or -name")
        term, start = _asked(request, "tag_name_pattern"), _asked(request, "tag_name_prefix_pattern")
        rows = Dag.objects.active().filter(sight_of(request).dags()).values_list("tags", flat=True)
        wanted = term.casefold()
        tags = {tag for own in rows for tag in own if wanted in tag.casefold() and tag.startswith(start)}
        offset, limit = number(query, "offset", 0), min(number(query, "limit", LIMIT), MOST_ROWS)
        page = sorted(tags, reverse=ORDERS[order])[offset : offset + limit]
        return Response({"tags": page, "total_entries": len(tags)})


def _asked(request: Request, name: str) -> str:
    """What a pattern asks for, without the marks of Airflow's; empty for any."""
    term: str = read_value(Text(), request.query_params.get(name, "~"), ["query", name])
    return "" if term == "~" else term.strip("%")
