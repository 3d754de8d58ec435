"""How a held run is written in answers, and the list of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Q
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import serializers

from core.models import Asset, Dependency, HeldRun
from partitions_site.api.fields import Instant
from partitions_site.api.filters import AnyOf, Exactly, Pattern, Prefix, Range, When
from partitions_site.api.pages import Listing
from scheduling import holds, overdue
from scheduling.algebra import specs
from scheduling.algebra.progress import Progress
from scheduling.algebra.verdicts import Verdict
from scheduling.expected import Owed

OWED = 100
"""Missing keys of one asset of which it is told who owes them."""


class OwedKeyOut(serializers.Serializer[Any]):
    """A key that is not there, when it was expected, and who owes it."""

    partition_key = serializers.CharField(source="key")
    expected_at = Instant(source="expected.at", allow_null=True, help_text="Null where nobody knows")
    expected_by = serializers.CharField(source="expected.words", help_text="What the time comes from, or why")
    owed_by = serializers.SerializerMethodField(help_text="The Dags that write the asset")
    sensors = serializers.SerializerMethodField(help_text="Those that report it, where no Dag writes it")
    last_dag_run_id = serializers.CharField(source="attempt.run_id", default=None, allow_null=True)
    last_dag_run_state = serializers.CharField(source="attempt.state", default=None, allow_null=True)
    held_run_id = serializers.IntegerField(source="held.pk", default=None, allow_null=True)

    def get_owed_by(self, owed: Owed) -> list[str]:
        return [dag.dag_id for dag in owed.dags]

    def get_sensors(self, owed: Owed) -> list[str]:
        return [sensor.name for sensor in owed.sensors]


class WaitingAssetOut(serializers.Serializer[Any]):
    """How far one asset of a held run is."""

    asset_id = serializers.IntegerField(allow_null=True)
    asset_name = serializers.CharField()
    asset_uri = serializers.CharField()
    is_satisfied = serializers.BooleanField()
    is_rollup = serializers.BooleanField(help_text="False: any one key that maps here is enough")
    sentence = serializers.CharField()
    required_count = serializers.IntegerField()
    received_count = serializers.IntegerField()
    required_keys = serializers.ListField(child=serializers.CharField())
    received_keys = serializers.ListField(child=serializers.CharField())
    missing_keys = serializers.ListField(child=serializers.CharField())
    missing = OwedKeyOut(many=True, help_text="The first of them with who owes them; also keys that will do")
    unexpected_keys = serializers.ListField(child=serializers.CharField())
    asset_inactive = serializers.BooleanField()
    error = serializers.CharField()


class HeldRunOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    dag_id = serializers.CharField(source="dag.dag_id")
    partition_key = serializers.SerializerMethodField()
    partition_date = Instant(allow_null=True)
    round = serializers.IntegerField()
    state = serializers.CharField()
    verdict = serializers.SerializerMethodField()
    sentence = serializers.SerializerMethodField()
    required_count = serializers.IntegerField()
    received_count = serializers.IntegerField()
    missing_count = serializers.SerializerMethodField()
    opened_at = Instant()
    last_event_at = Instant()
    age_seconds = serializers.SerializerMethodField()
    is_late = serializers.SerializerMethodField(help_text="A key that it needs should have come by now")
    late_at = Instant(allow_null=True, help_text="When it is late if nothing more comes; null: not known")
    expected_at = serializers.SerializerMethodField(
        help_text="When the first of the missing keys was expected; judged anew only"
    )
    owed_by = serializers.SerializerMethodField(help_text="The Dags that owe that key; judged anew only")
    closed_at = Instant(allow_null=True)
    closed_by = serializers.SerializerMethodField()
    dag_run_id = serializers.CharField(source="run.run_id", default=None, allow_null=True)
    assets = serializers.SerializerMethodField(help_text="In a list null, unless `keys=true` asks for them")

    def get_partition_key(self, row: HeldRun) -> str | None:
        return row.partition_key or None

    def get_verdict(self, row: HeldRun) -> str | None:
        verdict = self._verdict(row)
        return str(verdict.kind if verdict else row.verdict) if row.state == HeldRun.State.HELD else None

    def get_sentence(self, row: HeldRun) -> str:
        verdict = self._verdict(row)
        return verdict.sentence if verdict else row.sentence

    def get_missing_count(self, row: HeldRun) -> int:
        return max(0, row.required_count - row.received_count)

    def get_age_seconds(self, row: HeldRun) -> int:
        return int(((row.closed_at or self.context["now"]) - row.opened_at).total_seconds())

    def get_is_late(self, row: HeldRun) -> bool:
        is_open = row.state == HeldRun.State.HELD
        return bool(is_open and row.late_at and row.late_at <= self.context["now"])

    @extend_schema_field(serializers.DateTimeField(allow_null=True))
    def get_expected_at(self, row: HeldRun) -> Any:
        first = self._first(row)
        return Instant().to_representation(first.expected.at) if first and first.expected.at else None

    def get_owed_by(self, row: HeldRun) -> list[str]:
        first = self._first(row)
        return [dag.dag_id for dag in first.dags] if first else []

    def get_closed_by(self, row: HeldRun) -> str | None:
        return row.closed_by or None

    @extend_schema_field(WaitingAssetOut(many=True, allow_null=True))
    def get_assets(self, row: HeldRun) -> Any:
        return waiting_assets(row, self.context) if self._verdict(row) else None

    def _first(self, row: HeldRun) -> Owed | None:
        """Of the keys that it lacks, the one that was expected first."""
        owed: list[Owed] = self.context.get("owed", {}).get(row.pk, [])
        known = [each for each in owed if each.expected.at]
        return min(known, key=lambda each: each.expected.at, default=owed[0] if owed else None)

    def _verdict(self, row: HeldRun) -> Verdict | None:
        found: Verdict | None = self.context.get("verdicts", {}).get(row.pk)
        return found


def waiting_for(names: list[str]) -> Q:
    listening = Dependency.objects.filter(asset__name__in=names).values("dag_id")
    return Q(dag__in=listening)


def late_or_not(is_late: bool) -> Q:
    late = Q(state=HeldRun.State.HELD, late_at__lte=timezone.now())
    return late if is_late else ~late


HELD_RUNS = Listing(
    noun="held_runs",
    out=HeldRunOut,
    orders={
        "id": "id",
        "dag_id": "dag__dag_id",
        "partition_key": "partition_key",
        "partition_date": "partition_date",
        "verdict": "verdict",
        "opened_at": "opened_at",
        "last_event_at": "last_event_at",
        "received_count": "received_count",
        "late_at": "late_at",
    },
    filters=[
        AnyOf("state", "state", {name: (name,) for name in HeldRun.State.values}, fallback=("held",)),
        AnyOf("verdict", "verdict"),
        AnyOf("dag_id", "dag__dag_id"),
        Pattern("dag_id", "dag__dag_id"),
        AnyOf("asset_name", waiting_for),
        When("is_late", lambda is_late: late_or_not(is_late)),
        Exactly("partition_key", "partition_key"),
        Pattern("partition_key", "partition_key", alternatives=False),
        Prefix("partition_key", "partition_key", alternatives=False),
        Range("partition_date", "partition_date"),
        Range("opened_at", "opened_at"),
        Range("last_event_at", "last_event_at"),
    ],
    bounded=True,
    parameters=[
        OpenApiParameter("keys", bool, default=False, description="Judge each anew, with keys per asset")
    ],
)


def judged(rows: Sequence[HeldRun]) -> dict[str, Any]:
    """The verdict on each open row as things stand; the number of queries does not grow with the rows."""
    now = timezone.now()
    verdicts = holds.assess(rows, now=now)
    dependencies = Dependency.objects.filter(dag__in={row.dag_id for row in rows}, asset__isnull=False)
    assets: dict[int, dict[Any, Asset]] = {row.dag_id: {} for row in rows}
    for each in dependencies.select_related("asset"):
        if each.asset:
            assets[each.dag_id][specs.load(each.leaf, "condition")] = each.asset
    owed = overdue.owed([row for row in rows if row.state == HeldRun.State.HELD], verdicts, most=OWED)
    return {"now": now, "verdicts": verdicts, "assets": assets, "owed": owed}


def waiting_assets(row: HeldRun, context: Mapping[str, Any]) -> list[dict[str, Any]]:
    """How far each asset of `row` is, from what `judged` gave."""
    leaves, owed = context["assets"][row.dag_id], context["owed"].get(row.pk, [])
    return [
        _progress(each, leaves.get(each.leaf), [key for key in owed if key.leaf == each.leaf])
        for each in context["verdicts"][row.pk].progress
    ]


def _progress(each: Progress, asset: Asset | None, owed: Sequence[Owed]) -> dict[str, Any]:
    return {
        "asset_id": asset.pk if asset else None,
        "asset_name": asset.name if asset else each.leaf.words(),
        "asset_uri": asset.uri if asset else "",
        "is_satisfied": each.satisfied,
        "is_rollup": each.required is not None,
        "sentence": each.sentence(),
        "required_count": each.required_count,
        "received_count": each.received_count,
        "required_keys": list(each.required or ()),
        "received_keys": list(each.received),
        "missing_keys": list(each.missing),
        "missing": OwedKeyOut(owed, many=True).data,
        "unexpected_keys": list(each.unexpected),
        "error": each.error,
        "asset_inactive": asset is None or not asset.is_active,
    }
