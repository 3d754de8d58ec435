"""`python -m tests.benchmarks.backfills`: 547,500 partitions planned, recorded and advanced, on PostgreSQL.

A server that runs already is used, with a database of its own, or else a private one is started. Wall time
of this machine, as it is busy. Exits 1 if a figure misses its bar.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from tests import servers

STORES = 500
FIRST, LAST = "2023-01-01", "2025-12-31"
"""The days from the first up to but not including the last: 1,095 of them."""
KEYS = STORES * 1095
NOW = datetime(2026, 3, 1, tzinfo=UTC)
ROUNDS = 8


@dataclass(frozen=True)
class Figure:
    """Seconds that some work took, and how many it may take."""

    work: str
    seconds: float
    bar: float | None = None

    @property
    def is_met(self) -> bool:
        return self.bar is None or self.seconds <= self.bar

    def line(self) -> str:
        bar = f"{self.bar:>10.3f}" if self.bar is not None else " " * 10
        return f"{self.work:<68}{self.seconds:>10.3f}{bar}{'' if self.is_met else '  missed'}"


def main() -> int:
    with ExitStack() as stack:
        try:
            server = stack.enter_context(servers.postgres())
        except servers.Missing as missing:
            print(f"NOT RUN HERE: {missing}")
            return 1
        name = f"partita_benchmark_{os.getpid()}"
        os.environ["DATABASE_URL"] = stack.enter_context(servers.empty_postgres_database(server, name))
        os.environ["PARTITA_DATA_DIR"] = stack.enter_context(tempfile.TemporaryDirectory())
        os.environ["DJANGO_SETTINGS_MODULE"] = "partitions_site.settings"
        os.environ["PARTITA_LOG_LEVEL"] = "ERROR"
        _prepare()
        print(f"{'seconds':<68}{'here':>10}{'bar':>10}")
        figures = []
        for figure in measured():
            print(figure.line(), flush=True)
            figures.append(figure)
    return 0 if all(figure.is_met for figure in figures) else 1


def measured() -> Iterator[Figure]:
    from scheduling import backfills
    from tests.engine import world

    load = world.dag("load", {"type": "PartitionedAtRuntime"}, writes=["sales"], max_active_runs=10_000)
    world.Asset.objects.filter(name="sales").update(partitions=_definition())
    ask = backfills.Ask((load,), max_active_runs=10)

    seconds, plan = timed(lambda: backfills.plan(ask, now=NOW))
    assert plan.count == KEYS
    yield Figure(f"plan {KEYS:,} keys", seconds, 2)
    token = plan.token()
    seconds, backfill = timed(lambda: backfills.start(ask, deed=world.ALICE, at=NOW, shown=token))
    yield Figure("plan them again, compare, and record a row for each", seconds, 20)
    seconds, _ = timed(lambda: backfills.advance(now=NOW))
    yield Figure("queue the first runs", seconds, 0.5)
    large = statistics.median(rounds(backfill))
    yield from _steered(backfill)
    small = backfills.start(_part(load, 100), deed=world.ALICE, at=NOW)
    backfills.advance(now=NOW)
    few = statistics.median(rounds(small))
    yield Figure("collect 10 runs and queue 10, of 100 keys", few)
    yield Figure(f"the same with {KEYS:,} keys", large, max(2 * few, 0.05))
    backfills.cancel(small, deed=world.ALICE, at=NOW)
    yield from _all_runs_at_once(load)
    yield from _with_everything_there(load, ask)


def rounds(backfill: Any) -> Iterator[float]:
    """How long each of several advances takes: ten runs have ended, the next ten are queued."""
    from core.models import DagRun
    from scheduling import backfills

    for _ in range(ROUNDS):
        queued = DagRun.objects.filter(backfill=backfill, state="queued").order_by("pk")[:10]
        pks = list(queued.values_list("pk", flat=True))
        DagRun.objects.filter(pk__in=pks).update(state="failed", ended_at=NOW, error="boom")
        yield timed(lambda: backfills.advance(now=NOW))[0]


def _steered(backfill: Any) -> Iterator[Figure]:
    from scheduling import backfills
    from tests.engine.world import ALICE

    seconds, _ = timed(lambda: backfills.pause(backfill, deed=ALICE, at=NOW))
    yield Figure("pause it", seconds, 0.5)
    seconds, _ = timed(lambda: backfills.cancel(backfill, deed=ALICE, at=NOW))
    yield Figure("cancel it: nothing starts any more", seconds, 2)
    seconds, _ = timed(lambda: _until_asleep(backfills.advance))
    yield Figure(f"until all {KEYS:,} rows say so", seconds)


def _all_runs_at_once(load: Any) -> Iterator[Figure]:
    """Airflow takes 26 s for the run rows of 5,000 partitions."""
    from core.models import DagRun
    from scheduling import backfills
    from tests.engine.world import ALICE

    many = _part(load, 5000, max_active_runs=5000)

    def start() -> Any:
        backfill = backfills.start(many, deed=ALICE, at=NOW)
        _until_asleep(backfills.advance)
        return backfill

    seconds, backfill = timed(start)
    assert DagRun.objects.filter(backfill=backfill).count() == 5000
    yield Figure("5,000 partitions: plan, record, and all run rows", seconds, 26 / 20)
    backfills.cancel(backfill, deed=ALICE, at=NOW)


def _with_everything_there(load: Any, ask: Any) -> Iterator[Figure]:
    """A plan has to say of each key that it has data."""
    from core import bulk
    from core.models import Asset, Partition
    from scheduling import backfills
    from scheduling.backfills import Wanted

    asset = Asset.objects.get(name="sales")
    keys = backfills.plan(ask, now=NOW).parts[0].order[: KEYS // 2]
    columns = ("asset_id", "key", "data_at", "attempt", "outcome", "updated_at")
    rows = [(asset.pk, key, NOW, "success", "success", NOW) for key in keys]
    for start in range(0, len(rows), 50_000):
        portion = [(*row, {}) for row in rows[start : start + 50_000]]
        bulk.insert(Partition, (*columns, "extra"), portion, bulk.Ignore())
    seconds, plan = timed(lambda: backfills.plan(ask, now=NOW))
    yield Figure(f"plan {KEYS:,} keys of which {plan.skipped:,} have data", seconds)
    missing = backfills.Ask((load,), wanted=Wanted.MISSING)
    seconds, plan = timed(lambda: backfills.plan(missing, now=NOW))
    yield Figure(f"find the {plan.count:,} missing ones among them", seconds)


def _part(load: Any, count: int, **options: Any) -> Any:
    from scheduling import backfills

    days = -(-count // STORES)
    first = f"{FIRST[:8]}{1:02}"
    last = f"{FIRST[:8]}{days:02}"
    stores = f"[store-000...store-{min(count, STORES) - 1:03}]"
    text = f"[{first}...{last}]|{stores}"
    return backfills.Ask((load,), selection=text, reprocess=backfills.Reprocess.COMPLETED, **options)


def _definition() -> dict[str, Any]:
    from scheduling.algebra import specs
    from scheduling.algebra.dimensions import MultiPartitions
    from scheduling.algebra.partitions import StaticPartitions
    from scheduling.algebra.time_shorthands import DailyPartitions

    stores = StaticPartitions([f"store-{number:03}" for number in range(STORES)])
    return specs.dump(MultiPartitions({"day": DailyPartitions(FIRST, LAST), "store": stores}))


def _prepare() -> None:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def _until_asleep(advance: Callable[..., int]) -> None:
    while advance(now=NOW):
        pass


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = perf_counter()
    answer = work()
    return perf_counter() - begun, answer


if __name__ == "__main__":
    sys.exit(main())
