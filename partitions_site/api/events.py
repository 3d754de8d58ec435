"""Asset events: `/api/v2/assets/events`, one at a time as Airflow takes them, or ten thousand."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.db.models import Max, Q
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import AssetEvent, ConsumedEvent, DagRun
from partitions_site.api import wire
from partitions_site.api.assets import find_asset
from partitions_site.api.auth import GROUPED, Address, check_may, deed, sight_of
from partitions_site.api.fields import Always, Extra, Instant, JsonObject, PartitionKey, RowId, Text, Whole
from partitions_site.api.filters import Exactly, Pattern, Prefix, Range, When
from partitions_site.api.forms import Form, read_body, row_id
from partitions_site.api.masking import masked
from partitions_site.api.once import asked_key
from partitions_site.api.pages import Listing
from partitions_site.api.plain import PLAIN, is_plain
from partitions_site.api.schema import gives
from partitions_site.api.together import Together
from scheduling import wiping
from scheduling.belonging import Sight
from scheduling.events import EventReport, Registered, check, register_each, register_events
from scheduling.journal import Deed


class EventIn(Form):
    """An event to report. `access_control` is read and not used: there are no teams here."""

    asset_id = RowId()
    partition_key = PartitionKey(required=False, allow_null=True, default=None)
    extra = Extra(required=False)
    access_control = JsonObject(required=False, allow_null=True)
    idempotency_key = Text(required=False, allow_null=True, default=None, max_length=250)


class CreatedRunOut(serializers.Serializer[Any]):
    run_id = serializers.CharField()
    dag_id = serializers.CharField(source="dag.dag_id")
    logical_date = Always(None)
    start_date = serializers.SerializerMethodField()
    end_date = Instant(source="ended_at", allow_null=True)
    state = serializers.SerializerMethodField()
    data_interval_start = Always(None)
    data_interval_end = Always(None)
    partition_key = serializers.CharField(allow_null=True)
    triggering = serializers.SerializerMethodField()

    @extend_schema_field(Instant())
    def get_start_date(self, run: DagRun) -> Any:
        """Airflow's clients insist on one: that of a run which has not started is when it was queued."""
        return Instant().to_representation(run.started_at or run.queued_at)

    def get_state(self, run: DagRun) -> str:
        return wire.state(run)

    def get_triggering(self, run: DagRun) -> bool:
        return self.context["event_id"] == self.context["triggers"].get(run.pk)


class EventOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    asset_id = serializers.IntegerField()
    uri = serializers.CharField(source="asset.uri")
    name = serializers.CharField(source="asset.name")
    group = serializers.CharField(source="asset.group")
    extra = serializers.SerializerMethodField()
    source_task_id = serializers.SerializerMethodField()
    source_dag_id = serializers.SerializerMethodField()
    source_run_id = serializers.SerializerMethodField()
    source_map_index = Always(-1)
    created_dagruns = serializers.SerializerMethodField()
    timestamp = Instant()
    partition_key = serializers.CharField(allow_null=True)

    @extend_schema_field(JsonObject())
    def get_extra(self, event: AssetEvent) -> Any:
        return masked(event.extra)

    def get_source_task_id(self, event: AssetEvent) -> str | None:
        return event.source_task_id or None

    def get_source_dag_id(self, event: AssetEvent) -> str | None:
        return event.source_run.dag.dag_id if event.source_run else None

    def get_source_run_id(self, event: AssetEvent) -> str | None:
        return event.source_run.run_id if event.source_run else None

    @extend_schema_field(CreatedRunOut(many=True))
    def get_created_dagruns(self, event: AssetEvent) -> Any:
        runs = self.context.get("runs", {}).get(event.pk)
        if not runs:
            return []
        context = {"event_id": event.pk, "triggers": self.context.get("triggers", {})}
        return CreatedRunOut(runs, many=True, context=context).data


NEW_EVENT = EventOut()

EVENTS = Listing(
    noun="asset_events",
    out=EventOut,
    orders={
        "id": "id",
        "timestamp": "timestamp",
        "source_task_id": "source_task_id",
        "source_dag_id": "source_run__dag__dag_id",
        "source_run_id": "source_run__run_id",
        "partition_key": "partition_key",
    },
    filters=[
        Exactly("asset_id", "asset_id", RowId),
        Exactly("source_dag_id", "source_run__dag__dag_id"),
        Exactly("source_task_id", "source_task_id"),
        Exactly("source_run_id", "source_run__run_id"),
        When("source_map_index", lambda index: Q() if index == -1 else Q(pk__in=[]), Whole),
        Exactly("partition_key", "partition_key", words="Exactly this key"),
        Pattern("name", "asset__name"),
        Prefix("name", "asset__name"),
        Pattern("partition_key", "partition_key", alternatives=False),
        Prefix("partition_key", "partition_key", alternatives=False),
        Range("timestamp", "timestamp"),
    ],
    default=("timestamp",),
    cursors=True,
)

RECORD: Together[tuple[EventReport, Deed], Registered] = Together(
    lambda asked: register_each(asked, source=AssetEvent.Source.API, at=timezone.now())
)
"""Records one event; those that come at the same moment are written, and committed, together."""

IDEMPOTENCY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="Repeated with the same key: the first event again",
)


class Events(Address):
    """`/api/v2/assets/events`."""

    within = GROUPED
    needs = {"POST": "core.add_assetevent"}

    @EVENTS.described("get_asset_events", "Asset events")
    def get(self, request: Request) -> Response:
        sight = sight_of(request)
        rows = AssetEvent.objects.filter(sight.assets("asset__")).select_related("asset", "source_run__dag")
        return EVENTS.answer(request, rows, prepare=partial(made_of, sight))

    @extend_schema(
        operation_id="create_asset_event",
        summary="Report an event",
        description="200, as Airflow. With an idempotency key 201, then 200 with the first event.",
        request=EventIn,
        parameters=[IDEMPOTENCY],
        responses=gives(EventOut, refusals=(404, 409, 413, 415, 422)) | {201: EventOut},
    )
    def post(self, request: Request) -> Response:
        given: Any = request.data
        asked = PLAIN | given if is_plain(given) else read_body(EventIn, request)
        name = asked["idempotency_key"] or asked_key(request)
        asset = find_asset(request, asked["asset_id"])
        report = EventReport(asset, asked["partition_key"], kept_extra(asked), name)
        check(report)
        answer = RECORD((report, deed(request)))
        if answer.is_new:  # no run has consumed it
            written = NEW_EVENT.to_representation(answer.event)
        else:
            written = EventOut(answer.event, context=made_of(sight_of(request), [answer.event])).data
        return Response(written, status=201 if name and answer.is_new else 200)


class OneEvent(Address):
    """`/api/v2/assets/events/{event_id}`."""

    within = GROUPED
    needs = {"DELETE": "core.delete_assetevent"}

    @extend_schema(
        operation_id="delete_asset_event",
        summary="Take an event back that no run has consumed",
        description="Its partition is as the event before left it, or without data.",
        responses=gives(None, 204, refusals=(404, 409, 422)),
    )
    def delete(self, request: Request, event_id: str) -> Response:
        shown = AssetEvent.objects.filter(sight_of(request).assets("asset__")).select_related("asset")
        event = shown.filter(pk=row_id("event_id", event_id)).first()
        if event is None:
            raise NotFound(f"The asset event with ID: `{event_id}` was not found")
        check_may(request, event.asset)
        wiping.delete_event(event, deed=deed(request), at=timezone.now())
        return Response(status=204)


def made_of(sight: Sight, events: Iterable[AssetEvent]) -> dict[str, Any]:
    """The runs that consumed `events`, of those shown, and for each of them the last event it consumed."""
    consumed = ConsumedEvent.objects.filter(
        sight.dags("held_run__dag"), event__in=[each.pk for each in events], held_run__run__isnull=False
    )
    runs: dict[int, list[DagRun]] = {}
    held_runs: dict[int, int] = {}
    for row in consumed.select_related("held_run__run__dag").order_by("held_run_id"):
        if run := row.held_run.run:
            runs.setdefault(row.event_id, []).append(run)
            held_runs[row.held_run_id] = run.pk
    last = (
        ConsumedEvent.objects.filter(held_run__in=held_runs)
        .values_list("held_run_id")
        .annotate(Max("event_id"))
    )
    triggers = {held_runs[held_run_id]: event_id for held_run_id, event_id in last} if held_runs else {}
    return {"runs": runs, "triggers": triggers}


def register(reports: list[EventReport], request: Request) -> list[Registered]:
    return register_events(reports, source=AssetEvent.Source.API, deed=deed(request), at=timezone.now())


def kept_extra(asked: dict[str, Any]) -> dict[str, Any]:
    """What is kept of `extra`: no secrets, and, if there was any, a mark that it came by this way."""
    return masked(asked["extra"]) | {"from_rest_api": True} if "extra" in asked else {}
