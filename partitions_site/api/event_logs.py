"""The journal, as Airflow lists its audit log: `/api/v2/eventLogs`."""

import json
from typing import Any

from django.db.models import Q, QuerySet, TextField, Value
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import JournalEntry
from partitions_site.api.auth import GROUPED, Address, sight_of
from partitions_site.api.fields import Always, Instant, Text, Whole
from partitions_site.api.filters import AnyOf, Exactly, Pattern, Prefix, When
from partitions_site.api.forms import row_id
from partitions_site.api.pages import Listing
from partitions_site.api.schema import gives
from partitions_site.api.shown import as_shown
from scheduling.belonging import Sight
from scheduling.journal import RUN_RETRIED
from scheduling.masking import masked

AIRFLOW_NAMES = {
    "asset event recorded": "create_asset_event",
    "asset events recorded": "create_asset_event",
    "run triggered": "trigger_dag_run",
    "dag paused": "patch_dag",
    "dag unpaused": "patch_dag",
    RUN_RETRIED: "clear_dag_run",
    "run cancelled": "patch_dag_run",
    "run marked": "patch_dag_run",
    "run note changed": "patch_dag_run",
    "run deleted": "delete_dag_run",
    "backfill started": "create_backfill",
    "backfill paused": "pause_backfill",
    "backfill resumed": "unpause_backfill",
    "backfill cancelled": "cancel_backfill",
}
"""What the audit log of Airflow calls these deeds; all others keep the name that the journal gives them."""

ENGINE = "engine"


class EventLogOut(serializers.Serializer[Any]):
    event_log_id = serializers.IntegerField(source="pk")
    when = Instant(source="at")
    dag_id = serializers.SerializerMethodField()
    task_id = Always(None)
    run_id = serializers.SerializerMethodField()
    map_index = Always(None)
    try_number = Always(None)
    event = serializers.SerializerMethodField()
    logical_date = Always(None)
    owner = serializers.SerializerMethodField()
    extra = serializers.SerializerMethodField()
    dag_display_name = serializers.SerializerMethodField(method_name="get_dag_id")
    task_display_name = Always(None)
    request_id = serializers.SerializerMethodField(help_text="Ours: the `X-Request-ID` it was done under")

    def get_dag_id(self, entry: JournalEntry) -> str | None:
        return entry.dag_id or None

    def get_run_id(self, entry: JournalEntry) -> str | None:
        return entry.run_id or None

    def get_request_id(self, entry: JournalEntry) -> str | None:
        return entry.request_id or None

    def get_event(self, entry: JournalEntry) -> str:
        return AIRFLOW_NAMES.get(entry.event, entry.event)

    def get_owner(self, entry: JournalEntry) -> str | None:
        return None if entry.by == ENGINE else entry.by

    def get_extra(self, entry: JournalEntry) -> str:
        """A sentence if the journal has one; otherwise all else that it says, as JSON in a string."""
        if "sentence" in entry.extra:
            return str(entry.extra["sentence"])
        own = {
            "deed": entry.event,
            "asset": entry.asset_name,
            "partition_key": entry.partition_key,
            "reason": entry.reason,
            "via": entry.via,
        }
        return json.dumps(masked({name: each for name, each in own.items() if each} | entry.extra))


def logged(sight: Sight) -> "QuerySet[JournalEntry]":
    """Entries that are shown; what else they say also as text, which has an order. None names a task."""
    shown = JournalEntry.objects.filter(sight.entries())
    no_task = Value(None, output_field=TextField(null=True))
    return shown.annotate(extra_text=as_shown("extra")).alias(task_id=no_task)


def _named(events: list[str]) -> Q:
    own = [ours for ours, theirs in AIRFLOW_NAMES.items() if theirs in events]
    return Q(event__in=[*own, *events])


LOGS = Listing(
    noun="event_logs",
    out=EventLogOut,
    orders={
        "id": "id",
        "event_log_id": "id",
        "when": "at",
        "dttm": "at",
        "dag_id": "dag_id",
        "run_id": "run_id",
        "event": "event",
        "owner": "by",
        "extra": "extra_text",
        # What no entry has leaves the order to the number, which goes the same way.
        "task_id": "id",
        "logical_date": "id",
    },
    filters=[
        Exactly("dag_id", "dag_id"),
        Exactly("run_id", "run_id"),
        Exactly("owner", "by"),
        Exactly("request_id", "request_id"),
        Exactly("task_id", "task_id", words="No entry names a task"),
        When("map_index", lambda index: Q(pk__in=[]), Whole),
        When("try_number", lambda number: Q(pk__in=[]), Whole),
        When("event", lambda event: _named([event]), Text),
        AnyOf("included_events", _named),
        AnyOf("excluded_events", lambda events: ~_named(events)),
        When("before", lambda at: Q(at__lt=at), Instant),
        When("after", lambda at: Q(at__gt=at), Instant),
        *(
            each(name, column)
            for name, column in {
                "dag_id": "dag_id",
                "run_id": "run_id",
                "task_id": "task_id",
                "owner": "by",
                "event": "event",
            }.items()
            for each in (Pattern, Prefix)
        ),
    ],
    cursors=True,
)


class EventLogs(Address):
    """`/api/v2/eventLogs`."""

    within = GROUPED

    @LOGS.described("get_event_logs", "Who did what, when")
    def get(self, request: Request) -> Response:
        return LOGS.answer(request, logged(sight_of(request)))


class OneEventLog(Address):
    """`/api/v2/eventLogs/{event_log_id}`."""

    within = GROUPED

    @extend_schema(
        operation_id="get_event_log", summary="One deed", responses=gives(EventLogOut, refusals=(404, 422))
    )
    def get(self, request: Request, event_log_id: str) -> Response:
        shown = JournalEntry.objects.filter(sight_of(request).entries())
        entry = shown.filter(pk=row_id("event_log_id", event_log_id)).first()
        if entry is None:
            raise NotFound(f"The Event Log with id: `{event_log_id}` not found")
        return Response(EventLogOut(entry).data)
