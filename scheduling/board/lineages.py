"""What an asset is made of and what is made of it: assets and the Dags between them, from left to right."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from core.models import Asset, Dag, Dependency, Outlet
from scheduling.belonging import EVERYTHING, Sight

FURTHEST = 6
"""Steps each way: an asset and its Dag are two."""

MOST_NODES = 40
"""What one page shows: of more, the nearest."""

ASSET, DAG = "asset", "dag"

Name = tuple[str, int]
"""Which of the two, and a primary key."""

Links = Mapping[Name, Sequence[Name]]


WIDTH, HEIGHT, BESIDE, BELOW, EDGE = 210, 58, 46, 14, 3
"""Of a card, and the room between two, in pixels."""


@dataclass(frozen=True, slots=True)
class Card:
    """An asset, or a Dag, and where its upper left corner is drawn."""

    row: Asset | Dag
    x: float
    y: float

    @property
    def asset(self) -> Asset | None:
        return self.row if isinstance(self.row, Asset) else None

    def link_to(self, other: "Card") -> str:
        """The path of the line that leads from one card to another."""
        begin, end = self.x + WIDTH, other.x
        (down, up), half = (each.y + HEIGHT / 2 for each in (self, other)), (begin + end) / 2
        return f"M{begin:g} {down:g}C{half:g} {down:g} {half:g} {up:g} {end:g} {up:g}"


@dataclass(frozen=True, slots=True)
class Lineage:
    """`links` are paths from card to card; `left_off`: so many more are within as many steps of it."""

    cards: list[Card]
    links: list[str]
    width: float
    height: float
    left_off: int = 0


def lineage(asset: Asset, *, sight: Sight = EVERYTHING) -> Lineage:
    """Everything that `asset` hangs together with in the one or the other direction, as far as it is shown.

    Four queries.
    """
    before, after = _links(sight)
    focus: Name = (ASSET, asset.pk)
    steps = _steps(focus, before, after)
    shown = sorted(steps, key=lambda name: abs(steps[name]))[:MOST_NODES]
    rows = _rows(shown)
    columns = _columns({name: steps[name] for name in rows}, before, after)
    tallest = max(map(len, columns))
    cards = {
        name: Card(rows[name], *_corner(number, line + (tallest - len(column)) / 2))
        for number, column in enumerate(columns)
        for line, name in enumerate(column)
    }
    pairs = ((name, other) for name in cards for other in after.get(name, ()) if other in cards)
    links = [cards[name].link_to(cards[other]) for name, other in pairs]
    right, low = _corner(len(columns) - 1, tallest - 1)
    size = (right + WIDTH + EDGE, low + HEIGHT + EDGE)
    return Lineage(list(cards.values()), links, *size, len(steps) - len(shown))


def _corner(column: int, line: float) -> tuple[float, float]:
    return EDGE + column * (WIDTH + BESIDE), EDGE + line * (HEIGHT + BELOW)


def _links(sight: Sight) -> tuple[Links, Links]:
    """What stands before each asset and Dag, and what after it."""
    seen = sight.dags("dag") & sight.assets("asset__")
    read = Dependency.objects.filter(seen, dag__is_active=True, asset__isnull=False)
    written = Outlet.objects.filter(seen, dag__is_active=True)
    by_name = ("dag__dag_id", "asset__name")
    pairs: list[tuple[Name, Name]] = [
        *(
            ((ASSET, pk), (DAG, dag))
            for pk, dag in read.order_by(*by_name).values_list("asset_id", "dag_id")
            if pk
        ),
        *(
            ((DAG, dag), (ASSET, pk))
            for pk, dag in written.order_by(*by_name).values_list("asset_id", "dag_id")
        ),
    ]
    before: dict[Name, list[Name]] = defaultdict(list)
    after: dict[Name, list[Name]] = defaultdict(list)
    for first, second in dict.fromkeys(pairs):
        after[first].append(second)
        before[second].append(first)
    return before, after


def _steps(focus: Name, before: Links, after: Links) -> dict[Name, int]:
    """How far each is from the one asked for, with a minus for what stands before it."""
    steps = {focus: 0}
    for sign, links in ((-1, before), (1, after)):
        edge = [focus]
        for far in range(1, FURTHEST + 1):
            beyond = dict.fromkeys(other for name in edge for other in links.get(name, ()))
            edge = [name for name in beyond if name not in steps]
            steps |= dict.fromkeys(edge, sign * far)
    return steps


def _columns(steps: Mapping[Name, int], before: Links, after: Links) -> list[list[Name]]:
    """The nodes of each distance, near to what they are linked with, from the one asked for outwards."""
    columns: dict[int, list[Name]] = {0: [name for name, far in steps.items() if not far]}
    for sign, links in ((-1, after), (1, before)):
        for far in range(sign, sign * (FURTHEST + 1), sign):
            inner = {name: line for line, name in enumerate(columns[far - sign])}
            here = [name for name, step in steps.items() if step == far]
            columns[far] = sorted(here, key=partial(_height, links=links, inner=inner))
    return [columns[far] for far in sorted(columns) if columns[far]]


def _height(name: Name, *, links: Links, inner: Mapping[Name, int]) -> float:
    """The mean line, in the column next to it, of what it is linked with."""
    found = [inner[other] for other in links.get(name, ()) if other in inner]
    return sum(found) / len(found) if found else 0


def _rows(names: Sequence[Name]) -> dict[Name, Asset | Dag]:
    assets = Asset.objects.in_bulk([pk for kind, pk in names if kind == ASSET])
    dags = Dag.objects.in_bulk([pk for kind, pk in names if kind == DAG])
    found: dict[str, Mapping[int, Asset | Dag]] = {ASSET: assets, DAG: dags}
    return {(kind, pk): found[kind][pk] for kind, pk in names if pk in found[kind]}
