"""A database with as many rows of each kind as one likes: events, partitions, runs, held runs, entries."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import JSONField

from tests.benchmarks.storing import load, settle, written

NOW = datetime(2026, 3, 1, tzinfo=UTC)
"""Every second from then on, something happened."""

SECOND = timedelta(seconds=1)


def fill(rows: int) -> None:
    """So many events, and as many partitions, runs, held runs and journal entries."""
    from django.db import transaction

    from core.models import AssetEvent, DagRun, HeldRun, JournalEntry, Partition
    from tests.engine import world

    with transaction.atomic():
        world.asset("sales", pk=1)
        dag = world.dag("load", {"type": "PartitionedAtRuntime"}, writes=["sales"]).pk
        report = world.consumer("report", {"sales": world.IDENTITY}).pk
        numbers = range(1, rows + 1)
        for model, made in (
            (AssetEvent, map(_event, numbers)),
            (Partition, map(_partition, numbers)),
            (DagRun, (_run(dag, number) for number in numbers)),
            (HeldRun, (_held(report, number) for number in numbers)),
            (JournalEntry, map(_entry, numbers)),
        ):
            _store(model, made)
    settle()


def _store(model: Any, rows: Iterable[dict[str, Any]]) -> None:
    """Rows of what is said of each, and of the defaults of the model."""
    fields = [each for each in model._meta.concrete_fields if not each.primary_key and not each.generated]
    usual = {each.attname: each.get_default() for each in fields}
    for each in fields:
        if isinstance(each, JSONField) and not each.null:
            usual[each.attname] = written(each.get_default())
    load(model, tuple(usual), (tuple((usual | row).values()) for row in rows))


def _event(number: int) -> dict[str, Any]:
    at = NOW + number * SECOND
    return {"asset_id": 1, "partition_key": f"k{number}", "source": "api", "timestamp": at, "routed_at": at}


def _partition(number: int) -> dict[str, Any]:
    attempt = "success" if number % 1000 else "failed"
    return {
        "asset_id": 1,
        "key": f"k{number}",
        "attempt": attempt,
        "outcome": "success",
        "data_at": NOW,
        "updated_at": NOW,
    }


def _run(dag: int, number: int) -> dict[str, Any]:
    at = NOW + number * SECOND
    return {
        "dag_id": dag,
        "run_id": f"r{number}",
        "run_type": "manual",
        "state": "success" if number % 1000 else "failed",
        "partition_key": f"k{number}",
        "triggered_by": "rest_api",
        "attempt": 1,
        **dict.fromkeys(("queued_at", "run_after", "updated_at", "started_at", "ended_at"), at),
    }


def _held(dag: int, number: int) -> dict[str, Any]:
    return {
        "dag_id": dag,
        "partition_key": f"k{number}",
        "opened_at": NOW,
        "last_event_at": NOW,
        "required_count": 24,
        "received_count": 3,
    }


def _entry(number: int) -> dict[str, Any]:
    at = NOW + number * SECOND
    names = {"dag_id": "load", "run_id": f"r{number}", "partition_key": f"k{number}"}
    return {"at": at, "by": "bench", "via": "api", "event": "run triggered", **names}
