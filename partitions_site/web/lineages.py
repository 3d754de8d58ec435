"""The picture of what an asset is made of and what is made of it: cards and lines, in pixels."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from core.models import Asset
from scheduling import board
from scheduling.belonging import Sight
from scheduling.board import Bar, Lack, Lineage, Node, Way

WIDTH, HEIGHT = 210, 58
"""Of a card: what is on it is drawn in `_lineage.html`."""

BESIDE, BELOW, MARGIN = 64, 14, 3
"""Between two cards there is room to say that it goes on."""

COLUMNS = 60
"""Columns of a bar on a card."""


@dataclass(frozen=True, slots=True)
class Card:
    """An asset, with the bar of its history, or a Dag; and where its upper left corner is drawn.

    `lack`: what of the history is being drawn and not in the bar.
    """

    row: Node
    bar: Bar | None
    lack: Lack
    x: float
    y: float
    goes_on: tuple[Way, ...] = ()

    @property
    def words(self) -> str:
        """The bar of an asset as a sentence."""
        if self.bar is None or self.lack is Lack.EVERYTHING:
            return "being drawn"
        return f"{self.bar.words}; older than the data, being drawn" if self.lack else self.bar.words

    @property
    def middle(self) -> float:
        return self.y + HEIGHT / 2

    @property
    def onwards(self) -> list[tuple[str, float]]:
        """Which way it goes on, and where the room to say so begins."""
        return [(way.word, self.x + (WIDTH if way is Way.DOWNSTREAM else -BESIDE)) for way in self.goes_on]

    def line_to(self, other: "Card") -> str:
        """The path of the line that leads from one card to another."""
        begin, end = self.x + WIDTH, other.x
        down, up, half = self.middle, other.middle, (begin + end) / 2
        return f"M{begin:g} {down:g}C{half:g} {down:g} {half:g} {up:g} {end:g} {up:g}"


@dataclass(frozen=True, slots=True)
class Picture:
    """`lines` are paths from card to card."""

    cards: list[Card]
    lines: list[str]
    width: float
    height: float


def picture_of(asset: Asset, sight: Sight, now: datetime) -> Picture:
    found = board.lineage(asset, sight=sight)
    margin = BESIDE if found.goes_on else MARGIN
    cards = {card.row: card for card in _cards(found, _bars(found, now), margin)}
    lines = [cards[left].line_to(cards[right]) for left, right in found.steps]
    width = max(card.x for card in cards.values()) + WIDTH + margin
    height = max(card.y for card in cards.values()) + HEIGHT + MARGIN
    return Picture(list(cards.values()), lines, width, height)


def _cards(found: Lineage, bars: Mapping[Node, tuple[Bar, Lack]], margin: float) -> Iterator[Card]:
    tallest = max(map(len, found.columns))
    for number, column in enumerate(found.columns):
        x = margin + number * (WIDTH + BESIDE)
        for line, node in enumerate(column):
            y = MARGIN + (line + (tallest - len(column)) / 2) * (HEIGHT + BELOW)
            ways = tuple(way for way in Way if (node, way) in found.goes_on)
            bar, lack = bars.get(node, (None, Lack.NOTHING))
            yield Card(node, bar, lack, x, y, ways)


def _bars(found: Lineage, now: datetime) -> dict[Node, tuple[Bar, Lack]]:
    assets = [node for column in found.columns for node in column if isinstance(node, Asset)]
    states = board.read(assets, now=now, patient=False)
    return {
        asset: (board.draw(states[asset.pk].cells, most=COLUMNS), states[asset.pk].lack) for asset in assets
    }
