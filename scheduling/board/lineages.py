"""What an asset is made of and what is made of it: assets and the Dags between them, from left to right.

Read from the asset outwards, step by step: it costs what is shown, not what there is.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial

from django.db.models import QuerySet

from core.models import Asset, Dag, Dependency, Outlet
from scheduling.belonging import EVERYTHING, Sight

FURTHEST = 6
"""Steps each way: an asset and its Dag are two."""

MOST_NODES = 40
"""What one page shows: of more, the nearest."""

Node = Asset | Dag

Step = tuple[Node, Node]
"""From an asset to a Dag that listens to it, or from a Dag to an asset that it writes."""


class Way(IntEnum):
    UPSTREAM = -1
    DOWNSTREAM = 1

    @property
    def word(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Lineage:
    """`columns` from left to right; `goes_on`: where more comes, which way, that is not shown."""

    columns: list[list[Node]]
    steps: list[Step]
    goes_on: set[tuple[Node, Way]]


def lineage(asset: Asset, *, sight: Sight = EVERYTHING) -> Lineage:
    """Everything that `asset` hangs together with in the one or the other direction, as far as it is shown.

    At most 18 queries, however much there is.
    """
    far = _far(asset, sight)
    steps = _steps(far, sight)
    return Lineage(_columns(far, steps), steps, _goes_on(far, sight))


def _far(focus: Asset, sight: Sight) -> dict[Node, int]:
    """How many steps away each is that is shown, with a minus for what stands upstream."""
    far: dict[Node, int] = {focus: 0}
    rims: dict[Way, list[Node]] = {way: [focus] for way in Way}
    for step in range(1, FURTHEST + 1):
        for way in Way:
            rims[way] = _next(rims[way], way, far, sight)
            far |= dict.fromkeys(rims[way], way * step)
    return far


def _next(rim: Sequence[Node], way: Way, known: Collection[Node], sight: Sight) -> list[Node]:
    """What comes one step after `rim`, as far as there is room."""
    room = MOST_NODES - len(known)
    if not rim or not room:
        return []
    leads = _leads(rim, way, known, sight)
    rows = (
        Dag.objects.filter(pk__in=leads.values("dag")).order_by("dag_id")
        if isinstance(rim[0], Asset)
        else Asset.objects.filter(pk__in=leads.values("asset")).order_by("name")
    )
    return list(rows[:room])


def _goes_on(far: Mapping[Node, int], sight: Sight) -> set[tuple[Node, Way]]:
    found: set[tuple[Node, Way]] = set()
    for way in Way:
        outwards = [node for node, steps in far.items() if steps * way >= 0]
        for name, nodes in (("asset", _assets(outwards)), ("dag", _dags(outwards))):
            leads = _leads(nodes, way, far, sight).values_list(name, flat=True) if nodes else ()
            pks = set(leads)
            found |= {(node, way) for node in nodes if node.pk in pks}
    return found


def _steps(shown: Collection[Node], sight: Sight) -> list[Step]:
    """All steps from one that is shown to another."""
    assets, dags = ({node.pk: node for node in some} for some in (_assets(shown), _dags(shown)))
    steps: list[Step] = []
    for rows in (_seen(Dependency, sight), _seen(Outlet, sight)):
        among = rows.filter(asset__in=assets, dag__in=dags)
        for asset, dag in among.order_by("dag__dag_id", "asset__name").values_list("asset", "dag"):
            step = (assets[asset], dags[dag])
            steps.append(step if rows.model is Dependency else step[::-1])
    return list(dict.fromkeys(steps))


def _leads(
    nodes: Sequence[Node], way: Way, known: Collection[Node], sight: Sight
) -> QuerySet[Dependency | Outlet]:
    """What leads from `nodes`, which are all assets or all Dags, one step further to what is not known."""
    from_assets = isinstance(nodes[0], Asset)
    rows = _seen(Dependency if from_assets == (way is Way.DOWNSTREAM) else Outlet, sight)
    if from_assets:
        return rows.filter(asset__in=nodes).exclude(dag__in=_dags(known))
    return rows.filter(dag__in=nodes).exclude(asset__in=_assets(known))


def _seen(model: type[Dependency | Outlet], sight: Sight) -> QuerySet[Dependency | Outlet]:
    seen = sight.dags("dag") & sight.assets("asset__")
    return model.objects.filter(seen, dag__is_active=True, asset__isnull=False)


def _assets(nodes: Iterable[Node]) -> list[Asset]:
    return [node for node in nodes if isinstance(node, Asset)]


def _dags(nodes: Iterable[Node]) -> list[Dag]:
    return [node for node in nodes if isinstance(node, Dag)]


def _columns(far: Mapping[Node, int], steps: Sequence[Step]) -> list[list[Node]]:
    """The nodes of each distance, near to what they hang together with, from the one asked for outwards."""
    inwards: dict[Way, dict[Node, list[Node]]] = {way: defaultdict(list) for way in Way}
    for left, right in steps:
        inwards[Way.UPSTREAM][left].append(right)
        inwards[Way.DOWNSTREAM][right].append(left)
    columns = {0: [node for node, steps in far.items() if not steps]}
    for way in Way:
        for distance in range(way, way * (FURTHEST + 1), way):
            inner = {node: line for line, node in enumerate(columns[distance - way])}
            here = [node for node, steps in far.items() if steps == distance]
            columns[distance] = sorted(here, key=partial(_line, beside=inwards[way], inner=inner))
    return [columns[distance] for distance in sorted(columns) if columns[distance]]


def _line(node: Node, *, beside: Mapping[Node, Sequence[Node]], inner: Mapping[Node, int]) -> float:
    """The mean line, in the column next to it, of what it hangs together with."""
    found = [inner[other] for other in beside.get(node, ()) if other in inner]
    return sum(found) / len(found) if found else 0
