"""Rows of lists that are selected, and deeds that are asked for and done to them."""

from core.models import DagRun
from scheduling import claims, runs
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import ALICE, NOW, RUNTIME
from tests.web.reading import read


def trigger(name, *keys):
    made = world.Dag.objects.filter(dag_id=name).first() or world.dag(
        name, RUNTIME, writes=[f"out of {name}"]
    )
    return [runs.trigger(made, Ask(key), deed=ALICE, at=NOW) for key in keys]


def fail(*rows):
    for run in rows:
        claims.fail(world.start(run), "boom", at=NOW)
    return rows


def numbers(rows):
    return ",".join(str(row.pk) for row in rows)


def ask(visitor, deed, sel, **query):
    return read(visitor.get(f"/{deed}", {"sel": sel, **query}))


def send(visitor, page, deed, **answers):
    return visitor.post(f"/{deed}", page.fields | answers)


def states():
    return sorted(DagRun.objects.values_list("partition_key", "state"))
