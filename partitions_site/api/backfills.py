"""Backfills: `/api/v2/backfills`, as Airflow's clients know them, with what each partition came to."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import Backfill
from partitions_site.api.auth import GROUPED, Address, check_may, deed, sight_of
from partitions_site.api.backfill_asks import BackfillIn, check_free, check_reach, read_ask, started
from partitions_site.api.backfill_rows import BACKFILLS, PARTITIONS, BackfillOut, beside
from partitions_site.api.errors import Conflict, Invalid, problem
from partitions_site.api.fields import Flag, Text, Whole
from partitions_site.api.forms import Form, read_body, row_id
from partitions_site.api.once import HEADER, once
from partitions_site.api.schema import gives
from scheduling import backfills
from scheduling.backfills import reading

OVER = "Backfill is already completed."


class RetryIn(Form):
    and_cancelled = Flag(required=False, default=False, help_text="What was cancelled as well")
    reason = Text(required=False, default="")


class LimitIn(Form):
    max_active_runs = Whole(min_value=1, max_value=10_000)
    reason = Text(required=False, default="")


class Backfills(Address):
    """`/api/v2/backfills`."""

    within = GROUPED
    needs = {"POST": "core.add_backfill"}

    @BACKFILLS.described("list_backfills", "Backfills of a Dag")
    def get(self, request: Request) -> Response:
        if "dag_id" not in request.query_params:
            raise Invalid([problem("missing", ["query", "dag_id"], "Field required")])
        return BACKFILLS.answer(request, _shown(request), prepare=beside)

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
        return BACKFILLS.answer(request, _shown(request), prepare=beside)


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


def _answer(row: Backfill) -> Response:
    row.refresh_from_db()
    return Response(BackfillOut(row, context=beside([row])).data)
