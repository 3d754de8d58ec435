"""Which Dags write what others listen to, and in which order they come."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from core.models import Dag, Dependency, Outlet
from scheduling.backfills.asking import CannotBackfill

DagId = int
Links = dict[int, set[int]]


@dataclass(frozen=True, slots=True)
class Graph:
    """The active Dags whose runs have keys, and the assets that they write and listen to, both ways."""

    writes: Links
    hears: Links
    written_by: Links
    heard_by: Links

    def before(self, dag_id: DagId) -> set[DagId]:
        """Those that write what the Dag listens to."""
        found = {other for asset in self.hears.get(dag_id, ()) for other in self.written_by.get(asset, ())}
        return found - {dag_id}

    def after(self, dag_id: DagId) -> set[DagId]:
        """Those that listen to what the Dag writes."""
        found = {other for asset in self.writes.get(dag_id, ()) for other in self.heard_by.get(asset, ())}
        return found - {dag_id}

    def upstream(self, dag_ids: Iterable[DagId]) -> set[DagId]:
        """The Dags themselves, and all those they wait for, directly or not."""
        return _reached(dag_ids, self.before)

    def downstream(self, dag_ids: Iterable[DagId]) -> set[DagId]:
        """The Dags themselves, and all those that wait for them, directly or not."""
        return _reached(dag_ids, self.after)

    def layers(self, dag_ids: Collection[DagId]) -> dict[DagId, int]:
        """Each of them, with how many of them wait for each other before it; those before others first.

        :raises CannotBackfill: if they wait for each other in a circle.
        """
        before = {dag_id: self.before(dag_id) & set(dag_ids) for dag_id in sorted(dag_ids)}
        try:
            order = list(TopologicalSorter(before).static_order())
        except CycleError as error:
            names = Dag.objects.in_bulk(error.args[1])
            circle = " → ".join(names[dag_id].dag_id for dag_id in error.args[1])
            raise CannotBackfill(f"these Dags wait for each other in a circle: {circle}") from None
        layers: dict[DagId, int] = {}
        for dag_id in order:
            layers[dag_id] = max((layers[other] + 1 for other in before[dag_id]), default=0)
        return dict(sorted(layers.items(), key=lambda pair: pair[1]))


def load() -> Graph:
    """As things are defined now: two queries."""
    there = {"dag__is_active": True, "dag__is_partitioned": True}
    written = list(Outlet.objects.filter(**there).values_list("dag_id", "asset_id"))
    rows = Dependency.objects.filter(**there).values_list("dag_id", "asset_id")
    heard = [(dag, asset) for dag, asset in rows if asset]
    return Graph(
        writes=_grouped(written),
        hears=_grouped(heard),
        written_by=_grouped((asset, dag) for dag, asset in written),
        heard_by=_grouped((asset, dag) for dag, asset in heard),
    )


def _grouped(pairs: Iterable[tuple[int, int]]) -> Links:
    found: Links = defaultdict(set)
    for first, second in pairs:
        found[first].add(second)
    return dict(found)


def _reached(dag_ids: Iterable[DagId], step: Callable[[DagId], set[DagId]]) -> set[DagId]:
    found: set[DagId] = set()
    ahead = list(dag_ids)
    while ahead:
        dag_id = ahead.pop()
        if dag_id not in found:
            found.add(dag_id)
            ahead += step(dag_id)
    return found
