"""Waiting for a run to end: `/api/v2/dags/{dag_id}/dagRuns/{run_id}/wait`, one JSON object a line."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

from asgiref.sync import sync_to_async
from django.db import close_old_connections, connection
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from core.models import DagRun
from partitions_site.api import wire
from partitions_site.api.auth import GROUPED, Address
from partitions_site.api.fields import Decimal
from partitions_site.api.forms import read_value
from partitions_site.api.runs import find_run
from partitions_site.api.schema import refused

NDJSON = "application/x-ndjson"
LINES = 'Lines such as `{"state": "running"}`'
SHORTEST, LONGEST = 0.1, 3600.0
LONGEST_WAIT = timedelta(hours=1)
ENDED = tuple(str(state) for state in DagRun.FINISHED)

Pause = Callable[[float], Any]


class Wait(Address):
    """`/api/v2/dags/{dag_id}/dagRuns/{run_id}/wait`."""

    within = GROUPED

    @extend_schema(
        operation_id="wait_dag_run_until_finished",
        summary="A line with the state of a run, each `interval`, until it has ended",
        description=(
            "The last line has the state in which it ended. A stream ends after an hour in any case: "
            "ask again if the run goes on. `result`, which names tasks in Airflow, changes nothing here."
        ),
        parameters=[
            OpenApiParameter("interval", float, required=True, description="Seconds between two lines"),
            OpenApiParameter("result", str, many=True, description="Read and not used"),
        ],
        responses={(200, NDJSON): OpenApiResponse(OpenApiTypes.STR, LINES), **refused(404, 422)},
    )
    def get(self, request: Request, dag_id: str, run_id: str) -> StreamingHttpResponse:
        field = Decimal(min_value=SHORTEST, max_value=LONGEST)
        interval: float = read_value(field, request.query_params.get("interval", "5"), ["query", "interval"])
        run = find_run(request, dag_id, run_id)
        answer = StreamingHttpResponse(lines(run.pk, interval), content_type=NDJSON)
        answer.headers["Cache-Control"] = "no-store"
        answer.headers["X-Accel-Buffering"] = "no"  # nginx would keep the lines until there are many
        return answer


async def lines(pk: int, interval: float, pause: Pause = asyncio.sleep) -> AsyncIterator[str]:
    """The state of a run until it has ended, has been deleted, or `LONGEST_WAIT` is over."""
    for _ in range(int(LONGEST_WAIT.total_seconds() / interval) + 1):
        state = await sync_to_async(_state)(pk)
        if state is None:
            return
        yield json.dumps({"state": wire.state_name(state)}) + "\n"
        if state in ENDED:
            return
        await pause(interval)


def _state(pk: int) -> str | None:
    """One look; while nothing is asked, no connection is kept."""
    try:
        return DagRun.objects.filter(pk=pk).values_list("state", flat=True).first()
    finally:
        if not connection.in_atomic_block:
            close_old_connections()
