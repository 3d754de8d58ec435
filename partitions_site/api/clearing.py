"""Running runs again, and blanking what partition they were for. A dry run, the default, changes nothing."""

from collections.abc import Sized
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.utils import timezone
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import Dag, DagRun
from partitions_site.api.auth import GROUPED, Address, deed, sight_of
from partitions_site.api.dags import find_dag
from partitions_site.api.errors import BadRequest
from partitions_site.api.fields import Flag, Instant, Text
from partitions_site.api.forms import Form, read_body
from partitions_site.api.one_run import change
from partitions_site.api.runs import MOST_RUNS, NOTE_LENGTH, RunOut, RunRefIn, RunsOut, find_run, listed
from partitions_site.api.schema import gives
from partitions_site.api.tasks import TaskInstancesOut, task_instances
from scheduling import corrections


class ClearIn(Form):
    """Clearing a run queues it again: same run, next attempt."""

    dry_run = Flag(required=False, default=True)
    only_failed = Flag(required=False, default=False)
    only_new = Flag(required=False, default=False)
    run_on_latest_version = Flag(required=False, allow_null=True)
    note = Text(required=False, allow_null=True, max_length=NOTE_LENGTH)


CLEARED_ONE = PolymorphicProxySerializer(
    component_name="ClearedRun", serializers=[TaskInstancesOut, RunOut], resource_type_field_name=None
)


class ClearManyIn(ClearIn):
    """Exactly one of `dag_runs`, `partition_key` and a pair of dates says which runs."""

    dag_runs = RunRefIn(many=True, required=False, allow_null=True)
    partition_key = Text(required=False, allow_null=True)
    partition_date_start = Instant(required=False, allow_null=True)
    partition_date_end = Instant(required=False, allow_null=True)


class ClearPartitionsIn(Form):
    run_id = Text(required=False, allow_null=True)
    partition_key = Text(required=False, allow_null=True)
    partition_date_start = Instant(required=False, allow_null=True)
    partition_date_end = Instant(required=False, allow_null=True)
    clear_task_instances = Flag(required=False, default=False)
    dry_run = Flag(required=False, default=True)


class ClearedPartitionsOut(serializers.Serializer[Any]):
    dag_runs_cleared = serializers.IntegerField()
    task_instances_cleared = serializers.IntegerField()
    dry_run = serializers.BooleanField()


CLEARED_MANY = PolymorphicProxySerializer(
    component_name="ClearedRuns", serializers=[TaskInstancesOut, RunsOut], resource_type_field_name=None
)


class ClearRun(Address):
    """`/api/v2/dags/{dag_id}/dagRuns/{run_id}/clear`."""

    within = GROUPED
    needs = {"POST": "core.change_dagrun"}

    @extend_schema(
        operation_id="clear_dag_run",
        summary="Run it again",
        description="Unless `dry_run` is false, only says which tasks would run.",
        request=ClearIn,
        responses=gives(CLEARED_ONE, refusals=(404, 409, 413, 415, 422)),
    )
    def post(self, request: Request, dag_id: str, run_id: str) -> Response:
        asked, run = read_body(ClearIn, request), find_run(request, dag_id, run_id)
        if asked["dry_run"]:
            return Response(task_instances([run] if _clearable([run], asked) else []))
        for each in _clearable([run], asked):
            change(each, {"state": "queued", "note": asked.get("note")}, request)
        return Response(RunOut(find_run(request, dag_id, run_id)).data)


class ClearRuns(Address):
    """`/api/v2/dags/{dag_id}/clearDagRuns`."""

    within = GROUPED
    needs = {"POST": "core.change_dagrun"}

    @extend_schema(
        operation_id="clear_dag_runs",
        summary="Run many again",
        description="Unless `dry_run` is false, only says which tasks would run.",
        request=ClearManyIn,
        responses=gives(CLEARED_MANY, refusals=(400, 404, 409, 413, 415, 422)),
    )
    def post(self, request: Request, dag_id: str) -> Response:
        asked, dag = read_body(ClearManyIn, request), find_dag(request, dag_id)
        found = _clearable(_meant(request, dag, asked), asked)
        if asked["dry_run"]:
            return Response(task_instances(found))
        for run in found:
            change(run, {"state": "queued", "note": asked.get("note")}, request)
        again = listed(sight_of(request)).filter(pk__in=[run.pk for run in found]).order_by("id")
        return Response({"dag_runs": RunOut(again, many=True).data, "total_entries": len(found)})


class ClearPartitions(Address):
    """`/api/v2/dags/{dag_id}/clearPartitions`."""

    within = GROUPED
    needs = {"POST": "core.delete_dagrun"}

    @extend_schema(
        operation_id="clear_dag_run_partitions",
        summary="Blank the partition of runs",
        description="Nothing runs again; unless `dry_run` is false, nothing changes.",
        request=ClearPartitionsIn,
        responses=gives(ClearedPartitionsOut, refusals=(400, 404, 413, 415, 422)),
    )
    def post(self, request: Request, dag_id: str) -> Response:
        asked, dag = read_body(ClearPartitionsIn, request), find_dag(request, dag_id)
        run_ids = [{"dag_run_id": asked["run_id"]}] if asked.get("run_id") else None
        found = _meant(request, dag, {**asked, "dag_runs": run_ids})
        if not asked["dry_run"]:
            corrections.forget_keys(found, deed=deed(request), at=timezone.now())
        tasks = sum(len(run.dag.tasks) for run in found) if asked["clear_task_instances"] else 0
        body = {"dag_runs_cleared": len(found), "task_instances_cleared": tasks, "dry_run": asked["dry_run"]}
        return Response(body)


def _clearable(found: list[DagRun], asked: dict[str, Any]) -> list[DagRun]:
    """Those of `found` that clearing touches; with `only_failed` those that failed."""
    if asked["only_new"]:
        return []
    return [run for run in found if run.state == DagRun.State.FAILED or not asked["only_failed"]]


def _meant(request: Request, dag: Dag, asked: dict[str, Any]) -> list[DagRun]:
    """The runs of `dag` that a body names in one of three ways.

    :raises BadRequest: if it names them in none or several, or more than `MOST_RUNS`.
    """
    dates = asked.get("partition_date_start"), asked.get("partition_date_end")
    ways = [asked.get("dag_runs") is not None, asked.get("partition_key") is not None, any(dates)]
    if sum(ways) != 1:
        raise BadRequest("Name the runs in exactly one way: by id, by partition_key, or by partition dates")
    if ways[0]:
        _check_count(asked["dag_runs"])
        return [find_run(request, dag.dag_id, each["dag_run_id"]) for each in asked["dag_runs"]]
    named = Q(partition_key=asked["partition_key"]) if ways[1] else _between(*dates)
    found = list(DagRun.objects.filter(named, dag=dag).select_related("dag").order_by("id")[: MOST_RUNS + 1])
    _check_count(found)
    return found


def _check_count(named: Sized) -> None:
    if len(named) > MOST_RUNS:
        raise BadRequest(f"These are more than {MOST_RUNS} runs: name fewer at a time")


def _between(start: datetime | None, end: datetime | None) -> Q:
    found = Q(partition_date__isnull=False)
    if start:
        found &= Q(partition_date__gte=start)
    return found & Q(partition_date__lte=end) if end else found
