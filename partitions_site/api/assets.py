"""Assets: `/api/v2/assets`."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from django.db.models import OuterRef, Prefetch, Q, QuerySet, Subquery
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from core.compiled import Compiled, built, columns
from core.models import Asset, AssetEvent, Dag, Dependency, Outlet
from partitions_site.api.auth import GROUPED, OWN, Address, check_may, sight_of
from partitions_site.api.fields import Always, Instant, JsonObject
from partitions_site.api.filters import AnyOf, Pattern, Prefix, When
from partitions_site.api.forms import row_id
from partitions_site.api.pages import Listing
from partitions_site.api.schema import gives
from scheduling.belonging import Sight


class ScheduledDagOut(serializers.Serializer[Any]):
    dag_id = serializers.CharField(source="dag.dag_id")
    created_at = Instant()
    updated_at = Instant(source="dag.updated_at")


class TaskOut(serializers.Serializer[Any]):
    dag_id = serializers.CharField(source="dag.dag_id")
    task_id = serializers.CharField()
    created_at = Instant(source="dag.created_at")
    updated_at = Instant(source="dag.updated_at")


class LastEventOut(serializers.Serializer[Any]):
    id = serializers.IntegerField(allow_null=True)
    timestamp = Instant(allow_null=True)


class AssetOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    uri = serializers.CharField()
    group = serializers.CharField()
    extra = JsonObject()
    created_at = Instant()
    updated_at = Instant()
    scheduled_dags = ScheduledDagOut(source="dependencies", many=True)
    producing_tasks = TaskOut(source="outlets", many=True)
    consuming_tasks = serializers.SerializerMethodField()
    aliases = Always([])
    watchers = Always([])
    last_asset_event = serializers.SerializerMethodField()

    @extend_schema_field(TaskOut(many=True))
    def get_consuming_tasks(self, asset: Asset) -> Any:
        return TaskOut(self.context["readers"].get(asset.name, []), many=True).data

    @extend_schema_field(LastEventOut)
    def get_last_asset_event(self, asset: Asset) -> Any:
        return LastEventOut(self.context["last_events"].get(asset.pk, {"id": None, "timestamp": None})).data


def touched_by(dag_ids: list[str]) -> Q:
    listening = Dependency.objects.filter(dag__dag_id__in=dag_ids).values("asset_id")
    writing = Outlet.objects.filter(dag__dag_id__in=dag_ids).values("asset_id")
    return Q(pk__in=listening) | Q(pk__in=writing)


ASSETS = Listing(
    noun="assets",
    out=AssetOut,
    orders={name: name for name in ("id", "name", "uri", "created_at", "updated_at")},
    filters=[
        Pattern("name", "name"),
        Prefix("name", "name"),
        Pattern("uri", "uri"),
        Prefix("uri", "uri"),
        AnyOf("dag_ids", touched_by, commas=True),
        When("only_active", lambda only: Q(is_active=True) if only else Q(), default="true"),
    ],
)


class Assets(Address):
    """`/api/v2/assets`."""

    within = GROUPED

    @ASSETS.described("get_assets", "Assets")
    def get(self, request: Request) -> Response:
        sight = sight_of(request)
        rows = _with_dags(sight).filter(sight.assets())
        return ASSETS.answer(request, rows, prepare=partial(_beside, sight))


class OneAsset(Address):
    """`/api/v2/assets/{asset_id}`."""

    within = GROUPED

    @extend_schema(
        operation_id="get_asset", summary="One asset", responses=gives(AssetOut, refusals=(404, 422))
    )
    def get(self, request: Request, asset_id: str) -> Response:
        asset = find_asset(request, row_id("asset_id", asset_id), _with_dags(sight_of(request)))
        return Response(AssetOut(asset, context=_beside(sight_of(request), [asset])).data)


class AliasOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    group = serializers.CharField()


ALIASES = Listing(
    noun="asset_aliases",
    out=AliasOut,
    orders={"id": "id", "name": "name"},
    filters=[Pattern("name", "name"), Prefix("name", "name")],
)


class Aliases(Address):
    """`/api/v2/assets/aliases`: there are none here."""

    within = OWN

    @ALIASES.described("get_asset_aliases", "Asset aliases: none")
    def get(self, request: Request) -> Response:
        return ALIASES.answer(request, Asset.objects.none())


class OneAlias(Address):
    """`/api/v2/assets/aliases/{asset_alias_id}`: there is none to be found."""

    within = OWN

    @extend_schema(
        operation_id="get_asset_alias",
        summary="One asset alias: there are none",
        responses=gives(AliasOut, refusals=(404, 422)),
    )
    def get(self, request: Request, asset_alias_id: str) -> Response:
        pk = row_id("asset_alias_id", asset_alias_id)
        raise NotFound(f"The Asset Alias with ID: `{pk}` was not found")


def find_asset(request: Request, pk: int, among: "QuerySet[Asset] | None" = None) -> Asset:
    """The asset that a request is about.

    :raises NotFound: if none has that number, of those that whoever asks is shown.
    :raises PermissionDenied: if they may not do with it what they ask.
    """
    if among is None:
        found = next((built(Asset, row) for row in _ONE(pk)), None)
    else:
        found = among.filter(pk=pk).first()
    if found is None or not sight_of(request).sees(found):
        raise NotFound(f"The Asset with ID: `{pk}` was not found")
    check_may(request, found)
    return found


_ONE = Compiled(lambda pk: Asset.objects.filter(pk=pk).order_by().values_list(*columns(Asset)), -1)


def _with_dags(sight: Sight) -> "QuerySet[Asset]":
    shown = sight.dags("dag")
    listening = (
        Dependency.objects.filter(shown, dag__is_active=True).select_related("dag").order_by("dag__dag_id")
    )
    writing = (
        Outlet.objects.filter(shown, dag__is_active=True)
        .select_related("dag")
        .order_by("dag__dag_id", "task_id")
    )
    wanted = ("asset_id", "dag__dag_id", "dag__created_at", "dag__updated_at")
    latest = AssetEvent.objects.filter(asset=OuterRef("pk")).order_by("-id").values("id")[:1]
    return Asset.objects.annotate(last_event_id=Subquery(latest)).prefetch_related(
        Prefetch("dependencies", listening.only(*wanted, "created_at")),
        Prefetch("outlets", writing.only(*wanted, "task_id")),
    )


def _beside(sight: Sight, assets: list[Asset]) -> dict[str, Any]:
    """Last events, and the tasks that read the assets."""
    ids = [asset.last_event_id for asset in assets]  # type: ignore[attr-defined]
    events = AssetEvent.objects.filter(pk__in=[each for each in ids if each]).values(
        "asset_id", "id", "timestamp"
    )
    readers: dict[str, list[dict[str, Any]]] = {}
    for name, task in _inlets(sight) if assets else ():
        readers.setdefault(name, []).append(task)
    return {"last_events": {event["asset_id"]: event for event in events}, "readers": readers}


def _inlets(sight: Sight) -> Iterator[tuple[str, dict[str, Any]]]:
    dags = Dag.objects.active().filter(sight.dags()).only("dag_id", "tasks", "created_at", "updated_at")
    for dag in dags.order_by("dag_id"):
        for task in dag.tasks:
            for name in task.get("inlets", ()):
                yield name, {"dag": dag, "task_id": task["task_id"]}
