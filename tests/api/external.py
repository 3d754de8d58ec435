"""Runs that other systems execute."""

from core.models import Dag, DagRun
from scheduling import runs
from scheduling.runs import Ask
from tests.engine.world import ALICE, NOW


def trigger(made: Dag, *keys: str) -> list[DagRun]:
    return [runs.trigger(made, Ask(key, conf={"n": 1}), deed=ALICE, at=NOW) for key in keys]
