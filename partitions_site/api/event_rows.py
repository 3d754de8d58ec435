"""How an asset event is written in answers, and the list of them."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, Max, OuterRef, Q
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from core.models import AssetEvent, ConsumedEvent, DagRun, MappingProblem
from partitions_site.api import wire
from partitions_site.api.fields import Always, Instant, JsonObject, RowId, Whole
from partitions_site.api.filters import Exactly, Pattern, Prefix, Range, When
from partitions_site.api.pages import Listing
from scheduling.belonging import Sight
from scheduling.masking import masked


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


class NotCountedOut(serializers.Serializer[Any]):
    """A Dag that listens to the asset and cannot count the event."""

    dag_id = serializers.CharField(source="dag.dag_id")
    kind = serializers.CharField(help_text="As in event logs: no key, a key not mapped, or to too many")
    sentence = serializers.CharField()


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
    not_counted = serializers.SerializerMethodField(
        help_text="Dags that could not count it, and why; null: no worker has looked at it yet"
    )

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

    @extend_schema_field(NotCountedOut(many=True, allow_null=True))
    def get_not_counted(self, event: AssetEvent) -> Any:
        found = self.context.get("not_counted", {}).get(event.pk)
        if found is None and event.routed_at is None:
            return None
        return NotCountedOut(found or (), many=True).data


def counted_or_not(is_not_counted: bool) -> Q:
    problem = Q(Exists(MappingProblem.objects.filter(event=OuterRef("pk"))))
    return problem if is_not_counted else ~problem


EVENTS = Listing(
    noun="asset_events",
    out=EventOut,
    orders={
        "id": "id",
        "timestamp": "timestamp",
        "source_task_id": "source_task_id",
        "source_dag_id": "source_run__dag__dag_id",
        "source_run_id": "source_run__run_id",
        "source_map_index": "id",  # the same for all
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
        When("not_counted", counted_or_not, words="Only those that some Dag could not count, or the others"),
    ],
    default=("timestamp",),
    cursors=True,
)


def made_of(sight: Sight, events: Iterable[AssetEvent]) -> dict[str, Any]:
    """What became of `events`, as far as it is shown.

    `runs` that consumed each, with the event that each of those consumed last (`triggers`); Dags that could
    not count it (`not_counted`).
    """
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
    return {"runs": runs, "triggers": triggers, "not_counted": _not_counted(sight, events)}


def _not_counted(sight: Sight, events: Iterable[AssetEvent]) -> dict[int, list[MappingProblem]]:
    problems: dict[int, list[MappingProblem]] = {}
    rows = MappingProblem.objects.filter(sight.dags("dag"), event__in=[each.pk for each in events])
    for row in rows.select_related("dag").order_by("dag__dag_id"):
        problems.setdefault(row.event_id, []).append(row)
    return problems
