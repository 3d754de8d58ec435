"""What a backfill would do: `/api/v2/backfills/dry_run`. It writes nothing."""

from collections.abc import Iterator
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import Dag
from partitions_site.api.auth import GROUPED, Address, sight_of
from partitions_site.api.backfill_asks import BackfillIn, check_reach, read_ask
from partitions_site.api.fields import Always, Instant
from partitions_site.api.schema import gives
from scheduling import backfills, runs
from scheduling.algebra.errors import PartitionError
from scheduling.backfills import Part, Plan

MOST_ROWS = 10_000
"""Keys that an answer names; `total_entries` counts all of them."""

MOST_NAMED = 100


class PlannedOut(serializers.Serializer[Any]):
    """A key that would run."""

    logical_date = Always(None)
    dag_id = serializers.CharField()
    partition_key = serializers.CharField()
    partition_date = Instant(allow_null=True)


class ReasonOut(serializers.Serializer[Any]):
    reason = serializers.CharField()
    count = serializers.IntegerField()


class PlanPartOut(serializers.Serializer[Any]):
    """What would run of one Dag; the next one waits for it, key by key, if it listens."""

    dag_id = serializers.CharField(source="dag.dag_id")
    layer = serializers.IntegerField()
    count = serializers.IntegerField()
    first_key = serializers.SerializerMethodField()
    last_key = serializers.SerializerMethodField()
    waiting_count = serializers.SerializerMethodField(help_text="Keys that wait for others of this plan")
    skipped_count = serializers.SerializerMethodField()
    skipped = serializers.SerializerMethodField(help_text="Why keys are left out, and how many")

    def get_first_key(self, part: Part) -> str | None:
        return next(iter(part.keys), None)

    def get_last_key(self, part: Part) -> str | None:
        return next(reversed(part.keys), None)

    def get_waiting_count(self, part: Part) -> int:
        return len(part.waiting)

    def get_skipped_count(self, part: Part) -> int:
        return len(part.skipped)

    def get_skipped(self, part: Part) -> list[dict[str, Any]]:
        return [{"reason": reason, "count": count} for reason, count in part.reasons()]


class OfferOut(serializers.Serializer[Any]):
    """Upstream keys that are missing, and the Dag that `with_upstream` would backfill first."""

    dag_id = serializers.CharField(source="dag.dag_id")
    count = serializers.SerializerMethodField()
    partition_keys = serializers.SerializerMethodField(help_text=f"The first {MOST_NAMED} of them")

    def get_count(self, offer: backfills.Offer) -> int:
        return len(offer.keys)

    def get_partition_keys(self, offer: backfills.Offer) -> list[str]:
        return list(offer.keys[:MOST_NAMED])


class PlanOut(serializers.Serializer[Any]):
    backfills = PlannedOut(many=True, help_text=f"The first {MOST_ROWS} keys that would run")
    total_entries = serializers.IntegerField()
    plan = serializers.CharField(help_text="Names this plan: give it with the request that starts it")
    parts = PlanPartOut(many=True)
    offers = OfferOut(many=True)


class DryRun(Address):
    """`/api/v2/backfills/dry_run`."""

    within = GROUPED
    needs = {"POST": "core.add_backfill"}

    @extend_schema(
        operation_id="create_backfill_dry_run",
        summary="What a backfill would do",
        request=BackfillIn,
        responses=gives(PlanOut, refusals=(400, 404, 409, 413, 415, 422)),
    )
    def post(self, request: Request) -> Response:
        ask, _ = read_ask(request)
        check_reach(request, ask)
        plan, sight = backfills.plan(ask, now=timezone.now()), sight_of(request)
        answer = {
            "backfills": list(_rows(plan)),
            "total_entries": plan.count,
            "plan": plan.token(),
            "parts": plan.parts,
            "offers": [each for each in plan.offers if sight.sees(each.dag)],
        }
        return Response(PlanOut(answer).data)


def _rows(plan: Plan) -> Iterator[dict[str, Any]]:
    for number, (dag, key) in enumerate(plan.pairs()):
        if number == MOST_ROWS:
            return
        yield {"dag_id": dag.dag_id, "partition_key": key, "partition_date": _date(dag, key)}


def _date(dag: Dag, key: str) -> Any:
    try:
        return runs.date_of(dag, key)
    except PartitionError:
        return None
