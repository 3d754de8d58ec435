"""Why has this partition not run? `/api/v2/dags/{dag_id}/explain`."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from partitions_site.api.auth import GROUPED, Address
from partitions_site.api.dags import find_dag
from partitions_site.api.fields import Instant, Text
from partitions_site.api.forms import read_value
from partitions_site.api.held_run_rows import OwedKeyOut
from partitions_site.api.schema import gives
from scheduling.expected import Owed
from scheduling.explain import Explanation, explain
from scheduling.queueing import Hindrance


class UnexpectedOut(serializers.Serializer[Any]):
    asset_name = serializers.CharField()
    partition_keys = serializers.ListField(child=serializers.CharField())


class FactOut(OwedKeyOut):
    """A key that is missing. `partition_key` is empty where any event of the asset will do."""

    asset_name = serializers.SerializerMethodField()

    def get_asset_name(self, owed: Owed) -> str:
        return owed.asset.name if owed.asset else owed.leaf.words()


class HindranceOut(serializers.Serializer[Any]):
    kind = serializers.CharField()
    sentence = serializers.CharField()
    behind = serializers.SerializerMethodField(help_text="The first of the runs that it waits behind")

    def get_behind(self, each: Hindrance) -> list[str]:
        return [run.run_id for run in each.behind]


class RoundOut(serializers.Serializer[Any]):
    held_run_id = serializers.IntegerField(source="pk")
    round = serializers.IntegerField()
    state = serializers.CharField()
    opened_at = Instant()
    closed_at = Instant(allow_null=True)
    closed_by = serializers.CharField()
    dag_run_id = serializers.CharField(source="run.run_id", default=None, allow_null=True)


class PastRunOut(serializers.Serializer[Any]):
    dag_run_id = serializers.CharField(source="run_id")
    run_type = serializers.CharField()
    state = serializers.CharField()
    queued_at = Instant()
    end_date = Instant(source="ended_at", allow_null=True)
    error = serializers.CharField()


class MappingProblemOut(serializers.Serializer[Any]):
    asset_name = serializers.CharField(source="event.asset.name")
    partition_key = serializers.CharField(source="event.partition_key", allow_null=True)
    kind = serializers.CharField()
    sentence = serializers.CharField()


class OpenBackfillOut(serializers.Serializer[Any]):
    backfill_id = serializers.IntegerField(source="target.backfill_id")
    state = serializers.CharField()
    reason = serializers.CharField()


class ExplanationOut(serializers.Serializer[Any]):
    """`facts` are the fewest that let it run; `outcome` says what happens when they have come."""

    dag_id = serializers.CharField(source="dag.dag_id")
    partition_key = serializers.SerializerMethodField()
    standing = serializers.CharField()
    sentence = serializers.CharField()
    verdict = serializers.CharField(source="verdict.kind", default=None, allow_null=True)
    facts = FactOut(many=True)
    unexpected = serializers.SerializerMethodField(help_text="Keys that came, map here and are not required")
    outcome = serializers.CharField()
    fires = serializers.BooleanField(help_text="It becomes a queued run at once when the facts have come")
    comes_at = Instant(allow_null=True, help_text="When its next tick is")
    hindrances = HindranceOut(many=True)
    held_run_id = serializers.IntegerField(source="held.pk", default=None, allow_null=True)
    rounds = RoundOut(many=True)
    dag_runs = PastRunOut(source="runs", many=True)
    mapping_problems = MappingProblemOut(source="problems", many=True)
    backfills = OpenBackfillOut(many=True)

    @extend_schema_field(UnexpectedOut(many=True))
    def get_unexpected(self, explanation: Explanation) -> list[dict[str, object]]:
        return [{"asset_name": name, "partition_keys": list(keys)} for name, keys in explanation.unexpected]

    def get_partition_key(self, explanation: Any) -> str | None:
        return explanation.key or None


class Explain(Address):
    """`/api/v2/dags/{dag_id}/explain`."""

    within = GROUPED

    @extend_schema(
        operation_id="explain_partition",
        summary="Why has this partition not run?",
        parameters=[
            OpenApiParameter("partition_key", str, description="None for a Dag whose runs have no key")
        ],
        responses=gives(ExplanationOut, refusals=(400, 404, 422)),
    )
    def get(self, request: Request, dag_id: str) -> Response:
        dag, given = find_dag(request, dag_id), request.query_params.get("partition_key")
        key = None if given is None else read_value(Text(), given, ["query", "partition_key"])
        return Response(ExplanationOut(explain(dag, key, now=timezone.now())).data)
