"""Pools: `/api/v2/pools`, in the shape that Airflow's clients know."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import Pool
from partitions_site.api.auth import SITE, Address, deed
from partitions_site.api.errors import BadRequest
from partitions_site.api.fields import Always, Flag, Text, Whole
from partitions_site.api.filters import Pattern, Prefix
from partitions_site.api.forms import Form, read_body
from partitions_site.api.pages import Listing
from partitions_site.api.schema import gives
from scheduling.configuration import pools
from scheduling.pool_slots import Use, use_of


class PoolOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    slots = serializers.IntegerField()
    description = serializers.CharField()
    include_deferred = Always(False)
    occupied_slots = serializers.SerializerMethodField(
        help_text="Taken by runs; more than `slots` if it shrank"
    )
    running_slots = serializers.SerializerMethodField()
    open_slots = serializers.SerializerMethodField()
    queued_slots = serializers.SerializerMethodField(help_text="What the runs that wait in it will take")
    scheduled_slots = Always(0)
    deferred_slots = Always(0)

    def get_occupied_slots(self, pool: Pool) -> int:
        return self._use(pool).taken

    def get_running_slots(self, pool: Pool) -> int:
        return self._use(pool).taken

    def get_open_slots(self, pool: Pool) -> int:
        return max(0, pool.slots - self._use(pool).taken)

    def get_queued_slots(self, pool: Pool) -> int:
        return self._use(pool).wanted

    def _use(self, pool: Pool) -> Use:
        found: Use = self.context["use"][pool.pk]
        return found


class _PoolForm(Form):
    """What Airflow's clients send besides is read and not kept."""

    include_deferred = Flag(required=False, allow_null=True)
    team_name = Text(required=False, allow_null=True)


class PoolIn(_PoolForm):
    name = Text()
    slots = Whole(min_value=0)
    description = Text(required=False, default="", allow_null=True)


class PoolChangeIn(_PoolForm):
    """What is left out, or null, stays as it is."""

    pool = Text(required=False, allow_null=True, help_text="Its name, which cannot be changed")
    slots = Whole(min_value=0, required=False, allow_null=True)
    description = Text(required=False, allow_null=True)


UPDATE_MASK = OpenApiParameter(
    "update_mask", str, many=True, description="What of the body to change: `slots`, `description`"
)

POOLS = Listing(
    noun="pools",
    out=PoolOut,
    orders={"id": "id", "name": "name", "slots": "slots"},
    filters=[Pattern("pool_name", "name"), Prefix("pool_name", "name")],
)


class Pools(Address):
    """`/api/v2/pools`."""

    within = SITE
    needs = {"POST": "core.add_pool"}

    @POOLS.described("get_pools", "Pools, and how full they are")
    def get(self, request: Request) -> Response:
        return POOLS.answer(request, Pool.objects.all(), prepare=_used)

    @extend_schema(
        operation_id="post_pool",
        summary="Make a pool",
        request=PoolIn,
        responses=gives(PoolOut, 201, refusals=(400, 409, 413, 415, 422)),
    )
    def post(self, request: Request) -> Response:
        asked = read_body(PoolIn, request)
        pool = pools.make(
            asked["name"],
            asked["slots"],
            description=asked["description"] or "",
            deed=deed(request),
            at=timezone.now(),
        )
        return _answer(pool, status.HTTP_201_CREATED)


class OnePool(Address):
    """`/api/v2/pools/{pool_name}`."""

    within = SITE
    needs = {"PATCH": "core.change_pool", "DELETE": "core.delete_pool"}

    @extend_schema(operation_id="get_pool", summary="One pool", responses=gives(PoolOut, refusals=(404, 422)))
    def get(self, request: Request, pool_name: str) -> Response:
        return _answer(_find(pool_name))

    @extend_schema(
        operation_id="patch_pool",
        summary="Change its slots or description",
        description="0 slots close it. Runs that have slots keep them to their end.",
        request=PoolChangeIn,
        parameters=[UPDATE_MASK],
        responses=gives(PoolOut, refusals=(400, 404, 413, 415, 422)),
    )
    def patch(self, request: Request, pool_name: str) -> Response:
        given, pool = read_body(PoolChangeIn, request), _find(pool_name)
        mask = request.query_params.getlist("update_mask")
        asked = {name: value for name, value in given.items() if not mask or name in mask}
        if given.get("pool") not in (None, pool.name):
            raise BadRequest("Invalid body, pool name from request body doesn't match uri parameter")
        pools.change(
            pool,
            slots=asked.get("slots"),
            description=asked.get("description"),
            deed=deed(request),
            at=timezone.now(),
        )
        return _answer(pool)

    @extend_schema(
        operation_id="delete_pool",
        summary="Take it away",
        description="Refused while a Dag names it.",
        responses=gives(None, 204, refusals=(404, 409)),
    )
    def delete(self, request: Request, pool_name: str) -> Response:
        pools.delete(_find(pool_name), deed=deed(request), at=timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)


def _used(rows: Sequence[Pool]) -> dict[str, Any]:
    return {"use": use_of(rows)}


def _answer(pool: Pool, code: int = status.HTTP_200_OK) -> Response:
    return Response(PoolOut(pool, context=_used([pool])).data, status=code)


def _find(name: str) -> Pool:
    pool = Pool.objects.filter(name=name).first()
    if pool is None:
        raise NotFound(f"The Pool with name: `{name}` was not found")
    return pool
