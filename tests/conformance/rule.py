"""One difference between Airflow and Partita, by which recorded answers are judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.conformance.vectors import Answer, Vector


@dataclass(frozen=True)
class Rule:
    """One difference: what each of the two does, and why ours is to be preferred."""

    name: str
    airflow: str
    partita: str
    why: str
    applies: Callable[[Vector, Answer], bool]
