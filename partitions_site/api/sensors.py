"""Sensors: `/api/v2/sensors`, what they found, and what a person may do with them."""

from typing import Any

from django.db.models import Q
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import Sensor, SensorLook
from partitions_site.api.auth import SITE, Address, deed
from partitions_site.api.fields import Flag, Instant, Text
from partitions_site.api.filters import AnyOf, Pattern, Prefix, When
from partitions_site.api.forms import Form, read_body
from partitions_site.api.pages import Listing
from partitions_site.api.schema import gives
from scheduling import configuration, sensors


class SensorOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    description = serializers.CharField()
    every_seconds = serializers.SerializerMethodField(help_text="From one look to the next")
    timeout_seconds = serializers.SerializerMethodField(help_text="How long a look may take")
    is_paused = serializers.BooleanField()
    is_active = serializers.BooleanField(help_text="False if no file defines it any more")
    problem = serializers.CharField(help_text="Why it cannot look at all; empty if it can")
    cursor = serializers.CharField(help_text="Its own note of how far it has seen")
    outcome = serializers.CharField(help_text="Of the last look: `found`, `nothing`, `failed`, or empty")
    sentence = serializers.CharField()
    failures = serializers.IntegerField(help_text="Looks in a row that failed")
    looked_at = Instant(allow_null=True)
    next_look_at = Instant()
    created_at = Instant()
    updated_at = Instant()

    def get_every_seconds(self, row: Sensor) -> float:
        return row.every.total_seconds()

    def get_timeout_seconds(self, row: Sensor) -> float:
        return row.timeout.total_seconds()


class LookOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    at = Instant()
    took_seconds = serializers.SerializerMethodField()
    outcome = serializers.CharField()
    sentence = serializers.CharField()
    error = serializers.CharField(help_text="The traceback, if its code raised")
    cursor = serializers.CharField(help_text="What the cursor was afterwards")

    def get_took_seconds(self, row: SensorLook) -> float:
        return row.took.total_seconds()


class SensorIn(Form):
    """What is left out stays as it is."""

    is_paused = Flag(required=False)
    cursor = Text(required=False)
    reason = Text(required=False, default="")


SENSORS = Listing(
    noun="sensors",
    out=SensorOut,
    orders={"id": "id", "name": "name", "looked_at": "looked_at", "next_look_at": "next_look_at"},
    filters=[
        Pattern("name", "name"),
        Prefix("name", "name"),
        AnyOf("outcome", "outcome"),
        When("paused", lambda paused: Q(is_paused=paused)),
        When("only_active", lambda only: Q(is_active=True) if only else Q(), default="true"),
    ],
    default=("name",),
)

LOOKS = Listing(
    noun="looks",
    out=LookOut,
    orders={"id": "id", "at": "at"},
    filters=[AnyOf("outcome", "outcome")],
    default=("-id",),
    bounded=True,
)


class Sensors(Address):
    """`/api/v2/sensors`."""

    within = SITE

    @SENSORS.described("get_sensors", "Sensors, and what each found last")
    def get(self, request: Request) -> Response:
        return SENSORS.answer(request, Sensor.objects.all())


class OneSensor(Address):
    """`/api/v2/sensors/{name}`."""

    within = SITE
    needs = {"PATCH": "core.change_sensor"}

    @extend_schema(
        operation_id="get_sensor", summary="One sensor", responses=gives(SensorOut, refusals=(404,))
    )
    def get(self, request: Request, name: str) -> Response:
        return Response(SensorOut(_find(name)).data)

    @extend_schema(
        operation_id="patch_sensor",
        summary="Pause it, or set its cursor",
        description="A look that is under way when the cursor is set records nothing.",
        request=SensorIn,
        responses=gives(SensorOut, refusals=(400, 404, 413, 415, 422)),
    )
    def patch(self, request: Request, name: str) -> Response:
        asked, row, now = read_body(SensorIn, request), _find(name), timezone.now()
        by = deed(request, asked["reason"])
        if "cursor" in asked:
            configuration.set_cursor(row, asked["cursor"], deed=by, at=now)
        if "is_paused" in asked:
            configuration.set_sensor_paused(row, asked["is_paused"], deed=by, at=now)
        return Response(SensorOut(row).data)


class LookNow(Address):
    """`/api/v2/sensors/{name}/look`."""

    within = SITE
    needs = {"POST": "core.change_sensor"}

    @extend_schema(
        operation_id="look_now",
        summary="Let it look at once",
        request=None,
        responses=gives(SensorOut, refusals=(404, 409)),
    )
    def post(self, request: Request, name: str) -> Response:
        row = _find(name)
        sensors.look_now(row, deed=deed(request), at=timezone.now())
        return Response(SensorOut(_find(name)).data)


class Looks(Address):
    """`/api/v2/sensors/{name}/looks`."""

    within = SITE

    @LOOKS.described("get_looks", "Its looks that found something or failed, newest first", refusals=(404,))
    def get(self, request: Request, name: str) -> Response:
        return LOOKS.answer(request, _find(name).looks.all())


def _find(name: str) -> Sensor:
    row = Sensor.objects.filter(name=name).first()
    if row is None:
        raise NotFound(f"The Sensor with name: `{name}` was not found")
    return row
