"""What the rows of the engine say, in the words of the model."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.models import (
    AssetEvent,
    Backfill,
    BackfillPartition,
    ConsumedEvent,
    DagRun,
    DynamicKey,
    HeldRun,
    MappingProblem,
    Partition,
    ReceivedKey,
)
from tests.model.defined import Defined


@dataclass(frozen=True)
class Records:
    """Runs, the numbers of events, held runs by Dag, key and round."""

    runs: Sequence[int]
    events: Sequence[int]
    held: Sequence[tuple[str, str, int]]

    def without(self, others: "Records") -> "Records":
        """What the others lack; its runs by their places here."""
        return Records(
            [place for place, pk in enumerate(self.runs) if pk not in others.runs],
            [number for number in self.events if number not in others.events],
            [held for held in self.held if held not in others.held],
        )


class Rows(Defined):
    """`numbers` gives events, by primary key, the numbers that the model gives them."""

    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self.numbers: dict[int, int] = {}

    def runs(self) -> list[tuple[Any, ...]]:
        consumed = self._consumed()
        runs = DagRun.objects.order_by("pk").select_related("dag").prefetch_related("held_runs")
        return [
            (
                *(run.dag.dag_id, tuple(run.keys), tuple(run.failed_keys), run.run_type, run.state),
                *(run.attempt, run.failures),
                frozenset(event for held in run.held_runs.all() for event in consumed.get(held.pk, ())),
            )
            for run in runs
        ]

    def backfills(self) -> dict[int, dict[str, Any]]:
        found = {}
        for place, row in enumerate(Backfill.objects.order_by("pk")):
            items: dict[str, list[tuple[str, str]]] = {}
            rows = BackfillPartition.objects.filter(target__backfill=row).order_by("position")
            for dag_id, *item in rows.values_list("target__dag__dag_id", "key", "state"):
                items.setdefault(dag_id, []).append(tuple(item))
            found[place] = {
                "paused": row.is_paused,
                "cancelled": row.cancelled_at is not None,
                "completed": row.completed_at is not None,
                "items": items,
            }
        return found

    def open(self) -> dict[tuple[str, str], dict[str, Any]]:
        consumed, received = self._consumed(), self._received()
        return {
            (row.dag.dag_id, row.partition_key): {
                "round": row.round,
                "verdict": row.verdict,
                "judged at": row.judge_after,
                "received": received.get(row.pk, {}),
                "events": set(consumed.get(row.pk, ())),
            }
            for row in HeldRun.objects.held().select_related("dag")
        }

    def partitions(self) -> dict[tuple[str, str], tuple[str, bool, bool]]:
        return {
            (row.asset.name, row.key): (row.state, row.data_at is not None, row.is_stale)
            for row in Partition.objects.select_related("asset")
        }

    def dynamic(self) -> list[tuple[str, bool]]:
        rows = DynamicKey.objects.order_by("pk").values_list("key", "removed_at")
        return [(key, removed_at is None) for key, removed_at in rows]

    def problems(self) -> set[tuple[int, str]]:
        rows = MappingProblem.objects.values_list("event_id", "dag__dag_id")
        return {(self.numbers[pk], name) for pk, name in rows}

    def unrouted(self) -> set[int]:
        return {self.numbers[pk] for pk in AssetEvent.objects.unrouted().values_list("pk", flat=True)}

    def records(self) -> Records:
        held = HeldRun.objects.values_list("dag__dag_id", "partition_key", "round")
        return Records(
            list(DagRun.objects.order_by("pk").values_list("pk", flat=True)),
            [self.numbers[pk] for pk in AssetEvent.objects.values_list("pk", flat=True)],
            list(held),
        )

    def _consumed(self) -> dict[int, list[int]]:
        consumed: dict[int, list[int]] = {}
        for held_run_id, event_id in ConsumedEvent.objects.values_list("held_run_id", "event_id"):
            consumed.setdefault(held_run_id, []).append(self.numbers[event_id])
        return consumed

    def _received(self) -> dict[int, dict[tuple[str, str], bool]]:
        received: dict[int, dict[tuple[str, str], bool]] = {}
        rows = ReceivedKey.objects.values_list("held_run_id", "asset__name", "key", "is_fresh")
        for held_run_id, name, key, is_fresh in rows:
            received.setdefault(held_run_id, {})[name, key] = is_fresh
        return received
