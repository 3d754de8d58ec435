"""Tasks of a run as Airflow's clients know them. Here a run is the unit of work: its tasks share its fate."""

import uuid
from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from core.models import DagRun
from partitions_site.api import wire
from partitions_site.api.fields import Always, Instant


class TaskInstanceOut(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    task_id = serializers.CharField()
    dag_id = serializers.CharField(source="run.dag.dag_id")
    dag_run_id = serializers.CharField(source="run.run_id")
    map_index = Always(-1)
    logical_date = Always(None)
    run_after = Instant(source="run.run_after")
    start_date = Instant(source="run.started_at", allow_null=True)
    end_date = Instant(source="run.ended_at", allow_null=True)
    duration = serializers.SerializerMethodField()
    state = serializers.CharField()
    try_number = serializers.IntegerField(source="run.attempt")
    max_tries = serializers.IntegerField(source="run.dag.max_attempts")
    task_display_name = serializers.CharField(source="task_id")
    dag_display_name = serializers.CharField(source="run.dag.dag_id")
    hostname = serializers.CharField(source="run.claimed_by")
    unixname = Always(None)
    pool = Always("default_pool")
    pool_slots = Always(1)
    queue = Always("default")
    priority_weight = Always(1)
    operator = Always(None)
    operator_name = Always(None)
    queued_when = Instant(source="run.queued_at")
    scheduled_when = Instant(source="run.queued_at")
    pid = Always(None)
    executor = Always(None)
    executor_config = Always("{}")
    note = Always(None)
    rendered_map_index = Always(None)
    rendered_fields = Always({})
    trigger = Always(None)
    triggerer_job = Always(None)
    dag_version = wire.DagVersionOut()

    def get_duration(self, instance: dict[str, Any]) -> float | None:
        return wire.duration(instance["run"])


class TaskInstancesOut(serializers.Serializer[Any]):
    task_instances = TaskInstanceOut(many=True)
    total_entries = serializers.IntegerField()


def task_instances(runs: Sequence[DagRun]) -> Any:
    """The tasks of `runs`, as a collection."""
    rows = [_instance(run, task["task_id"]) for run in runs for task in run.dag.tasks]
    return TaskInstancesOut({"task_instances": rows, "total_entries": len(rows)}).data


def _instance(run: DagRun, task_id: str) -> dict[str, Any]:
    return {
        "id": uuid.uuid5(uuid.NAMESPACE_OID, f"{run.pk}/{task_id}"),
        "task_id": task_id,
        "run": run,
        "state": wire.state(run),
        "dag_version": wire.version(run.dag),
    }
