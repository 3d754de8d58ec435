"""`python -m tests.benchmarks.pages`: how long the server takes for each page of a very full site.

On PostgreSQL with 1,000,000 partitions, 100,000 held runs and 1,000,000 events: at most 100 ms at the 95th
percentile, and 200 KB. With `--sqlite` a tenth of that on SQLite, at most 250 ms. `--database URL` takes a
PostgreSQL database of yours, fills it if it is empty, and leaves it. Time of this machine, as it is busy,
from the request to the end of the answer, signed in, without the network. `first` is the first request of a
process that has seen nothing, `cpu` what this process itself computes, which says more where others are busy.
Exits 1 if a page misses its bar.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import quantiles
from time import perf_counter, process_time
from typing import Any
from unittest import mock

from tests import servers
from tests.benchmarks.filling import NOW, fill
from tests.benchmarks.storing import database

ROUNDS = 40
MOST_BYTES = 200_000

PAGES = (
    "/",
    "/?q=store",
    "/?show=problems",
    "/assets/today",
    "/assets/hours",
    "/assets/hours?zoom=2026-03",
    "/assets/regions",
    "/assets/regions?sel=[region-10...region-40]",
    "/assets/stores",
    "/assets/stores?row=270",
    "/assets/stores?zoom=2025",
    "/assets/stores?zoom=2025-03",
    "/assets/stores?zoom=2025-03&sel=*|[2025-03-01...2025-03-09]",
    "/assets/stores?state=failed",
    "/assets/stores?in.store=store-007",
    "/assets/stores?in.store=store-007&zoom=2025-03",
    "/assets/minutes",
    "/assets/minutes?zoom=2026",
    "/assets/minutes?zoom=2026-03",
    "/assets/minutes?zoom=2026-03-14",
    "/assets/minutes?zoom=2026-03-14T09",
    "/assets/minutes?state=missing",
    "/assets/minutes?state=missing&row=400000",
    "/assets/minutes?sel=*&only=failed",
    "/assets/minutes?zoom=2026-03-14T09&key=2026-03-14T09:26",
    "/assets/stores?zoom=2025-03&key=store-007|2025-03-14",
    "/assets/stores?tab=events",
    "/assets/stores?tab=events&contains=store-499",
    "/assets/stores?tab=events&contains=nothing",
    "/assets/stores?tab=lineage",
    "/assets/reports",
    "/assets/reports?state=held",
    "/held",
    "/held?after=50000",
    "/held?verdict=unreachable",
    "/held?verdict=settling",
    "/held?dag=report_7",
    "/held?asset=stores",
    "/held?key=2015-03",
    "/held?key=nothing",
    "/held?order=newest",
    "/held?run=HELD",
    "/held/HELD",
    "/dags",
    "/dags/load",
    "/dags/report_7",
    "/runs",
    "/runs?state=failed",
    "/runs?dag=report_7&state=failed",
    "/runs?key=2026-01-20",
    "/runs?key=nothing",
    "/runs?day=2026-11-28",
    "/runs?day=2026-11-28&dag=report_7&state=failed",
    "/backfills",
    "/backfills/BACKFILL",
    "/backfills/new?dag=load",
    "/backfills/new?dag=load&selection=[2026-03-01T00:00...2026-03-02T23:59]",
    "/backfills/new?dag=load&selection=[2026-03-01T00:00...2026-03-04T11:19]",
    "/backfills/new?dag=report_7",
    "/journal",
    "/journal?dag=load",
    "/journal?by=nobody",
    "/journal?asset=stores",
    "/journal?day=2026-11-28&dag=load",
    "/journal?backfill=BACKFILL",
    "/definitions",
    "/health",
)


@dataclass(frozen=True)
class Figure:
    """Milliseconds of one page, its size and its queries."""

    page: str
    first: float
    p50: float
    p95: float
    cpu: float
    size: int
    queries: int
    bar: float

    @property
    def is_met(self) -> bool:
        return self.p95 <= self.bar and self.size <= MOST_BYTES

    def line(self) -> str:
        missed = "" if self.is_met else "  missed"
        times = f"{self.first:>8.0f}{self.p50:>8.1f}{self.p95:>8.1f}{self.cpu:>8.1f}"
        return f"{self.page:<62}{times}{self.size / 1000:>8.1f}{self.queries:>5}{missed}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sqlite", action="store_true")
    parser.add_argument("--database", default="")
    parser.add_argument("--only", default="", help="pages whose address contains this")
    options = parser.parse_args()
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        try:
            os.environ["DATABASE_URL"] = options.database or database(
                stack, "pages", options.sqlite, directory
            )
        except servers.Missing as missing:
            print(f"NOT RUN HERE: {missing}")
            return 1
        os.environ["PARTITA_DATA_DIR"] = directory
        os.environ["DJANGO_SETTINGS_MODULE"] = "partitions_site.settings"
        os.environ["PARTITA_LOG_LEVEL"] = "ERROR"
        _prepare(0.1 if options.sqlite else 1)
        bar = 250 if options.sqlite else 100
        head = f"bar: {bar} ms, {MOST_BYTES // 1000} KB"
        print(f"{head:<62}{'first':>8}{'p50':>8}{'p95':>8}{'cpu':>8}{'KB':>8}{'sql':>5}")
        met = True
        for figure in measured(bar, options.only):
            print(figure.line(), flush=True)
            met &= figure.is_met
        print(f"load {os.getloadavg()[0]:.2f}")
    return 0 if met else 1


def measured(bar: float, only: str = "") -> Iterator[Figure]:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from core.models import Backfill, HeldRun
    from partitions_site.warming import warm_up

    warm_up()
    client = Client(headers={"host": "localhost"})
    client.force_login(_somebody())

    backfill, held = Backfill.objects.latest("pk"), HeldRun.objects.held().latest("pk")

    def ask(page: str) -> tuple[float, Any]:
        begun = perf_counter()
        answer = client.get(page.replace("BACKFILL", str(backfill.pk)).replace("HELD", str(held.pk)))
        taken = 1000 * (perf_counter() - begun)
        if answer.status_code != 200:
            raise SystemExit(f"{page}: {answer.status_code}")
        return taken, answer

    with mock.patch("django.utils.timezone.now", return_value=NOW):
        for page in PAGES:
            if only in page:
                first, answer = ask(page)
                computed = process_time()
                times = [ask(page)[0] for _ in range(ROUNDS)]
                cpu = 1000 * (process_time() - computed) / ROUNDS
                with CaptureQueriesContext(connection) as queries:
                    ask(page)
                p95 = quantiles(times, n=20)[-1]
                p50, size = quantiles(times, n=2)[0], len(answer.content)
                yield Figure(page, first, p50, p95, cpu, size, len(queries), bar)


def _prepare(scale: float) -> None:
    """Fill the database, unless it is, and draw it."""
    import django
    from django.core.management import call_command

    django.setup()
    from core.models import Partition
    from scheduling import drawings

    call_command("migrate", verbosity=0)
    if not Partition.objects.exists():
        begun = perf_counter()
        fill(scale)
        print(f"filled in {perf_counter() - begun:.0f} s", flush=True)
    begun = perf_counter()
    while drawings.draw(now=NOW):
        pass
    print(f"drawn in {perf_counter() - begun:.0f} s", flush=True)


def _somebody() -> Any:
    from django.contrib.auth.models import User

    found = User.objects.filter(username="bench").first()
    return found or User.objects.create_superuser("bench", password="bench")


if __name__ == "__main__":
    sys.exit(main())
