"""Backfills: `/api/v2/backfills`, as Airflow's clients know them, with what each partition came to."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import Backfill, BackfillPartition, BackfillTarget
from partitions_site.api.auth import GROUPED, Address, check_may, deed, sight_of
from partitions_site.api.backfill_asks import BackfillIn, check_free, check_reach, read_ask, started
from partitions_site.api.errors import Conflict, Invalid, problem
from partitions_site.api.fields import Flag, Form, Instant, JsonObject, Text, Whole, read_body, row_id
from partitions_site.api.filters import AnyOf, Pattern, Prefix, When
from partitions_site.api.masking import masked
from partitions_site.api.once import HEADER, once
from partitions_site.api.pages import Listing
from partitions_site.api.schema import gives
from scheduling import backfills
from scheduling.backfills import reading

EVERY_DAG = "~"
OVER = "Backfill is already completed."


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


class RetryIn(Form):
    and_cancelled = Flag(required=False, default=False, help_text="What was cancelled as well")
    reason = Text(required=False, default="")


class LimitIn(Form):
    max_active_runs = Whole(min_value=1, max_value=10_000)
    reason = Text(required=False, default="")


def _of_dag(dag_id: str) -> Q:
    of_dag = BackfillTarget.objects.filter(dag__dag_id=dag_id).values("backfill_id")
    return Q() if dag_id == EVERY_DAG else Q(pk__in=of_dag)


def _active(active: bool) -> Q:
    is_open = Q(completed_at=None, cancelled_at=None)
    return is_open if active else ~is_open


BACKFILLS = Listing(
    noun="backfills",
    out=BackfillOut,
    orders={"id": "id", "created_at": "created_at", "completed_at": "completed_at"},
    filters=[
        When("dag_id", _of_dag, Text, words="Backfills of this Dag; ~ for those of all"),
        When("active", _active, words="Only those that go on, or only those that do not"),
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


class Backfills(Address):
    """`/api/v2/backfills`."""

    within = GROUPED
    needs = {"POST": "core.add_backfill"}

    @BACKFILLS.described("list_backfills", "Backfills of a Dag")
    def get(self, request: Request) -> Response:
        if "dag_id" not in request.query_params:
            raise Invalid([problem("missing", ["query", "dag_id"], "Field required")])
        return BACKFILLS.answer(request, _shown(request), prepare=_beside)

    @extend_schema(
        operation_id="create_backfill",
        summary="Start a backfill",
        description="With `plan` of a dry run, just that is started, or nothing if it has changed since.",
        request=BackfillIn,
        parameters=[HEADER],
        responses=gives(BackfillOut, refusals=(400, 404, 409, 413, 415, 422)),
    )
    @once
    def post(self, request: Request) -> Response:
        ask, shown = read_ask(request)
        check_free(ask)
        return _answer(
            started(ask, check_reach(request, ask) or shown, deed=deed(request), at=timezone.now())
        )


class BackfillsOfPages(Address):
    """`/ui/backfills`: the same list, of all Dags unless one is named."""

    within = GROUPED

    @BACKFILLS.described("list_backfills_ui", "Backfills, as Airflow's pages list them")
    def get(self, request: Request) -> Response:
        return BACKFILLS.answer(request, _shown(request), prepare=_beside)


class OneBackfill(Address):
    """`/api/v2/backfills/{backfill_id}`."""

    within = GROUPED
    needs = {"PATCH": "core.change_backfill"}

    @extend_schema(
        operation_id="get_backfill", summary="One backfill", responses=gives(BackfillOut, refusals=(404, 422))
    )
    def get(self, request: Request, backfill_id: str) -> Response:
        return _answer(_find(request, backfill_id))

    @extend_schema(
        operation_id="patch_backfill",
        summary="Change how many of its runs may be running",
        request=LimitIn,
        responses=gives(BackfillOut, refusals=(404, 409, 413, 415, 422)),
    )
    def patch(self, request: Request, backfill_id: str) -> Response:
        asked, row = read_body(LimitIn, request), _find(request, backfill_id)
        done = deed(request, asked["reason"])
        backfills.set_limit(row, asked["max_active_runs"], deed=done, at=timezone.now())
        return _answer(_find(request, backfill_id))


class _Deed(Address):
    """One deed done to a backfill by `PUT`, as Airflow has it."""

    within = GROUPED
    needs = {"PUT": "core.change_backfill"}

    def _do(self, request: Request, backfill_id: str, do: Callable[..., object]) -> Response:
        row = _find(request, backfill_id)
        if row.completed_at is not None or row.cancelled_at is not None:
            raise Conflict(OVER)
        do(row, deed=deed(request), at=timezone.now())
        return _answer(_find(request, backfill_id))


def _described(name: str, summary: str) -> Callable[[Any], Any]:
    return extend_schema(
        operation_id=name,
        summary=summary,
        request=None,
        responses=gives(BackfillOut, refusals=(404, 409, 422)),
    )


class PauseBackfill(_Deed):
    """`/api/v2/backfills/{backfill_id}/pause`."""

    @_described("pause_backfill", "Start no more runs of it")
    def put(self, request: Request, backfill_id: str) -> Response:
        return self._do(request, backfill_id, backfills.pause)


class UnpauseBackfill(_Deed):
    """`/api/v2/backfills/{backfill_id}/unpause`."""

    @_described("unpause_backfill", "Let it go on")
    def put(self, request: Request, backfill_id: str) -> Response:
        return self._do(request, backfill_id, backfills.resume)


class CancelBackfill(_Deed):
    """`/api/v2/backfills/{backfill_id}/cancel`."""

    @_described("cancel_backfill", "Start nothing more; running ones finish")
    def put(self, request: Request, backfill_id: str) -> Response:
        return self._do(request, backfill_id, backfills.cancel)


class RetryBackfill(Address):
    """`/api/v2/backfills/{backfill_id}/retry`."""

    within = GROUPED
    needs = {"POST": "core.change_backfill"}

    @extend_schema(
        operation_id="retry_backfill",
        summary="Run again what failed, and what did not run because of it",
        request=RetryIn,
        responses=gives(BackfillOut, refusals=(404, 409, 413, 415, 422)),
    )
    def post(self, request: Request, backfill_id: str) -> Response:
        asked, row = read_body(RetryIn, request), _find(request, backfill_id)
        done = deed(request, asked["reason"])
        backfills.retry_failed(row, deed=done, at=timezone.now(), and_cancelled=asked["and_cancelled"])
        return _answer(_find(request, backfill_id))


class BackfillPartitions(Address):
    """`/api/v2/backfills/{backfill_id}/partitions`."""

    within = GROUPED

    @PARTITIONS.described("get_backfill_partitions", "What each key came to, and why", refusals=(404,))
    def get(self, request: Request, backfill_id: str) -> Response:
        return PARTITIONS.answer(request, reading.partitions(_find(request, backfill_id)))


def _find(request: Request, backfill_id: str) -> Backfill:
    row = _shown(request).filter(pk=row_id("backfill_id", backfill_id)).first()
    if row is None:
        raise NotFound(f"Could not find backfill with id {backfill_id}")
    check_may(request, row)
    return row


def _shown(request: Request) -> "QuerySet[Backfill]":
    return Backfill.objects.filter(sight_of(request).backfills())


def _beside(rows: Sequence[Backfill]) -> dict[str, Any]:
    return {"progress": reading.progress_of(rows), "dags": reading.dags_of(rows)}


def _answer(row: Backfill) -> Response:
    row.refresh_from_db()
    return Response(BackfillOut(row, context=_beside([row])).data)
