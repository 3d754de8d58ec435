"""Keys of dynamic partitions: `/api/v2/partitionsDefinitions/{name}/keys`."""

from typing import Any

from django.db.models import Q
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import DynamicKey
from partitions_site import grants
from partitions_site.api.auth import GROUPED, Address, deed, sight_of
from partitions_site.api.errors import Invalid, problem
from partitions_site.api.fields import Instant, PartitionKey, Text
from partitions_site.api.filters import AnyOf, Pattern, Prefix, Range, When
from partitions_site.api.forms import Form, read_body, read_value
from partitions_site.api.pages import Listing
from partitions_site.api.schema import gives
from scheduling import dynamic
from scheduling.belonging import groups_of_partitions

MOST_KEYS = 10_000
"""Keys that one request may add or remove."""


class DynamicKeyOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    partition_key = serializers.CharField(source="key")
    added_at = Instant()
    added_by = serializers.CharField()
    removed_at = Instant(allow_null=True)
    removed_by = serializers.SerializerMethodField()

    def get_removed_by(self, row: DynamicKey) -> str | None:
        return row.removed_by or None


class KeysIn(Form):
    partition_keys = serializers.ListField(child=PartitionKey(), min_length=1, max_length=MOST_KEYS)
    reason = Text(required=False, default="")


class KeysOut(serializers.Serializer[Any]):
    partition_keys = serializers.ListField(
        child=serializers.CharField(), help_text="Those that were really added or removed"
    )
    total_entries = serializers.IntegerField(help_text="How many keys there are now")


def _removed(with_removed: bool) -> Q:
    return Q() if with_removed else Q(removed_at=None)


KEYS = Listing(
    noun="keys",
    out=DynamicKeyOut,
    orders={"id": "id", "partition_key": "key", "added_at": "added_at", "removed_at": "removed_at"},
    filters=[
        AnyOf("partition_key", "key"),
        Pattern("partition_key", "key", alternatives=False),
        Prefix("partition_key", "key", alternatives=False),
        Range("added_at", "added_at"),
        When("with_removed", _removed, default="false", words="Those that were removed as well"),
    ],
    bounded=True,
)


class Keys(Address):
    """`/api/v2/partitionsDefinitions/{name}/keys`."""

    within = GROUPED
    needs = {"POST": "core.add_dynamickey", "DELETE": "core.change_dynamickey"}

    @KEYS.described("get_dynamic_keys", "Keys of dynamic partitions, oldest first", refusals=(404,))
    def get(self, request: Request, name: str) -> Response:
        return KEYS.answer(request, DynamicKey.objects.filter(name=_known(request, name)))

    @extend_schema(
        operation_id="add_dynamic_keys",
        summary="Add keys",
        description="Keys that are there already stay as they are.",
        request=KeysIn,
        responses=gives(KeysOut, refusals=(400, 404, 413, 415, 422)),
    )
    def post(self, request: Request, name: str) -> Response:
        asked = read_body(KeysIn, request)
        added = dynamic.add(
            _known(request, name),
            asked["partition_keys"],
            deed=deed(request, asked["reason"]),
            at=timezone.now(),
        )
        return _answer(name, added)

    @extend_schema(
        operation_id="remove_dynamic_keys",
        summary="Remove keys; their events, runs and states stay",
        parameters=[OpenApiParameter("partition_key", str, many=True, required=True)],
        responses=gives(KeysOut, refusals=(404, 422)),
    )
    def delete(self, request: Request, name: str) -> Response:
        given = request.query_params.getlist("partition_key")
        if not given:
            raise Invalid([problem("missing", ["query", "partition_key"], "Field required")])
        keys = [read_value(PartitionKey(), key, ["query", "partition_key"]) for key in given]
        removed = dynamic.remove(_known(request, name), keys, deed=deed(request), at=timezone.now())
        return _answer(name, removed)


def _known(request: Request, name: str) -> str:
    """The name of the partitions that a request is about.

    :raises NotFound: if no asset that whoever asks is shown has such partitions, and none ever had.
    :raises PermissionDenied: if they may not do with them what they ask.
    """
    groups = sight_of(request).groups
    hidden = groups is not None and not groups & groups_of_partitions(name)
    if hidden or (name not in dynamic.names() and not DynamicKey.objects.filter(name=name).exists()):
        raise NotFound(f"No dynamic partitions are called `{name}`")
    right = Keys.needs.get(request.method or "")
    if right and not grants.may_with_partitions(request.user, right, name):
        raise PermissionDenied
    return name


def _answer(name: str, keys: list[str]) -> Response:
    total = DynamicKey.objects.there().filter(name=name).count()
    return Response(KeysOut({"partition_keys": keys, "total_entries": total}).data)
