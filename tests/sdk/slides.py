"""Runs of what a slide defines, and what came of them."""

from core.models import AssetEvent, DagRun, LogLine
from scheduling import execution, runs
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import ALICE
from tests.sdk.writing import NOW, dag


def run(dag_id: str, key: str | None = None) -> DagRun:
    """Trigger the Dag by hand, execute the run."""
    made = runs.trigger(dag(dag_id), Ask(partition_key=key), deed=ALICE, at=NOW)
    return executed(made)


def executed(made: DagRun) -> DagRun:
    execution.execute(world.start(made), clock=lambda: NOW)
    made.refresh_from_db()
    assert made.state == "success", made.error
    return made


def keys_of(name: str) -> list[str | None]:
    """The keys of the events of an asset, in the order they came."""
    return list(AssetEvent.objects.filter(asset__name=name).values_list("partition_key", flat=True))


def log(made: DagRun) -> list[str]:
    return list(LogLine.objects.filter(run=made).values_list("text", flat=True))
