"""Asking why a partition has not run, and runs to ask about."""

from core.models import DagRun
from scheduling import runs
from scheduling.explain import explain
from scheduling.runs import Ask
from tests.engine.world import ALICE, NOW

DAY = "2026-03-10"


def why(dag, key=DAY, at=NOW):
    dag.refresh_from_db()
    return explain(dag, key, now=at)


def trigger(dag, key=DAY, **fields):
    """A run by hand, as `fields` would have it."""
    run = runs.trigger(dag, Ask(key), deed=ALICE, at=NOW)
    DagRun.objects.filter(pk=run.pk).update(**fields)
    return run
