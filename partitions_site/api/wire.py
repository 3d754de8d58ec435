"""Our rows in Airflow's words: states, types and versions, where its clients know fewer or other ones."""

import uuid
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.db.models import Q
from rest_framework import serializers

from core.models import Dag, DagRun
from partitions_site.api import lookups  # noqa: F401  (registers `among`)
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

GONE_WRONG = ("failed", "cancelled", "skipped")
"""States of few runs, in the order in which an index of just these names them."""

RUN_TYPES: dict[str, tuple[str, ...]] = {
    "scheduled": (Type.SCHEDULED,),
    "asset_triggered": (Type.ASSET_TRIGGERED,),
    "manual": (Type.MANUAL,),
    "backfill": (Type.BACKFILL,),
    "operator_triggered": (Type.SENSOR,),
    "asset_materialization": (Type.MANUAL,),
}

MATERIALIZATION = "asset_materialization__"
"""What the id of a run begins with that was asked for through the asset it writes: a manual run to us."""

BUNDLE = "dags-folder"
"""There are no bundles here; Airflow calls so the only one it has unless told otherwise."""

TRIGGERS = ("cli", "operator", "rest_api", "ui", "test", "timetable", "asset", "backfill")


class DagVersionOut(serializers.Serializer[Any]):
    """One revision of a definition: Airflow's clients insist on a version, and the revision is its number."""

    id = serializers.UUIDField()
    version_number = serializers.IntegerField()
    dag_id = serializers.CharField()
    bundle_name = Always(BUNDLE)
    bundle_version = Always(None)
    created_at = Instant()
    dag_display_name = serializers.CharField()
    bundle_url = Always(None)


def state(run: DagRun) -> str:
    """The state of `run` in Airflow's words."""
    return state_name(run.state)


def state_name(name: str) -> str:
    """What Airflow calls a state of ours: what was cancelled failed, what was skipped is well."""
    return {State.CANCELLED.value: "failed", State.SKIPPED.value: "success"}.get(name, name)


def run_type(run: DagRun) -> str:
    if run.run_type == Type.MANUAL and run.run_id.startswith(MATERIALIZATION):
        return "asset_materialization"
    return "operator_triggered" if run.run_type == Type.SENSOR else run.run_type


def in_states(names: list[str]) -> Q:
    """Runs in one of these states of ours. What is asked of few runs says so, for the index of just those."""
    found = Q(state__in=names)
    return found & Q(state__among=GONE_WRONG) if set(names) <= set(GONE_WRONG) else found


def of_types(names: list[str]) -> Q:
    """Runs whose type has one of these names in Airflow."""
    by_id = {
        "asset_materialization": Q(run_id__startswith=MATERIALIZATION),
        "manual": ~Q(run_id__startswith=MATERIALIZATION),
    }
    found = Q(run_type__in=[each for name in names if name not in by_id for each in RUN_TYPES[name]])
    for name in by_id.keys() & set(names):
        found |= by_id[name] & Q(run_type__in=RUN_TYPES[name])
    return found


def triggered_by(run: DagRun) -> str | None:
    return run.triggered_by if run.triggered_by in TRIGGERS else None


def duration(run: DagRun) -> float | None:
    return (run.ended_at - run.started_at).total_seconds() if run.started_at and run.ended_at else None


def version(dag: Dag) -> dict[str, Any]:
    return _version(dag.dag_id, dag.revision, dag.updated_at)


def versions(dag: Dag) -> list[dict[str, Any]]:
    """The one version that every run of `dag` has, as it is answered; written once for a list of runs."""
    return [_written(dag.dag_id, dag.revision, dag.updated_at)]


def _version(dag_id: str, revision: int, at: datetime) -> dict[str, Any]:
    return {
        "id": uuid.uuid5(uuid.NAMESPACE_OID, f"{dag_id}@{revision}"),
        "version_number": revision,
        "dag_id": dag_id,
        "created_at": at,
        "dag_display_name": dag_id,
    }


@lru_cache(maxsize=1024)
def _written(dag_id: str, revision: int, at: datetime) -> dict[str, Any]:
    return dict(DagVersionOut(_version(dag_id, revision, at)).data)
