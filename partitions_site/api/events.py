"""Asset events: `/api/v2/assets/events`, one at a time as Airflow takes them."""

from contextlib import nullcontext
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import Asset, AssetEvent
from partitions_site.api.assets import find_asset
from partitions_site.api.auth import GROUPED, Address, check_may, deed, sight_of
from partitions_site.api.event_rows import EVENTS, EventOut, made_of
from partitions_site.api.fields import Extra, Flag, JsonObject, PartitionKey, RowId, Text
from partitions_site.api.forms import Form, read_body, read_value, row_id
from partitions_site.api.once import asked_key
from partitions_site.api.plain import PLAIN, is_plain
from partitions_site.api.schema import gives
from partitions_site.together import Together
from scheduling import mapping, wiping
from scheduling.belonging import Sight
from scheduling.events import EventReport, Registered, check, register_each, register_events
from scheduling.idempotency import FROM_REST_API
from scheduling.journal import Deed

NEW_EVENT = EventOut()


class EventIn(Form):
    """An event to report. `access_control` is read and not used: there are no teams here."""

    asset_id = RowId()
    partition_key = PartitionKey(required=False, allow_null=True, default=None)
    extra = Extra(required=False)
    access_control = JsonObject(required=False, allow_null=True)
    idempotency_key = Text(required=False, allow_null=True, default=None, max_length=250)


PATIENCE = 0.005
"""Seconds that an event waits at most for others that are on their way, to be recorded with them."""

RECORD: Together[tuple[EventReport, Deed], Registered] = Together(
    lambda asked: register_each(asked, source=AssetEvent.Source.API, at=timezone.now()), patience=PATIENCE
)
"""Records one event; those that come at the same moment are written, and committed, together."""

IDEMPOTENCY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="Repeated with the same key: the first event again; 422 if it says another thing",
)

CHECK = OpenApiParameter(
    "check",
    bool,
    default=False,
    description="Also say at once, in `not_counted`, which Dags cannot count it, and why",
)


class Events(Address):
    """`/api/v2/assets/events`."""

    within = GROUPED
    needs = {"POST": "core.add_assetevent"}

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with RECORD.coming() if request.method == "POST" else nullcontext():
            return super().dispatch(request, *args, **kwargs)

    @EVENTS.described("get_asset_events", "Asset events")
    def get(self, request: Request) -> Response:
        return EVENTS.answer(request, _shown(request), prepare=partial(made_of, sight_of(request)))

    @extend_schema(
        operation_id="create_asset_event",
        summary="Report an event",
        description="200, as Airflow. With an idempotency key 201, then 200 with the first event.",
        request=EventIn,
        parameters=[IDEMPOTENCY, CHECK],
        responses=gives(EventOut, refusals=(404, 409, 413, 415, 422)) | {201: EventOut},
    )
    def post(self, request: Request) -> Response:
        given: Any = request.data
        asked = PLAIN | given if is_plain(given) else read_body(EventIn, request)
        name = asked["idempotency_key"] or asked_key(request)
        asset = find_asset(request, asked["asset_id"])
        report = report_of(asked, asset, name)
        check(report)
        is_checked = _is_checked(request)
        answer = RECORD((report, deed(request)))
        if answer.is_new and not is_checked:  # nothing has become of it yet
            written = NEW_EVENT.to_representation(answer.event)
        else:
            written = _written(sight_of(request), answer.event, is_checked)
        return Response(written, status=201 if name and answer.is_new else 200)


class OneEvent(Address):
    """`/api/v2/assets/events/{event_id}`."""

    within = GROUPED
    needs = {"DELETE": "core.delete_assetevent"}

    @extend_schema(
        operation_id="get_asset_event",
        summary="One event, and what became of it",
        responses=gives(EventOut, refusals=(404, 422)),
    )
    def get(self, request: Request, event_id: str) -> Response:
        return Response(_written(sight_of(request), _find(request, event_id)))

    @extend_schema(
        operation_id="delete_asset_event",
        summary="Take an event back that no run has consumed",
        description="Its partition is as the event before left it, or without data.",
        responses=gives(None, 204, refusals=(404, 409, 422)),
    )
    def delete(self, request: Request, event_id: str) -> Response:
        event = _find(request, event_id)
        check_may(request, event.asset)
        wiping.delete_event(event, deed=deed(request), at=timezone.now())
        return Response(status=204)


def register(reports: list[EventReport], request: Request) -> list[Registered]:
    return register_events(reports, source=AssetEvent.Source.API, deed=deed(request), at=timezone.now())


def report_of(asked: dict[str, Any], asset: Asset, name: str | None) -> EventReport:
    """What `asked` says of `asset`; an `extra` is kept with a mark that it came by this way."""
    marks = {FROM_REST_API: True} if "extra" in asked else {}
    return EventReport(asset, asked["partition_key"], asked.get("extra", {}), name, marks=marks)


def _shown(request: Request) -> "QuerySet[AssetEvent]":
    rows = AssetEvent.objects.filter(sight_of(request).assets("asset__"))
    # Not joined: SQLite would begin with the asset, and sort all its events for a page of them.
    return rows.prefetch_related("asset", "source_run__dag")


def _find(request: Request, event_id: str) -> AssetEvent:
    event = _shown(request).filter(pk=row_id("event_id", event_id)).first()
    if event is None:
        raise NotFound(f"The asset event with ID: `{event_id}` was not found")
    return event


def _is_checked(request: Request) -> bool:
    given = request.query_params.get("check")
    return given is not None and bool(read_value(Flag(), given, ["query", "check"]))


def _written(sight: Sight, event: AssetEvent, is_checked: bool = False) -> Any:
    """`event` with what became of it; checked: with what would, where nothing has yet."""
    context = made_of(sight, [event])
    if is_checked and event.routed_at is None:
        problems = mapping.refusals([event])
        context["not_counted"] = {event.pk: [each for each in problems if sight.sees(each.dag)]}
    return EventOut(event, context=context).data
