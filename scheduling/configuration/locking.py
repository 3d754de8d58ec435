"""Locks of whoever changes how Dags listen, or what files say of them.

1. One changes at a time: what each writes of others is read from a world that stands still.
2. The rows of all Dags that will be written, by primary key, before anything else of theirs is locked: other
   writers lock Dags in that order and then what they hold, and nobody waits for each other in a circle.
"""

from django.db.models import Q

from core import locks
from core.models import Dag, Dependency


def lock_around(dag: Dag) -> Dag:
    """Lock `dag` and all that what it writes feeds, on whose pages a change of it shows; `dag` as it is."""
    locks.hold_configuration()
    return _locked(Q(pk__in={dag.pk, *_fed_by(dag.pk)}))[dag.dag_id]


def lock_all() -> dict[str, Dag]:
    """Lock every Dag there is; each by its name."""
    locks.hold_configuration()
    return _locked(Q())


def _locked(which: Q) -> dict[str, Dag]:
    rows = Dag.objects.filter(which).order_by("pk").select_for_update(no_key=True, of=("self",))
    return {row.dag_id: row for row in rows}


def _fed_by(pk: int) -> set[int]:
    """The Dags that listen to what a Dag writes, or to what they write in turn. A query for each step."""
    found, writers = {pk}, {pk}
    links = Dependency.objects.filter(dag__is_active=True, asset__outlets__dag__is_active=True).order_by()
    while writers:
        fed = links.filter(asset__outlets__dag__in=writers).values_list("dag_id", flat=True)
        writers = set(fed) - found
        found |= writers
    return found
