"""How a backfill and what became of its keys are written in answers, and the lists of both."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Q
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from core.models import Backfill, BackfillPartition, BackfillTarget
from partitions_site.api.fields import Instant, JsonObject, Text
from partitions_site.api.filters import AnyOf, Pattern, Prefix, When
from partitions_site.api.pages import Listing
from scheduling.backfills import reading
from scheduling.masking import masked

EVERY_DAG = "~"


class BackfillOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    dag_id = serializers.SerializerMethodField()
    from_date = serializers.SerializerMethodField()
    to_date = serializers.SerializerMethodField()
    dag_run_conf = serializers.SerializerMethodField()
    is_paused = serializers.BooleanField()
    reprocess_behavior = serializers.CharField(source="reprocess")
    max_active_runs = serializers.IntegerField()
    created_at = Instant()
    completed_at = serializers.SerializerMethodField(help_text="When it was completed, or cancelled")
    updated_at = Instant()
    dag_display_name = serializers.SerializerMethodField(method_name="get_dag_id")
    dag_ids = serializers.SerializerMethodField(help_text="All its Dags, upstream first")
    title = serializers.CharField()
    keys = serializers.CharField(source="words", help_text="Which keys were asked for, in words")
    status = serializers.SerializerMethodField(
        help_text="running, paused, cancelling, cancelled, failed or done"
    )
    partitions = serializers.SerializerMethodField(
        help_text="`planned` = `done` + `failed` + `skipped` + `cancelled` + `open` at every moment"
    )
    run_backwards = serializers.SerializerMethodField()
    chained = serializers.BooleanField(source="is_chained")
    keys_per_run = serializers.IntegerField(allow_null=True)
    created_by = serializers.CharField()

    def get_dag_id(self, row: Backfill) -> str:
        return str(row.asked["dags"][0])

    @extend_schema_field(Instant())
    def get_from_date(self, row: Backfill) -> Any:
        return Instant().to_representation(row.from_date or row.created_at)

    @extend_schema_field(Instant())
    def get_to_date(self, row: Backfill) -> Any:
        return Instant().to_representation(row.to_date or row.created_at)

    @extend_schema_field(JsonObject(allow_null=True))
    def get_dag_run_conf(self, row: Backfill) -> Any:
        return masked(row.conf) or None

    @extend_schema_field(Instant(allow_null=True))
    def get_completed_at(self, row: Backfill) -> Any:
        ended = row.completed_at or row.cancelled_at
        return Instant().to_representation(ended) if ended else None

    def get_dag_ids(self, row: Backfill) -> list[str]:
        return [dag.dag_id for dag in self.context["dags"][row.pk]]

    def get_status(self, row: Backfill) -> str:
        return reading.status_of(row, self.context["progress"][row.pk])

    def get_partitions(self, row: Backfill) -> dict[str, int]:
        progress = self.context["progress"][row.pk]
        names = ("planned", "done", "failed", "skipped", "cancelled", "open")
        return {name: getattr(progress, name) for name in names}

    def get_run_backwards(self, row: Backfill) -> bool:
        return row.order == Backfill.Order.NEWEST


class BackfillPartitionOut(serializers.Serializer[Any]):
    """What one key of a backfill came to."""

    id = serializers.IntegerField()
    dag_id = serializers.CharField(source="target.dag.dag_id")
    partition_key = serializers.CharField(source="key")
    position = serializers.IntegerField()
    state = serializers.CharField()
    reason = serializers.CharField(help_text="Why it was skipped, is blocked or has failed")
    dag_run_id = serializers.CharField(source="run.run_id", default=None, allow_null=True)


def of_dag(dag_id: str) -> Q:
    targets = BackfillTarget.objects.filter(dag__dag_id=dag_id).values("backfill_id")
    return Q() if dag_id == EVERY_DAG else Q(pk__in=targets)


def active_or_not(active: bool) -> Q:
    is_open = Q(completed_at=None, cancelled_at=None)
    return is_open if active else ~is_open


BACKFILLS = Listing(
    noun="backfills",
    out=BackfillOut,
    orders={"id": "id", "created_at": "created_at", "completed_at": "completed_at"},
    filters=[
        When("dag_id", of_dag, Text, words="Backfills of this Dag; ~ for those of all"),
        When("active", active_or_not, words="Only those that go on, or only those that do not"),
    ],
)

PARTITIONS = Listing(
    noun="partitions",
    out=BackfillPartitionOut,
    orders={
        "dag_id": "target_id",
        "position": "position",
        "partition_key": "key",
        "state": "state",
        "id": "id",
    },
    filters=[
        AnyOf("state", "state", {name: (name,) for name in BackfillPartition.State.values}),
        AnyOf("dag_id", "target__dag__dag_id"),
        AnyOf("partition_key", "key"),
        Pattern("partition_key", "key", alternatives=False),
        Prefix("partition_key", "key", alternatives=False),
    ],
    default=("target_id", "position"),
    bounded=True,
)


def beside(rows: Sequence[Backfill]) -> dict[str, Any]:
    return {"progress": reading.progress_of(rows), "dags": reading.dags_of(rows)}
