"""A database as a large site has it after years: partitions, held runs and events by the hundred thousand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, product
from typing import Any

from tests.benchmarks.storing import load, settle, written

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
STORES = 500
DAYS = 1096
MINUTES = 1_000_000
REPORTS = 20
"""Dags that hold runs."""


def fill(scale: float) -> None:
    """A million partitions, a hundred thousand held runs and a million events, times `scale`."""
    from django.db import transaction

    with transaction.atomic():
        assets = _define(scale)
        _partitions(assets, scale)
        _events(assets, scale)
        _held(scale)
        _runs(scale)
    settle()


def stores_of(scale: float) -> int:
    return max(10, int(STORES * scale))


def _define(scale: float) -> dict[str, Any]:
    from scheduling.algebra import specs
    from scheduling.sdk import (
        DailyPartitions,
        HourlyPartitions,
        MinutelyPartitions,
        MultiPartitions,
        StaticPartitions,
    )
    from tests.engine import world

    first_minute = NOW - timedelta(minutes=int(MINUTES * scale))
    store = StaticPartitions([f"store-{number:03}" for number in range(stores_of(scale))])
    definitions = {
        "today": HourlyPartitions("2026-11-28T12:00", "2026-11-29T12:00"),
        "hours": HourlyPartitions("2025-11-29T12:00", "2026-11-29T12:00"),
        "regions": StaticPartitions([f"region-{number:02}" for number in range(100)]),
        "stores": MultiPartitions({"store": store, "day": DailyPartitions("2023-11-29", "2026-11-29")}),
        "minutes": MinutelyPartitions(f"{first_minute:%Y-%m-%dT%H:%M}"),
    }
    for name, definition in definitions.items():
        world.asset(name, partitions=specs.dump(definition), group=name[:1])
    for number in range(REPORTS):
        world.consumer(f"report_{number}", {"stores": world.HOURS_TO_DAY}, writes=["reports"])
    world.dag("load", {"type": "PartitionedAtRuntime"}, writes=["minutes"])
    return {name: world.asset(name) for name in (*definitions, "reports")}


def _partitions(assets: dict[str, Any], scale: float) -> None:
    from core.models import Partition
    from scheduling.algebra import specs

    columns = (
        "asset_id",
        "key",
        "partition_date",
        "data_at",
        "extra",
        "attempt",
        "outcome",
        "updated_at",
        "drawn",
    )

    def rows(name: str, keys: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        asset_id = assets[name].pk
        for number, key in enumerate(keys):
            is_failed = number % 9973 == 9972
            data_at = None if is_failed else NOW - timedelta(minutes=number % 100_000)
            attempt, drawn = ("failed", 5) if is_failed else ("success", 0)
            date = datetime.fromisoformat(key[-10:] + "+00:00") if name == "stores" else None
            yield (
                asset_id,
                key,
                date,
                data_at,
                written({"rows": number % 1000}),
                attempt,
                attempt,
                NOW,
                drawn,
            )

    for name in ("today", "hours", "regions", "stores"):
        definition = specs.load(assets[name].partitions, "partitions")
        load(Partition, columns, rows(name, definition.keys(now=NOW)))
    minutes = specs.load(assets["minutes"].partitions, "partitions")
    load(Partition, columns, rows("minutes", minutes.keys(0, int(443_000 * scale), NOW)))


def _events(assets: dict[str, Any], scale: float) -> None:
    from core.models import AssetEvent

    columns = (
        "asset_id",
        "partition_key",
        "extra",
        "source",
        "source_task_id",
        "created_by",
        "timestamp",
        "routed_at",
    )
    stores, days = (
        stores_of(scale),
        [f"{NOW - timedelta(days=number):%Y-%m-%d}" for number in range(1, DAYS + 1)],
    )
    keys = (f"store-{number:03}|{day}" for day, number in product(days * 2, range(stores)))
    rows = (
        (
            assets["stores"].pk,
            key,
            written({"rows": 7}),
            "api",
            "",
            "loader",
            NOW - timedelta(seconds=at),
            NOW,
        )
        for at, key in enumerate(islice(keys, int(1_000_000 * scale)))
    )
    load(AssetEvent, columns, rows)


def _held(scale: float) -> None:
    from core.models import Asset, Dag, HeldRun, ReceivedKey

    columns = (
        *(
            "dag_id",
            "partition_key",
            "round",
            "state",
            "opened_at",
            "last_event_at",
            "closed_by",
            "filled_at",
        ),
        *("verdict", "sentence", "required_count", "received_count", "is_drawn"),
    )
    dags = list(Dag.objects.filter(dag_id__startswith="report_").values_list("pk", flat=True))
    first = datetime(2010, 1, 1, tzinfo=UTC)
    days = [f"{first + timedelta(days=number):%Y-%m-%d}" for number in range(int(100_000 * scale) // REPORTS)]
    rows = (
        (dag, day, 1, "held", NOW - timedelta(minutes=at % 9000), NOW, "", NOW, *_verdict(at), 24, 2, True)
        for at, (dag, day) in enumerate(product(dags, days))
    )
    load(HeldRun, columns, rows)
    upstream = Asset.objects.get(name="stores").pk
    received = (
        (pk, upstream, f"{key}T{hour:02}:00:00", True, NOW)
        for pk, key in HeldRun.objects.order_by("pk").values_list("pk", "partition_key").iterator()
        for hour in (1, 2)
    )
    load(ReceivedKey, ("held_run_id", "asset_id", "key", "is_fresh", "received_at"), received)


def _verdict(at: int) -> tuple[str, str]:
    if at % 5000 == 0:
        return "unreachable", "2026-03-01T05 can never arrive"
    return (
        ("settling", "until 10 minutes after the last")
        if at % 50 == 0
        else ("waiting", "2 of 24 have arrived")
    )


def _runs(scale: float) -> None:
    from core.models import Dag, DagRun, JournalEntry
    from scheduling import backfills, journal
    from tests.engine.world import ALICE

    load = Dag.objects.get(dag_id="load")
    every = [*Dag.objects.filter(dag_id__startswith="report_"), load]
    count = int(100_000 * scale)
    states = ("success", "success", "success", "failed", "success", "cancelled")
    made = (
        DagRun(
            dag=every[at % len(every)],
            run_id=f"r{at}",
            run_type="asset_triggered",
            state=states[at % len(states)],
            partition_key=f"2026-01-{1 + at % 28:02}T{at % 24:02}",
            queued_at=NOW - timedelta(seconds=at),
            run_after=NOW - timedelta(seconds=at),
            started_at=NOW - timedelta(seconds=at),
            ended_at=NOW - timedelta(seconds=at - 9),
            updated_at=NOW,
            error="boom: the file is empty" if at % len(states) == 3 else "",
        )
        for at in reversed(range(count))
    )
    while some := list(islice(made, 5000)):
        DagRun.objects.bulk_create(some)
    journal.note("dag paused", deed=ALICE, at=NOW, about=load)
    entry = JournalEntry.objects.get()
    fields = {
        field.attname: getattr(entry, field.attname) for field in JournalEntry._meta.concrete_fields[1:]
    }
    copies = (JournalEntry(**fields) for _ in range(count))
    while some := list(islice(copies, 5000)):
        JournalEntry.objects.bulk_create(some)
    for number in range(1, 4):
        first = NOW - timedelta(days=6 * number)
        minutes = (first + timedelta(minutes=at) for at in range(5000))
        ask = backfills.Ask((load,), keys=tuple(f"{minute:%Y-%m-%dT%H:%M}" for minute in minutes))
        backfills.start(ask, deed=ALICE, at=NOW)
