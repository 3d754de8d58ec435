"""Our rows in Airflow's words: states, types and versions, where its clients know fewer or other ones."""

import uuid
from typing import Any

from rest_framework import serializers

from core.models import Dag, DagRun
from partitions_site.api.fields import Always, Instant

State, Type = DagRun.State, DagRun.Type

RUN_STATES: dict[str, tuple[str, ...]] = {
    "queued": (State.QUEUED,),
    "running": (State.RUNNING,),
    "success": (State.SUCCESS, State.SKIPPED),
    "failed": (State.FAILED, State.CANCELLED),
    "cancelled": (State.CANCELLED,),
    "skipped": (State.SKIPPED,),
}
"""What may be asked for, and the states it means: Airflow's four, which cover all, and our own two."""

RUN_TYPES: dict[str, tuple[str, ...]] = {
    "scheduled": (Type.SCHEDULED,),
    "asset_triggered": (Type.ASSET_TRIGGERED,),
    "manual": (Type.MANUAL,),
    "backfill": (Type.BACKFILL,),
    "operator_triggered": (Type.SENSOR,),
    "asset_materialization": (),
}

TRIGGERS = ("cli", "operator", "rest_api", "ui", "test", "timetable", "asset", "backfill")


class DagVersionOut(serializers.Serializer[Any]):
    """One revision of a definition: Airflow's clients insist on a version, and the revision is its number."""

    id = serializers.UUIDField()
    version_number = serializers.IntegerField()
    dag_id = serializers.CharField()
    bundle_name = Always(None)
    bundle_version = Always(None)
    created_at = Instant()
    dag_display_name = serializers.CharField()
    bundle_url = Always(None)


def state(run: DagRun) -> str:
    """The state of `run` in Airflow's words: what was cancelled failed, what was skipped is well."""
    return {State.CANCELLED: "failed", State.SKIPPED: "success"}.get(State(run.state), run.state)


def run_type(run: DagRun) -> str:
    return "operator_triggered" if run.run_type == Type.SENSOR else run.run_type


def triggered_by(run: DagRun) -> str | None:
    return run.triggered_by if run.triggered_by in TRIGGERS else None


def version(dag: Dag) -> dict[str, Any]:
    return {
        "id": uuid.uuid5(uuid.NAMESPACE_OID, f"{dag.dag_id}@{dag.revision}"),
        "version_number": dag.revision,
        "dag_id": dag.dag_id,
        "created_at": dag.updated_at,
        "dag_display_name": dag.dag_id,
    }
