"""Runs that tests trigger and execute, and what came of them."""

from datetime import timedelta

from core.models import AssetEvent, Dag, DagRun, LogLine
from scheduling import execution, runs
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import ALICE, NOW
from tests.sdk.writing import Directory

SECOND = timedelta(seconds=1)


def claimed(dag_id: str = "d", key: str | None = None, **ask) -> DagRun:
    dag = Dag.objects.get(dag_id=dag_id)
    return world.start(runs.trigger(dag, Ask(partition_key=key, **ask), deed=ALICE, at=NOW))


def run(dag_id: str = "d", key: str | None = None, **ask) -> DagRun:
    """Trigger the Dag and execute its run."""
    claim = claimed(dag_id, key, **ask)
    execution.execute(claim, clock=lambda: NOW + SECOND)
    return DagRun.objects.get(pk=claim.pk)


def again(run: DagRun) -> DagRun:
    """The run as it is now."""
    return DagRun.objects.select_related("dag").get(pk=run.pk)


def defined(directory: Directory, text: str) -> None:
    directory.write("a", text)
    report = directory.sync()
    assert report.ok, report.troubles


def log(run: DagRun) -> list[str]:
    return [line.text for line in LogLine.objects.filter(run=run)]


def emitted(run: DagRun) -> list[tuple[str, str | None, dict]]:
    return list(
        AssetEvent.objects.filter(source_run=run).values_list("asset__name", "partition_key", "extra")
    )
