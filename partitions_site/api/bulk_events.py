"""Ten thousand events in one request: `/api/v2/assets/events/bulk`."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import Asset
from partitions_site.api.auth import GROUPED, Address, sight_of
from partitions_site.api.errors import Invalid, problem
from partitions_site.api.events import EventIn, register, report_of
from partitions_site.api.forms import read
from partitions_site.api.once import HEADER, once
from partitions_site.api.parsing import JsonBody, NdjsonBody
from partitions_site.api.plain import PLAIN, is_plain
from partitions_site.api.schema import gives

REPORT = "core.add_assetevent"
MOST_EVENTS = 10_000
"""How many events one request may report."""


class BulkOut(serializers.Serializer[Any]):
    created = serializers.IntegerField(help_text="Events that are on record now and were not before")
    repeated = serializers.IntegerField(help_text="Events whose idempotency key was on record before")
    event_ids = serializers.ListField(
        child=serializers.IntegerField(), help_text="One for each event, in order"
    )


class BulkEvents(Address):
    """`/api/v2/assets/events/bulk`: all of them are recorded, or none."""

    within = GROUPED
    needs = {"POST": REPORT}
    parser_classes = (JsonBody, NdjsonBody)

    @extend_schema(
        operation_id="create_asset_events_in_bulk",
        summary=f"Report up to {MOST_EVENTS} events, all or none",
        request={
            "application/json": EventIn(many=True),
            "application/x-ndjson": EventIn,
        },
        parameters=[HEADER],
        responses=gives(BulkOut, refusals=(409, 413, 415, 422)),
    )
    @once
    def post(self, request: Request) -> Response:
        asked = _read_many(request)
        assets = _assets_of(request, asked)
        reports = [report_of(each, assets[each["asset_id"]], each["idempotency_key"]) for each in asked]
        answers = register(reports, request)
        created = sum(answer.is_new for answer in answers)
        ids = [answer.event.pk for answer in answers]
        return Response({"created": created, "repeated": len(ids) - created, "event_ids": ids})


def _read_many(request: Request) -> list[dict[str, Any]]:
    """The events of a bulk request.

    :raises Invalid: with what is wrong with each of them.
    """
    given = request.data
    if not isinstance(given, list):
        raise Invalid([problem("list_type", ["body"], "Input should be a valid list")])
    if not 0 < len(given) <= MOST_EVENTS:
        words = f"List should have 1 to {MOST_EVENTS} items, not {len(given)}"
        raise Invalid([problem("too_long" if given else "too_short", ["body"], words)])
    if all(map(is_plain, given)):
        return [PLAIN | each for each in given]
    many: list[dict[str, Any]] = read(EventIn(data=given, many=True), ["body"])
    return many


def _assets_of(request: Request, asked: list[dict[str, Any]]) -> dict[int, Asset]:
    """:raises Invalid: with each event whose asset there is not, or of which they may not report."""
    shown = Asset.objects.filter(sight_of(request).assets())
    assets = shown.in_bulk({each["asset_id"] for each in asked})
    absent = [(index, each["asset_id"]) for index, each in enumerate(asked) if each["asset_id"] not in assets]
    if absent:
        words = "The Asset with ID: `{}` was not found"
        raise Invalid(
            problem("not_found", ["body", index, "asset_id"], words.format(pk), pk) for index, pk in absent
        )
    theirs = {pk for pk, asset in assets.items() if not request.user.has_perm(REPORT, asset)}
    if theirs:
        raise Invalid(
            problem("forbidden", ["body", index, "asset_id"], "Forbidden", each["asset_id"])
            for index, each in enumerate(asked)
            if each["asset_id"] in theirs
        )
    return assets
