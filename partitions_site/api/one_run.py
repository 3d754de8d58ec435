"""One Dag run: read, noted, marked, deleted."""

from functools import partial
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import AssetEvent, DagRun
from partitions_site.api.auth import GROUPED, Address, deed, sight_of
from partitions_site.api.errors import BadRequest
from partitions_site.api.event_rows import EVENTS, made_of
from partitions_site.api.fields import OneOf, Text
from partitions_site.api.forms import Form, read_body
from partitions_site.api.pages import Listing
from partitions_site.api.runs import NOTE_LENGTH, RunOut, find_run
from partitions_site.api.schema import gives
from scheduling import corrections

STATES = ["queued", "success", "failed"]
MASK = {"state", "note"}


class RunPatchIn(Form):
    state = OneOf(choices=STATES, required=False, allow_null=True)
    note = Text(required=False, allow_null=True, max_length=NOTE_LENGTH)


UPSTREAM = Listing(noun="asset_events", out=EVENTS.out, orders={"id": "id", "timestamp": "timestamp"})


class OneRun(Address):
    """`/api/v2/dags/{dag_id}/dagRuns/{run_id}`."""

    within = GROUPED
    needs = {"PATCH": "core.change_dagrun", "DELETE": "core.delete_dagrun"}

    @extend_schema(operation_id="get_dag_run", summary="One run", responses=gives(RunOut, refusals=(404,)))
    def get(self, request: Request, dag_id: str, run_id: str) -> Response:
        return Response(RunOut(find_run(request, dag_id, run_id)).data)

    @extend_schema(
        operation_id="patch_dag_run",
        summary="Note something about a run, or say how it ended",
        description="`queued` runs it again; `success` and `failed` record how it ended, and emit nothing.",
        request=RunPatchIn,
        parameters=[
            OpenApiParameter("update_mask", str, many=True, description="`state`, `note`, or nothing")
        ],
        responses=gives(RunOut, refusals=(400, 404, 409, 413, 415, 422)),
    )
    def patch(self, request: Request, dag_id: str, run_id: str) -> Response:
        asked = read_body(RunPatchIn, request)
        change(
            find_run(request, dag_id, run_id),
            _masked(asked, request.query_params.getlist("update_mask")),
            request,
        )
        return Response(RunOut(find_run(request, dag_id, run_id)).data)

    @extend_schema(
        operation_id="delete_dag_run",
        summary="Take a run off the record",
        responses=gives(None, 204, refusals=(404, 409)),
    )
    def delete(self, request: Request, dag_id: str, run_id: str) -> Response:
        corrections.delete(find_run(request, dag_id, run_id), deed=deed(request), at=timezone.now())
        return Response(status=204)


class UpstreamEvents(Address):
    """`/api/v2/dags/{dag_id}/dagRuns/{run_id}/upstreamAssetEvents`."""

    within = GROUPED

    @UPSTREAM.described("get_upstream_asset_events", "Events that a run consumed", refusals=(404,))
    def get(self, request: Request, dag_id: str, run_id: str) -> Response:
        rows = AssetEvent.objects.consumed_by(find_run(request, dag_id, run_id).pk)
        sight = sight_of(request)
        shown = rows.filter(sight.assets("asset__")).select_related("asset", "source_run__dag")
        return UPSTREAM.answer(request, shown, prepare=partial(made_of, sight))


def change(run: DagRun, asked: dict[str, Any], request: Request) -> None:
    """Do what `asked` says about the state and the note of `run`; null and absent leave it as it is."""
    by, at = deed(request), timezone.now()
    if asked.get("state") == "queued":
        corrections.retry(run, deed=by, at=at)
    elif asked.get("state"):
        corrections.mark(run, DagRun.State(asked["state"]), deed=by, at=at)
    if asked.get("note") is not None:
        corrections.set_note(run, asked["note"], deed=by, at=at)


def _masked(asked: dict[str, Any], mask: list[str]) -> dict[str, Any]:
    unknown = set(mask) - MASK
    if unknown:
        raise BadRequest(
            f"Only {' and '.join(sorted(MASK))} of a run can be updated, not {', '.join(sorted(unknown))}"
        )
    return {name: value for name, value in asked.items() if not mask or name in mask}
