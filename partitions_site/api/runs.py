"""Dag runs as they are asked for, written, listed and found."""

import re
from datetime import timedelta
from typing import Any

from django.db.models import DateTimeField, DurationField, ExpressionWrapper, F, Q, QuerySet, Value
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from core.models import Asset, DagRun, HeldRun
from partitions_site.api import wire
from partitions_site.api.auth import check_may, sight_of
from partitions_site.api.errors import BadRequest, Invalid, problem
from partitions_site.api.fields import Always, Decimal, Extra, Flag, Instant, JsonObject, OneOf, RowId, Text
from partitions_site.api.filters import AnyOf, Pattern, Prefix, Range, When
from partitions_site.api.forms import Form, read_body, read_value
from partitions_site.api.pages import Listing
from partitions_site.api.shown import as_shown
from scheduling import runs
from scheduling.belonging import Sight
from scheduling.masking import masked

ALL_DAGS = "~"
RUN_ID = re.compile(r"[A-Za-z0-9_.~:+-]{1,250}")
NOTE_LENGTH = 1000
STATES = ["queued", "success", "failed"]
MOST_RUNS = 1000
"""How many runs one request may change."""

BOTH_OR_NONE = (
    "Value error, Either both data_interval_start and data_interval_end must be provided or both must be None"
)


class RunIn(Form):
    """A run to make. What is left out is null. `settle_held`, ours: does it settle a held run of its key?"""

    dag_run_id = Text(required=False, allow_null=True)
    partition_key = Text(required=False, allow_null=True)
    logical_date = Instant(
        required=False, allow_null=True, help_text="Read and not kept: runs are dated by their key"
    )
    data_interval_start = Instant(required=False, allow_null=True)
    data_interval_end = Instant(required=False, allow_null=True)
    run_after = Instant(required=False, allow_null=True)
    conf = Extra(required=False, allow_null=True)
    note = Text(required=False, allow_null=True, max_length=NOTE_LENGTH)
    settle_held = Flag(required=False, default=True)


class RunRefIn(Form):
    """A run that exists, and what to change about it."""

    dag_run_id = Text()
    dag_id = Text(required=False, allow_null=True)
    state = OneOf(choices=STATES, required=False, allow_null=True)
    note = Text(required=False, allow_null=True, max_length=NOTE_LENGTH)


class RunOut(serializers.Serializer[Any]):
    dag_run_id = serializers.CharField(source="run_id")
    dag_id = serializers.CharField(source="dag.dag_id")
    logical_date = Always(None)
    queued_at = Instant()
    start_date = Instant(source="started_at", allow_null=True)
    end_date = Instant(source="ended_at", allow_null=True)
    duration = serializers.SerializerMethodField()
    data_interval_start = Always(None)
    data_interval_end = Always(None)
    run_after = Instant()
    last_scheduling_decision = serializers.SerializerMethodField()
    run_type = serializers.SerializerMethodField()
    state = serializers.SerializerMethodField()
    detailed_state = serializers.CharField(source="state", help_text="Ours: also `cancelled` and `skipped`")
    triggered_by = serializers.SerializerMethodField()
    triggering_user_name = serializers.SerializerMethodField()
    conf = serializers.SerializerMethodField()
    note = serializers.SerializerMethodField()
    dag_versions = serializers.SerializerMethodField()
    bundle_version = Always(None)
    dag_display_name = serializers.CharField(source="dag.dag_id")
    partition_key = serializers.CharField(allow_null=True)
    partition_date = Instant(allow_null=True)
    error = serializers.CharField(help_text="Ours: why it failed, at the last attempt if it is tried again")
    attempt = serializers.IntegerField(help_text="Ours: how often it was started")
    failures = serializers.IntegerField(help_text="Ours: how many attempts failed and were tried again")

    def get_duration(self, run: DagRun) -> float | None:
        return wire.duration(run)

    @extend_schema_field(Instant(allow_null=True))
    def get_last_scheduling_decision(self, run: DagRun) -> Any:
        return Instant().to_representation(run.updated_at) if run.started_at else None

    def get_run_type(self, run: DagRun) -> str:
        return wire.run_type(run)

    def get_state(self, run: DagRun) -> str:
        return wire.state(run)

    def get_triggered_by(self, run: DagRun) -> str | None:
        return wire.triggered_by(run)

    def get_triggering_user_name(self, run: DagRun) -> str | None:
        return run.created_by or None

    @extend_schema_field(JsonObject())
    def get_conf(self, run: DagRun) -> Any:
        return masked(run.conf)

    def get_note(self, run: DagRun) -> str | None:
        return run.note or None

    @extend_schema_field(wire.DagVersionOut(many=True))
    def get_dag_versions(self, run: DagRun) -> Any:
        return wire.versions(run.dag)


def fed_by(pattern: str) -> Q:
    assets = Asset.objects.filter(Q(name__like=f"%{pattern}%") | Q(uri__like=f"%{pattern}%"))
    return Q(pk__in=HeldRun.objects.filter(consumed__event__asset__in=assets).values("run_id"))


def of_versions(numbers: list[str]) -> Q:
    return Q(dag__revision__in=[read_value(RowId(), each, ["query", "dag_version"]) for each in numbers])


CONF_WORDS = "No run is found by it whose `conf` may name a secret, also within a value: that is not shown"

LONGEST = 1e10
"""Seconds, some three hundred years: no run took longer, and no database keeps spans without end."""


def length_of(seconds: float) -> timedelta:
    """So many seconds; of absurd ones as many as mean the same for any run."""
    return timedelta(seconds=max(-LONGEST, min(LONGEST, seconds)))


RUNS = Listing(
    noun="dag_runs",
    out=RunOut,
    orders={
        "id": "id",
        "state": "state",
        "dag_id": "dag__dag_id",
        "run_id": "run_id",
        "dag_run_id": "run_id",
        "logical_date": "logical_date",
        "partition_date": "partition_date",
        "run_after": "run_after",
        "start_date": "started_at",
        "end_date": "ended_at",
        "updated_at": "updated_at",
        "conf": "conf_text",
        "duration": "duration",
    },
    filters=[
        Range("run_after", "run_after"),
        Range("logical_date", "logical_date"),
        Range("start_date", "started_at"),
        Range("end_date", "ended_at"),
        Range("updated_at", "updated_at"),
        Range("duration", "duration", Decimal, length_of),
        When("conf_contains", lambda text: Q(conf_text__like=f"%{text}%"), Text, words=CONF_WORDS),
        AnyOf("run_type", wire.of_types, {name: (name,) for name in wire.RUN_TYPES}),
        AnyOf("state", wire.in_states, wire.RUN_STATES),
        AnyOf("dag_version", of_versions),
        When("bundle_version", lambda version: Q(pk__in=[]), Text, words="There are no bundles: nothing"),
        Pattern("run_id", "run_id"),
        Prefix("run_id", "run_id"),
        Pattern("triggering_user_name", "created_by"),
        Prefix("triggering_user_name", "created_by"),
        Pattern("dag_id", "dag__dag_id"),
        Prefix("dag_id", "dag__dag_id"),
        Pattern("partition_key", "partition_key", alternatives=False),
        Prefix("partition_key", "partition_key", alternatives=False),
        When("consuming_asset_pattern", fed_by, Text),
    ],
    cursors=True,
    parameters=[
        OpenApiParameter(f"partition_date_{end}", str, description="A day in the zone of the Dag's timetable")
        for end in ("gte", "lte")
    ],
)


class RunsOut(serializers.Serializer[Any]):
    dag_runs = RunOut(many=True)
    total_entries = serializers.IntegerField()


def listed(sight: Sight) -> "QuerySet[DagRun]":
    """The runs that are shown, with all that lists of them are narrowed and ordered by."""
    duration = ExpressionWrapper(F("ended_at") - F("started_at"), output_field=DurationField())
    no_date = Value(None, output_field=DateTimeField(null=True))
    shown = DagRun.objects.filter(sight.dags("dag")).select_related("dag")
    rows = shown.annotate(duration=duration, logical_date=no_date)
    return rows.alias(conf_text=as_shown("conf"))


def find_run(request: Request, dag_id: str, run_id: str) -> DagRun:
    """The run that a request is about.

    :raises NotFound: if the Dag has no such run, or is not shown to whoever asks.
    :raises PermissionDenied: if they may not do with it what they ask.
    """
    shown = DagRun.objects.filter(sight_of(request).dags("dag")).select_related("dag")
    run = shown.filter(dag__dag_id=dag_id, run_id=run_id).first()
    if run is None:
        raise NotFound(f"The DagRun with dag_id: `{dag_id}` and run_id: `{run_id}` was not found")
    check_may(request, run)
    return run


def read_ask(request: Request) -> runs.Ask:
    """What the body of `request` asks to be triggered.

    :raises Invalid: if it does not fit.
    :raises BadRequest: for a run id that no address could carry.
    """
    asked = {name: value for name, value in read_body(RunIn, request).items() if value is not None}
    if ("data_interval_start" in asked) != ("data_interval_end" in asked):
        raise Invalid([problem("value_error", ["body"], BOTH_OR_NONE, request.data)])
    run_id = asked.get("dag_run_id")
    if run_id is not None and not RUN_ID.fullmatch(run_id):
        raise BadRequest(
            f"dag_run_id {run_id!r} may have letters, digits and _ . ~ : + - only, up to 250 of them"
        )
    return runs.Ask(
        partition_key=asked.get("partition_key"),
        conf=asked.get("conf", {}),
        run_id=run_id,
        note=asked.get("note", ""),
        run_after=asked.get("run_after"),
        settle_held=asked["settle_held"],
    )
