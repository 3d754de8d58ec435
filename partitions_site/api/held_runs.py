"""Held runs: `/api/v2/heldRuns`. Airflow has no such routes; these follow its manner."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import HeldRun
from partitions_site.api.auth import GROUPED, Address, check_may, deed, sight_of
from partitions_site.api.fields import Flag, Text
from partitions_site.api.forms import Form, read_body, read_value, row_id
from partitions_site.api.held_run_rows import HELD_RUNS, HeldRunOut, judged
from partitions_site.api.runs import RunOut
from partitions_site.api.schema import gives
from scheduling import holds


class ReasonIn(Form):
    reason = Text(required=False, default="", max_length=1000, help_text="Kept in the journal")


class HeldRuns(Address):
    """`/api/v2/heldRuns`."""

    within = GROUPED

    @HELD_RUNS.described("get_held_runs", "Held runs: what waits, and for what")
    def get(self, request: Request) -> Response:
        keys = read_value(Flag(), request.query_params.get("keys", "false"), ["query", "keys"])
        return HELD_RUNS.answer(request, _rows(request), prepare=judged if keys else _as_last_judged)


class OneHeldRun(Address):
    """`/api/v2/heldRuns/{held_run_id}`."""

    within = GROUPED

    @extend_schema(
        operation_id="get_held_run",
        summary="One held run, judged anew",
        responses=gives(HeldRunOut, refusals=(404, 422)),
    )
    def get(self, request: Request, held_run_id: str) -> Response:
        return _answer(_find(request, held_run_id))


class FireHeldRun(Address):
    """`/api/v2/heldRuns/{held_run_id}/fire`."""

    within = GROUPED
    needs = {"POST": "core.change_heldrun"}

    @extend_schema(
        operation_id="fire_held_run",
        summary="Fire it now with what it has",
        description="The run that it becomes records which keys were missing.",
        request=ReasonIn,
        responses=gives(RunOut, refusals=(404, 409, 413, 415, 422)),
    )
    def post(self, request: Request, held_run_id: str) -> Response:
        reason, row = read_body(ReasonIn, request)["reason"], _find(request, held_run_id)
        run = holds.fire_now(row, deed=deed(request, reason), at=timezone.now())
        return Response(RunOut(run).data)


class CancelHeldRun(Address):
    """`/api/v2/heldRuns/{held_run_id}/cancel`."""

    within = GROUPED
    needs = {"POST": "core.change_heldrun"}

    @extend_schema(
        operation_id="cancel_held_run",
        summary="Close it without a run",
        description="The next event for its key opens a new round.",
        request=ReasonIn,
        responses=gives(HeldRunOut, refusals=(404, 409, 413, 415, 422)),
    )
    def post(self, request: Request, held_run_id: str) -> Response:
        reason, row = read_body(ReasonIn, request)["reason"], _find(request, held_run_id)
        holds.cancel(row, deed=deed(request, reason), at=timezone.now())
        return _answer(_find(request, held_run_id))


class ReevaluateHeldRun(Address):
    """`/api/v2/heldRuns/{held_run_id}/reevaluate`."""

    within = GROUPED
    needs = {"POST": "core.change_heldrun"}

    @extend_schema(
        operation_id="reevaluate_held_run",
        summary="Judge it once more",
        description="Held runs of the same Dag are judged with it; what may fire, fires.",
        request=None,
        responses=gives(HeldRunOut, refusals=(404, 409, 422)),
    )
    def post(self, request: Request, held_run_id: str) -> Response:
        row = _find(request, held_run_id)
        holds.judge_again([row.dag], at=timezone.now())
        return _answer(_find(request, held_run_id))


def _rows(request: Request) -> "QuerySet[HeldRun]":
    return HeldRun.objects.filter(sight_of(request).dags("dag")).select_related("dag", "run")


def _find(request: Request, held_run_id: str) -> HeldRun:
    row = _rows(request).filter(pk=row_id("held_run_id", held_run_id)).first()
    if row is None:
        raise NotFound(f"The held run with ID: `{held_run_id}` was not found")
    check_may(request, row)
    return row


def _answer(row: HeldRun) -> Response:
    return Response(HeldRunOut(row, context=judged([row])).data)


def _as_last_judged(rows: Sequence[HeldRun]) -> dict[str, Any]:
    return {"now": timezone.now()}
