"""`python -m tests.benchmarks.algebra`: how fast keys are mapped, beside a plain strptime/strftime loop.

Each figure is the best of several rounds in processor time, so that a busy machine does not blur it, with
keys never seen before unless it says otherwise. Exits 1 if a figure misses its target.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import process_time

from scheduling.algebra.composites import ProductMapper
from scheduling.algebra.mappers import IdentityMapper
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.temporal import StartOfDayMapper, StartOfHourMapper, StartOfYearMapper
from scheduling.algebra.time_shorthands import MinutelyPartitions
from scheduling.algebra.windows import DayWindow, YearWindow

ROUNDS = 5
MOMENTS = [datetime(2001, 1, 1) + timedelta(seconds=977 * n) for n in range(ROUNDS * 40_000)]


@dataclass(frozen=True)
class Figure:
    """One measurement: `rate` a second, the same work in plain Python, and the least that is wanted."""

    work: str
    rate: float
    plain: float | None
    target: float

    @property
    def is_met(self) -> bool:
        return self.rate >= self.target

    def line(self) -> str:
        plain = f"{self.plain:>12,.0f} {self.rate / self.plain:>7.1f}" if self.plain else " " * 20
        missed = "" if self.is_met else "  missed"
        return f"{self.work:<46}{self.rate:>12,.0f} {plain} {self.target:>12,.0f}{missed}"


def main() -> int:
    print(f"{'calls a second':<46}{'here':>12} {'plain loop':>12} {'ratio':>7} {'target':>12}")
    figures = list(measured())
    for figure in figures:
        print(figure.line())
    return 0 if all(figure.is_met for figure in figures) else 1


def measured() -> Iterable[Figure]:
    keys = [moment.isoformat() for moment in MOMENTS]
    hour = StartOfHourMapper()
    yield Figure("StartOfHour.to_downstream", rate(hour.to_downstream, keys), rate(plain_hour, keys), 585_000)
    zoned = StartOfHourMapper("Asia/Kolkata")
    yield Figure("StartOfHour in a zone", rate(zoned.to_downstream, keys), rate(plain_hour, keys), 234_000)
    again = keys[:1000] * 40 * ROUNDS
    yield Figure("StartOfHour, keys seen before", rate(hour.to_downstream, again), None, 585_000)
    product = ProductMapper(IdentityMapper(), StartOfDayMapper())
    pairs = [f"us|{key}" for key in keys]
    yield Figure(
        "Product.to_downstream", rate(product.to_downstream, pairs), rate(plain_product, pairs), 330_000
    )
    days = [(datetime(1900, 1, 1) + timedelta(days=n)).date().isoformat() for n in range(ROUNDS * 3_000)]
    rollup = RollupMapper(StartOfDayMapper(), DayWindow())
    yield Figure(
        "required of a day of hours, new", rate(rollup.required, days), rate(plain_day, days), 15_000
    )
    yield Figure(
        "required of a day of hours, asked again", rate(rollup.required, days[-500:] * 100), None, 50_000
    )
    years = [f"{year:04}" for year in range(1000, 1000 + ROUNDS * 60)]
    year = RollupMapper(StartOfYearMapper(input_format="%Y-%m-%d"), YearWindow())
    yield Figure(
        "required of a year of days, new", rate(year.required, years), rate(plain_year, years), 1_000
    )
    minutes = MinutelyPartitions("2024-01-01", "2025-11-25T10:40")
    numbers = [n * 97 % 1_000_000 for n in range(ROUNDS * 2_000)]
    yield Figure("key of a number among 1,000,000 minutes", rate(minutes.key_at, numbers), None, 1_000)
    yield Figure("count of 1,000,000 minutes", rate(lambda _: minutes.count(), numbers[:500]), None, 1_000)


def rate(call: Callable[[str], object], arguments: Sequence[object]) -> float:
    """Calls a second, in the best of the rounds that the arguments are dealt to."""
    share = len(arguments) // ROUNDS
    best = 0.0
    for first in range(0, share * ROUNDS, share):
        dealt = arguments[first : first + share]
        began = process_time()
        for argument in dealt:
            call(argument)  # type: ignore[arg-type]
        best = max(best, share / (process_time() - began))
    return best


def plain_hour(key: str) -> str:
    moment = datetime.strptime(key, "%Y-%m-%dT%H:%M:%S")
    return moment.replace(minute=0, second=0).strftime("%Y-%m-%dT%H")


def plain_product(key: str) -> str:
    region, moment = key.split("|")
    return f"{region}|{datetime.strptime(moment, '%Y-%m-%dT%H:%M:%S').strftime('%Y-%m-%d')}"


def plain_day(key: str) -> list[str]:
    start = datetime.strptime(key, "%Y-%m-%d")
    return [(start + timedelta(hours=hour)).strftime("%Y-%m-%dT%H:%M:%S") for hour in range(24)]


def plain_year(key: str) -> list[str]:
    start = datetime.strptime(key, "%Y")
    days = (start.replace(year=start.year + 1) - start).days
    return [(start + timedelta(days=day)).strftime("%Y-%m-%d") for day in range(days)]


if __name__ == "__main__":
    sys.exit(main())
