"""Runs of a Dag `d` that are sent elsewhere, and what came of them."""

from core.models import AssetEvent, Dag, DagRun, LogLine
from scheduling import execution, runs
from scheduling.runs import Ask
from tests.engine.executing import again
from tests.engine.world import ALICE, NOW, start

SECRET = "correct horse battery"


def trigger(key="k", **ask):
    return runs.trigger(Dag.objects.get(dag_id="d"), Ask(key, **ask), deed=ALICE, at=NOW)


def send(run, at=NOW):
    """One attempt at the run, as a worker makes it."""
    execution.execute(start(DagRun.objects.get(pk=run.pk), at=at), clock=lambda: at)
    return again(run)


def emitted():
    rows = AssetEvent.objects.order_by("asset__name", "pk")
    return list(rows.values_list("asset__name", "partition_key", "extra"))


def log(run):
    return list(LogLine.objects.filter(run=run).values_list("text", flat=True))
