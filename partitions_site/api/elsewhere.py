"""Runs for other systems: `/api/v2/runs/claim`, `…/heartbeat`, `…/finish`, and the callbacks of webhooks."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.authentication import get_authorization_header
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import Dag, DagRun, Outlet
from partitions_site.api.auth import GROUPED, UNKEPT, Address, OpenAddress, check_may, deed, sight_of
from partitions_site.api.fields import Instant, JsonObject, OneOf, Text, Whole
from partitions_site.api.forms import Form, read_body, row_id
from partitions_site.api.runs import RunOut
from partitions_site.api.schema import gives
from scheduling import elsewhere, reports, webhooks
from scheduling.elsewhere import Hold
from scheduling.reports import Report

TAKE = "core.change_dagrun"
MOST_RUNS = 100
LOG_LENGTH = 200_000


class Lease(Whole):
    """Seconds for which a run may be silent."""

    def __init__(self) -> None:
        super().__init__(min_value=10, max_value=86_400, required=False, default=60)


class ClaimIn(Form):
    worker = Text(allow_blank=False, max_length=150, help_text="Who asks: the same name in what follows")
    limit = Whole(min_value=1, max_value=MOST_RUNS, required=False, default=1)
    dag_ids = serializers.ListField(child=Text(), required=False, allow_null=True, default=None)
    lease_seconds = Lease()


class HeartbeatIn(Form):
    worker = Text()
    attempt = Whole()
    lease_seconds = Lease()
    log = Text(required=False, default="", max_length=LOG_LENGTH, help_text="Lines for the log of the run")


class _ReportIn(Form):
    """How a run ended. `outputs` need naming only where keys are not the run's own, or have an extra."""

    error = Text(required=False, default="", help_text="Why it failed")
    outputs = serializers.ListField(
        child=serializers.JSONField(),
        required=False,
        allow_null=True,
        default=None,
        help_text='`{"asset": name, "keys": [key, …] or {key: extra}, "extra": {…}}`; no keys: no event',
    )
    failed_keys = JsonObject(
        required=False, default=dict, help_text="Keys of the run that were given up, with the reason of each"
    )
    log = Text(required=False, default="", max_length=LOG_LENGTH, help_text="Lines for the log of the run")


class FinishIn(_ReportIn):
    worker = Text()
    attempt = Whole()
    state = OneOf(choices=["success", "failed"])


class CallbackIn(_ReportIn):
    state = OneOf(choices=["success", "failed", "running"], help_text="running: it goes on, wait for more")


class WorkOut(RunOut):
    """A run, with all that is needed to execute it."""

    id = serializers.IntegerField()
    partition_keys = serializers.ListField(child=serializers.CharField(), source="keys")
    lease_until = Instant(allow_null=True)
    outlets = serializers.SerializerMethodField(help_text="Names of the assets that it writes")

    def get_outlets(self, run: DagRun) -> list[str]:
        found: list[str] = self.context["outlets"].get(run.dag_id, [])
        return found


class ClaimedRunOut(WorkOut):
    """Work that was just taken: whoever does it needs the `conf` as it was given. Else it is masked."""

    @extend_schema_field(JsonObject())
    def get_conf(self, run: DagRun) -> Any:
        return run.conf


class ClaimedOut(serializers.Serializer[Any]):
    runs = ClaimedRunOut(many=True)


class Claim(Address):
    """`/api/v2/runs/claim`."""

    within = GROUPED
    needs = {"POST": TAKE}

    @extend_schema(
        operation_id="claim_runs",
        summary="Take runs whose executor is external",
        description="An empty list: none may start now. Say within `lease_seconds` that each goes on. `conf` "
        "is as it was given, secrets too.",
        request=ClaimIn,
        responses=gives(ClaimedOut, refusals=(413, 415, 422)),
    )
    def post(self, request: Request) -> Response:
        asked = read_body(ClaimIn, request)
        runs = elsewhere.take(
            worker=asked["worker"],
            now=timezone.now(),
            limit=asked["limit"],
            dag_ids=_dag_ids(request, asked["dag_ids"]),
            lease=timedelta(seconds=asked["lease_seconds"]),
        )
        return Response({"runs": ClaimedRunOut(runs, many=True, context=_outlets(runs)).data}, headers=UNKEPT)


class Heartbeat(Address):
    """`/api/v2/runs/{run_pk}/heartbeat`."""

    within = GROUPED
    needs = {"POST": TAKE}

    @extend_schema(
        operation_id="keep_run",
        summary="Say that a run goes on",
        description="409: it was cancelled, has ended, or is somebody else's by now. Stop then.",
        request=HeartbeatIn,
        responses=gives(WorkOut, refusals=(404, 409, 413, 415, 422)),
    )
    def post(self, request: Request, run_pk: str) -> Response:
        asked, run = read_body(HeartbeatIn, request), _find(request, run_pk)
        hold, lease = Hold(asked["worker"], asked["attempt"]), timedelta(seconds=asked["lease_seconds"])
        elsewhere.keep(run, hold, now=timezone.now(), lease=lease, log=asked["log"])
        return _answer(run)


class Finish(Address):
    """`/api/v2/runs/{run_pk}/finish`."""

    within = GROUPED
    needs = {"POST": TAKE}

    @extend_schema(
        operation_id="finish_run",
        summary="Say how a run ended",
        description="Success emits the events of its outlets. A failure may be tried again: see `state`.",
        request=FinishIn,
        responses=gives(WorkOut, refusals=(400, 404, 409, 413, 415, 422)),
    )
    def post(self, request: Request, run_pk: str) -> Response:
        asked, run = read_body(FinishIn, request), _find(request, run_pk)
        hold = Hold(asked["worker"], asked["attempt"])
        report, at = _report(asked), timezone.now()
        elsewhere.finish(run, hold, report, at=at, log=asked["log"], deed=deed(request))
        return _answer(_get(run_pk))


class Callback(OpenAddress):
    """`/api/v2/runs/{run_pk}/callback`: for whoever holds the token that a webhook was sent."""

    @extend_schema(
        operation_id="call_back",
        summary="Say what became of a run that a webhook took with 202",
        description="`Authorization: Bearer` with the token that came with the run; no login is needed.",
        request=CallbackIn,
        responses=gives(WorkOut, refusals=(400, 403, 409, 413, 415, 422), always=(429, 503)),
    )
    def post(self, request: Request, run_pk: str) -> Response:
        run = _told_by_token(request, run_pk)
        asked, at = read_body(CallbackIn, request), timezone.now()
        if asked["state"] == "running":
            elsewhere.keep(run, None, now=at, lease=webhooks.wait_of(run), log=asked["log"])
        else:
            by = replace(deed(request), by=f"run {run.run_id}")
            elsewhere.finish(run, None, _report(asked), at=at, log=asked["log"], deed=by)
        return _answer(_get(run_pk))


def _report(asked: dict[str, Any]) -> Report:
    error = (asked["error"] or "it failed") if asked["state"] == "failed" else ""
    return reports.read(asked["outputs"], asked["failed_keys"], error)


def _told_by_token(request: Request, run_pk: str) -> DagRun:
    """The run that the token of `request` is for.

    :raises PermissionDenied: if it is for none; whether there is such a run is not told.
    """
    scheme, _, token = get_authorization_header(request).decode("latin-1").partition(" ")
    run = _runs().filter(pk=row_id("run_pk", run_pk)).first()
    if run is None or scheme.lower() != "bearer" or not webhooks.is_token_of(run, token.strip()):
        raise PermissionDenied("The token is not for this attempt at this run")
    return run


def _find(request: Request, run_pk: str) -> DagRun:
    """The run that a request is about, if whoever asks is shown it and may do with it what they ask."""
    run = _get(run_pk)
    if not sight_of(request).sees(run):
        raise _absent(run_pk)
    check_may(request, run)
    return run


def _get(run_pk: str) -> DagRun:
    run = _runs().filter(pk=row_id("run_pk", run_pk)).first()
    if run is None:
        raise _absent(run_pk)
    return run


def _absent(run_pk: str) -> NotFound:
    return NotFound(f"The run with ID: `{run_pk}` was not found")


def _dag_ids(request: Request, asked: list[str] | None) -> list[str] | None:
    """The Dags whose runs may be taken: those that were asked for, of those that whoever asks may run."""
    if request.user.has_perm(TAKE):
        return asked
    dags = Dag.objects.filter(sight_of(request).dags(), executor=Dag.Executor.EXTERNAL)
    named = dags if asked is None else dags.filter(dag_id__in=asked)
    return [dag.dag_id for dag in named if request.user.has_perm(TAKE, dag)]


def _runs() -> Any:
    return DagRun.objects.select_related("dag")


def _answer(run: DagRun) -> Response:
    return Response(WorkOut(run, context=_outlets([run])).data)


def _outlets(runs: list[DagRun]) -> dict[str, Any]:
    outlets: dict[int, list[str]] = {run.dag_id: [] for run in runs}
    rows = Outlet.objects.filter(dag__in=outlets).order_by("asset__name")
    for dag_id, name in rows.values_list("dag_id", "asset__name").distinct():
        outlets[dag_id].append(name)
    return {"outlets": outlets}
