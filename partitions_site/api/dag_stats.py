"""How many runs of each Dag are in which state: `/api/v2/dagStats`."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core import counting
from core.models import Dag, DagRun
from partitions_site.api import wire
from partitions_site.api.auth import GROUPED, Address, sight_of
from partitions_site.api.filters import AnyOf
from partitions_site.api.pages import Listing


class StateCountOut(serializers.Serializer[Any]):
    state = serializers.CharField()
    count = serializers.IntegerField()


class DagStatsOut(serializers.Serializer[Any]):
    dag_id = serializers.CharField()
    dag_display_name = serializers.CharField(source="dag_id")
    stats = serializers.SerializerMethodField()

    @extend_schema_field(StateCountOut(many=True))
    def get_stats(self, dag: Dag) -> list[dict[str, Any]]:
        counts = self.context["counts"]
        return [
            {"state": name, "count": sum(counts.get((dag.pk, each), 0) for each in wire.RUN_STATES[name])}
            for name in ("queued", "running", "success", "failed")
        ]


STATS = Listing(
    noun="dags",
    out=DagStatsOut,
    orders={"dag_id": "dag_id"},
    filters=[AnyOf("dag_ids", "dag_id", commas=True)],
    default=("dag_id",),
)


class DagStats(Address):
    """`/api/v2/dagStats`."""

    within = GROUPED

    @STATS.described("get_dag_stats", "Runs of each Dag by state")
    def get(self, request: Request) -> Response:
        return STATS.answer(request, Dag.objects.active().filter(sight_of(request).dags()), prepare=_counted)


def _counted(dags: list[Dag]) -> dict[str, Any]:
    return {"counts": counting.of_each(DagRun.objects.filter(dag__in=dags), "dag_id", "state")}
