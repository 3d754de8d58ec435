"""What a Dag makes of keys, and what another schedule would: `/api/v2/dags/{dag_id}/mapping/preview`."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import Dag
from partitions_site.api.auth import A_READ, GROUPED, Address, check_may, may, sight_of
from partitions_site.api.dags import find_dag
from partitions_site.api.fields import Instant, JsonObject, PartitionKey, Text
from partitions_site.api.forms import Form, read_body
from partitions_site.api.schedules import CHANGE, DefinitionProblemOut, check_listening, misfit
from partitions_site.api.schema import gives
from scheduling import configuration
from scheduling.algebra.errors import InvalidDefinition
from scheduling.configuration.previewing import Some
from scheduling.configuration.trying import MOST_KEYS


class MappingPreviewIn(Form):
    keys = serializers.ListField(
        child=PartitionKey(),
        required=False,
        max_length=MOST_KEYS,
        help_text="Of upstream; none: recent ones",
    )
    asset = Text(required=False, default="", help_text="Their asset; none: each that it listens to")
    schedule = JsonObject(required=False, help_text="A spec to try; needs the right to change it")


class NeededKeysOut(serializers.Serializer[Any]):
    key = serializers.CharField()
    required_count = serializers.IntegerField(
        source="required.count", allow_null=True, help_text="Null: any one key is enough"
    )
    required_keys = serializers.ListField(
        source="required.first", child=serializers.CharField(), help_text="The first of them"
    )
    problem = serializers.CharField()
    not_counted = serializers.CharField(help_text="Why the key that is tried is none of them, if it is not")


class TriedKeyOut(serializers.Serializer[Any]):
    asset_name = serializers.CharField(source="asset")
    key = serializers.CharField()
    downstream_count = serializers.IntegerField(source="count")
    downstream = NeededKeysOut(many=True, help_text="The first of them")
    problem = serializers.CharField()


class SomeKeysOut(serializers.Serializer[Any]):
    total_entries = serializers.IntegerField(source="count")
    keys = serializers.ListField(source="first", child=serializers.CharField(), help_text="The first of them")


class MoveOut(serializers.Serializer[Any]):
    key = serializers.CharField()
    to = serializers.ListField(child=serializers.CharField())


class SomeMovesOut(serializers.Serializer[Any]):
    total_entries = serializers.IntegerField(source="count")
    moves = MoveOut(source="first", many=True)


class LostKeyOut(serializers.Serializer[Any]):
    asset_name = serializers.CharField(source="asset")
    key = serializers.CharField()
    reason = serializers.CharField()


class SomeLostOut(serializers.Serializer[Any]):
    total_entries = serializers.IntegerField(source="count")
    keys = LostKeyOut(source="first", many=True)


class SettlingOut(serializers.Serializer[Any]):
    key = serializers.CharField()
    until = Instant()


class SomeSettlingOut(serializers.Serializer[Any]):
    total_entries = serializers.IntegerField(source="count")
    keys = serializers.SerializerMethodField(help_text="The first of them")

    @extend_schema_field(SettlingOut(many=True))
    def get_keys(self, some: Some[tuple[str, datetime]]) -> Any:
        return SettlingOut([{"key": key, "until": until} for key, until in some.first], many=True).data


class EffectOut(serializers.Serializer[Any]):
    """What would become of held runs. All are counted, the first hundred of each named."""

    held = serializers.IntegerField(help_text="Open now")
    moves = SomeMovesOut(help_text="What they have received would count for another key")
    opens = SomeKeysOut()
    fires = SomeKeysOut(help_text="Would become runs at once")
    closes = SomeKeysOut(help_text="Would be superseded: nothing that came counts for them")
    ends = SomeKeysOut(help_text="Would be cancelled: their deadline has passed")
    lost = SomeLostOut(help_text="Upstream keys that would not count any more")
    regained = SomeKeysOut(help_text="Upstream keys that could not be mapped, and could be then")
    settles = SomeSettlingOut(help_text="Would fire at that time, if nothing more comes until then")


class ElsewhereOut(serializers.Serializer[Any]):
    dag_id = serializers.CharField()
    sentence = serializers.CharField()


class ProposalOut(serializers.Serializer[Any]):
    """What saving the proposed schedule would do."""

    schedule = serializers.JSONField(source="spec", help_text="As it would be written")
    differences = serializers.SerializerMethodField()
    problems = DefinitionProblemOut(many=True)
    elsewhere = serializers.SerializerMethodField(help_text="New problems of Dags that it feeds")
    counted_keys = serializers.IntegerField(source="counted", help_text="Keys that are held now")
    effect = EffectOut(allow_null=True, help_text="Null: so much is held that telling would take too long")

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_differences(self, preview: configuration.Preview) -> list[str]:
        return [each.sentence() for each in preview.differences]

    @extend_schema_field(ElsewhereOut(many=True))
    def get_elsewhere(self, preview: configuration.Preview) -> list[dict[str, str]]:
        return [
            {"dag_id": name, "sentence": found.sentence}
            for name, found in preview.elsewhere
            if name in self.context["dag_ids"]
        ]


class MappingPreviewOut(serializers.Serializer[Any]):
    present = TriedKeyOut(many=True)
    proposed = TriedKeyOut(many=True, allow_null=True)
    change = ProposalOut(allow_null=True)


class MappingPreview(Address):
    """`/api/v2/dags/{dag_id}/mapping/preview`."""

    within = GROUPED
    needs = {"POST": A_READ}

    @extend_schema(
        operation_id="preview_dag_mapping",
        summary="What a Dag makes of keys, and what another schedule would",
        description="Reads only. With `schedule` it also says what saving that would do.",
        request=MappingPreviewIn,
        responses=gives(MappingPreviewOut, refusals=(400, 404, 413, 415, 422)),
    )
    def post(self, request: Request, dag_id: str) -> Response:
        body = read_body(MappingPreviewIn, request)
        dag, proposed = find_dag(request, dag_id), body.get("schedule")
        if proposed is not None:
            if not may(request, CHANGE):
                raise PermissionDenied
            check_may(request, dag, CHANGE)
            check_listening(request, dag, proposed)
        typed, asset = body.get("keys", ()), body["asset"]
        answer: dict[str, Any] = {
            "present": configuration.try_schedule(dag, None, typed, asset=asset),
            "proposed": None,
            "change": None,
        }
        if proposed is not None:
            try:
                answer["proposed"] = configuration.try_schedule(dag, proposed, typed, asset=asset)
                answer["change"] = configuration.preview(dag, proposed, now=timezone.now())
            except InvalidDefinition as refusal:
                raise misfit(refusal, proposed) from None
        fed = Dag.objects.filter(sight_of(request).dags()) if answer["change"] else Dag.objects.none()
        context = {"dag_ids": set(fed.values_list("dag_id", flat=True))}
        return Response(MappingPreviewOut(answer, context=context).data)
