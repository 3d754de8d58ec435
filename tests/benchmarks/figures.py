"""Figures with their bars, and how busy the machine was while they were taken."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One measurement; `bar` is the least or, if `at_most`, the most that is wanted. No bar: for comparison.

    `cpu` is the processor time meanwhile, in seconds, of our processes and of the database on our behalf.
    """

    work: str
    measured: float
    unit: str
    bar: float | None = None
    at_most: bool = False
    cpu: float | None = None

    @property
    def is_met(self) -> bool:
        if self.bar is None:
            return True
        return self.measured <= self.bar if self.at_most else self.measured >= self.bar

    def line(self) -> str:
        bar = "" if self.bar is None else f"{'≤' if self.at_most else '≥'} {shown(self.bar)}"
        cpu = "" if self.cpu is None else f"{self.cpu:.2f}"
        missed = "" if self.is_met else "  missed"
        amount = f"{shown(self.measured):>10} {self.unit:<9}"
        return f"{self.work:<74}{amount}{bar:>10}{cpu:>9}{os.getloadavg()[0]:>7.2f}{missed}"


HEADING = f"{'work':<74}{'here':>10} {'':<9}{'bar':>10}{'CPU s':>9}{'load':>7}"


def report(figures: Iterable[Figure]) -> int:
    """Print `figures` as they come; 1 if a bar is missed."""
    print(HEADING)
    missed = 0
    for figure in figures:
        print(figure.line(), flush=True)
        missed += not figure.is_met
    return 1 if missed else 0


def options(description: str | None) -> argparse.ArgumentParser:
    """`--scale`: 1 for the sizes that the bars are about, less for a trial."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full sizes (default: 1)")
    return parser


def scale_asked(description: str | None) -> float:
    scale: float = options(description).parse_args().scale
    return scale


def shown(number: float) -> str:
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 10 else f"{number:.3f}"


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Wall seconds, seconds of our own processor time, and what `work` answered."""
    begun, used = perf_counter(), process_time()
    answer = work()
    return perf_counter() - begun, process_time() - used, answer


def percentile(values: Sequence[float], percent: int) -> float:
    """The least value that at least `percent` of a hundred of `values` do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]
