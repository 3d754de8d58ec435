"""Dags that share pools, and runs of theirs that are queued, started and ended."""

from collections import Counter

from core.models import DagRun, Pool
from scheduling import claims, newruns, turns
from scheduling.newruns import NewRun, Type
from tests.engine.world import NOW, RUNTIME, dag


def pool(name="sftp", slots=4):
    return Pool.objects.create(name=name, slots=slots, created_at=NOW, updated_at=NOW)


def member(name, of, slots=1, **fields):
    return dag(name, RUNTIME, pool=of, pool_slots=slots, **fields)


def queue(made, count, backfill=None):
    new = [
        NewRun(made, Type.SCHEDULED, partition_key=f"{number}", backfill=backfill) for number in range(count)
    ]
    return newruns.create(new, at=NOW)


def dispatched(now=NOW):
    """How many runs of each Dag may start now."""
    return Counter(run.dag.dag_id for run in DagRun.objects.filter(pk__in=turns.dispatch(now=now)))


def start_all(now=NOW):
    """Start what may, as messages would; the Dags of what has started."""
    claimed = [claims.claim(pk, worker="w", now=now) for pk in turns.dispatch(now=now)]
    return Counter(run.dag.dag_id for run in claimed if run)


def end_one(dag_id, at=NOW):
    claims.succeed(DagRun.objects.filter(dag__dag_id=dag_id, state="running").first(), [], at=at)
