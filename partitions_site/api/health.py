"""Is it up? `/api/v2/monitor/health`, `/api/v2/version`, and the probes `/livez` and `/readyz`."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from partitions_site.api.auth import OpenAddress
from partitions_site.api.schema import gives
from scheduling import health
from scheduling.health import Health, Vital


class VersionOut(serializers.Serializer[Any]):
    version = serializers.CharField()
    git_version = serializers.CharField(allow_null=True)


class StatusOut(serializers.Serializer[Any]):
    status = serializers.CharField(allow_null=True)


class SchedulerOut(StatusOut):
    latest_scheduler_heartbeat = serializers.CharField(allow_null=True)


class TriggererOut(StatusOut):
    latest_triggerer_heartbeat = serializers.CharField(allow_null=True)


class DagProcessorOut(StatusOut):
    latest_dag_processor_heartbeat = serializers.CharField(allow_null=True)


class WorkersOut(StatusOut):
    alive = serializers.IntegerField()
    latest_heartbeat = serializers.CharField(allow_null=True)


class HealthOut(serializers.Serializer[Any]):
    metadatabase = StatusOut()
    scheduler = SchedulerOut()
    triggerer = TriggererOut()
    dag_processor = DagProcessorOut()
    workers = WorkersOut(allow_null=True, help_text="Ours")


class ProbeOut(serializers.Serializer[Any]):
    status = serializers.CharField()
    reasons = serializers.ListField(child=serializers.CharField())


class Version(OpenAddress):
    """`/api/v2/version`."""

    @extend_schema(operation_id="get_version", summary="Version", responses=gives(VersionOut, always=(429,)))
    def get(self, request: Request) -> Response:
        return Response({"version": settings.VERSION, "git_version": None})


class MonitorHealth(OpenAddress):
    """`/api/v2/monitor/health`: 200 whatever it says, as Airflow answers."""

    @extend_schema(operation_id="get_health", summary="Health", responses=gives(HealthOut, always=(429,)))
    def get(self, request: Request) -> Response:
        report = _report()
        beat, workers = (report.beat, report.workers) if report else (None, None)
        body = {
            "metadatabase": {"status": "healthy" if report else "unhealthy"},
            "scheduler": {"status": _status(beat), "latest_scheduler_heartbeat": _seen(beat)},
            "triggerer": {"status": None, "latest_triggerer_heartbeat": None},
            "dag_processor": {"status": None, "latest_dag_processor_heartbeat": None},
            "workers": workers
            and {"status": _status(workers), "alive": workers.alive, "latest_heartbeat": _seen(workers)},
        }
        return Response(body)


class Live(OpenAddress):
    """`/livez`: this web process answers. Nothing else is looked at."""

    @extend_schema(operation_id="get_liveness", summary="Alive", responses=gives(ProbeOut, always=(429,)))
    def get(self, request: Request) -> Response:
        return Response({"status": "ok", "reasons": []})


class Ready(OpenAddress):
    """`/readyz`: 200 while the database answers and the engine is alive, 503 with reasons otherwise."""

    @extend_schema(
        operation_id="get_readiness",
        summary="Ready",
        responses=gives(ProbeOut, always=(429,)) | {503: ProbeOut},
    )
    def get(self, request: Request) -> Response:
        report = _report()
        reasons = report.reasons() if report else ["database: does not answer"]
        body = {"status": "not ready" if reasons else "ok", "reasons": reasons}
        return Response(body, status=503 if reasons else 200)


def _report() -> Health | None:
    """What the engine's pulses say; None if the database does not answer."""
    try:
        connection.ensure_connection()
        return health.report(timezone.now())
    except DatabaseError:
        return None


def _status(vital: Vital | None) -> str:
    return "healthy" if vital and vital.is_alive else "unhealthy"


def _seen(vital: Vital | None) -> str | None:
    at: datetime | None = vital.last_seen_at if vital else None
    return at.isoformat() if at else None
