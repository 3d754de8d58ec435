"""Running the Dag that writes an asset: `/api/v2/assets/{asset_id}/materialize`."""

import secrets
from dataclasses import replace

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import Dag
from partitions_site.api import wire
from partitions_site.api.assets import find_asset
from partitions_site.api.auth import GROUPED, Address, check_may, deed
from partitions_site.api.errors import Conflict
from partitions_site.api.forms import row_id
from partitions_site.api.once import HEADER, once
from partitions_site.api.runs import RunIn, RunOut, read_ask
from partitions_site.api.schema import gives
from scheduling import runs


class Materialize(Address):
    """`/api/v2/assets/{asset_id}/materialize`."""

    within = GROUPED
    needs = {"POST": "core.add_dagrun"}

    @extend_schema(
        operation_id="materialize_asset",
        summary="Run the Dag that writes an asset",
        request=RunIn,
        parameters=[HEADER],
        responses=gives(RunOut, refusals=(400, 404, 409, 413, 415, 422)),
    )
    @once
    def post(self, request: Request, asset_id: str) -> Response:
        ask, at = read_ask(request), timezone.now()
        dag = _producer(request, row_id("asset_id", asset_id))
        run_id = ask.run_id or f"{wire.MATERIALIZATION}{at.isoformat()}__{secrets.token_hex(4)}"
        run = runs.trigger(dag, replace(ask, run_id=run_id), deed=deed(request), at=at)
        return Response(RunOut(run).data)


def _producer(request: Request, asset_id: int) -> Dag:
    asset = find_asset(request, asset_id)
    dags = Dag.objects.active().filter(outlets__asset=asset).distinct()[:2]
    if not dags:
        raise NotFound(f"No Dag materializes asset with ID: {asset_id}")
    if len(dags) > 1:
        raise Conflict(f"More than one Dag materializes asset with ID: {asset_id}")
    check_may(request, dags[0])
    return dags[0]
