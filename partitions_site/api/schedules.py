"""How a Dag listens, read and changed: `/api/v2/dags/{dag_id}/schedule`."""

import re
from collections.abc import Sequence
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import Dag
from partitions_site import grants
from partitions_site.api.auth import GROUPED, Address, deed
from partitions_site.api.dags import find_dag
from partitions_site.api.errors import Invalid, problem
from partitions_site.api.fields import Instant, JsonObject, Text, Whole
from partitions_site.api.forms import Form, read_body
from partitions_site.api.schema import gives
from scheduling import configuration
from scheduling.algebra.errors import InvalidDefinition

CHANGE = "core.change_scheduleoverride"
STEPS = re.compile(r"[^.\[\]]+|\[\d+\]")


class DefinitionProblemOut(serializers.Serializer[Any]):
    code = serializers.CharField()
    level = serializers.CharField(help_text="`error`: it can never work so; `warning`: it may surprise")
    sentence = serializers.CharField()


class FindingOut(serializers.Serializer[Any]):
    severity = serializers.CharField(help_text="`error`, `warning`, or `unknown`: it cannot be told")
    sentence = serializers.CharField()
    assets = serializers.SerializerMethodField()

    def get_assets(self, finding: Any) -> list[str]:
        return [leaf.words() for leaf in finding.assets]


class ScheduleChangeOut(serializers.Serializer[Any]):
    event = serializers.CharField()
    by = serializers.CharField()
    via = serializers.CharField()
    at = Instant()
    reason = serializers.CharField()
    revision = serializers.IntegerField(allow_null=True)
    was = JsonObject(allow_null=True)
    now = JsonObject(allow_null=True)


class ScheduleOut(serializers.Serializer[Any]):
    """How a Dag listens, and who says so."""

    dag_id = serializers.CharField()
    revision = serializers.IntegerField(help_text="Also in the `ETag`; a change says which it is about")
    schedule = JsonObject(allow_null=True, help_text="The spec that counts; null: only by hand")
    origin = serializers.ChoiceField(choices=["code", "override"])
    code = JsonObject(allow_null=True, help_text="What its file says")
    overridden_by = serializers.CharField(allow_null=True)
    overridden_at = Instant(allow_null=True)
    reason = serializers.CharField(allow_null=True)
    is_changeable = serializers.BooleanField(help_text="Whether it listens to assets at all")
    problems = DefinitionProblemOut(many=True)
    agreement = FindingOut(many=True)
    history = ScheduleChangeOut(many=True, help_text="The last changes that the journal holds, newest first")


class ScheduleIn(Form):
    schedule = JsonObject(allow_null=True, help_text="A spec with its `type`; null: back to its file")
    reason = Text(max_length=1000, help_text="Kept in the journal")
    revision = Whole(required=False, help_text="The revision that was seen; or say it in `If-Match`")


class Schedule(Address):
    """`/api/v2/dags/{dag_id}/schedule`."""

    within = GROUPED
    needs = {"PUT": CHANGE}

    @extend_schema(
        operation_id="get_dag_schedule",
        summary="How a Dag listens, who says so, and what is wrong with it",
        responses=gives(ScheduleOut, refusals=(404,)),
    )
    def get(self, request: Request, dag_id: str) -> Response:
        return _told(find_dag(request, dag_id))

    @extend_schema(
        operation_id="put_dag_schedule",
        summary="Let a Dag listen otherwise than its file says",
        description="What is held is filed anew in the same transaction; what may fire then, fires. "
        "409 says what somebody else has changed since the revision that was seen.",
        parameters=[OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, description="Its `ETag`")],
        request=ScheduleIn,
        responses=gives(ScheduleOut, refusals=(400, 404, 409, 413, 415, 422)),
    )
    def put(self, request: Request, dag_id: str) -> Response:
        body = read_body(ScheduleIn, request)
        dag, revision = find_dag(request, dag_id), _revision(request, body)
        if not body["reason"].strip():
            raise Invalid([problem("missing", ["body", "reason"], "Say why", body["reason"])])
        check_listening(request, dag, body["schedule"])
        said, at = deed(request, body["reason"].strip()), timezone.now()
        try:
            if body["schedule"] is None:
                configuration.back_to_code(dag, deed=said, at=at, revision=revision)
            else:
                configuration.change_schedule(dag, body["schedule"], deed=said, at=at, revision=revision)
        except InvalidDefinition as refusal:
            raise misfit(refusal, body["schedule"]) from None
        return _told(find_dag(request, dag_id))


def check_listening(request: Request, dag: Dag, spec: object) -> None:
    """:raises PermissionDenied: for a spec that names an asset which whoever asks is not shown."""
    try:
        grants.check_schedule(request.user, dag, spec)
    except InvalidDefinition as refusal:
        raise misfit(refusal, spec) from None


def misfit(refusal: InvalidDefinition, given: object) -> Invalid:
    return Invalid([problem("definition", ["body", "schedule", *_steps(refusal.path)], str(refusal), given)])


def _told(dag: Dag) -> Response:
    response = Response(ScheduleOut(configuration.told(dag)).data)
    response.headers["ETag"] = f'"{dag.revision}"'
    return response


def _revision(request: Request, body: dict[str, Any]) -> int:
    if (seen := body.get("revision")) is not None:
        return int(seen)
    match = re.fullmatch(r'(?:W/)?"?([0-9]{1,18})"?', request.headers.get("If-Match", ""))
    if match is None:
        sentence = "Say which revision this is about, here or in If-Match"
        raise Invalid([problem("missing", ["body", "revision"], sentence, body.get("revision"))])
    return int(match[1])


def _steps(path: str) -> Sequence[str | int]:
    return [int(each[1:-1]) if each[0] == "[" else each for each in STEPS.findall(path)]
