"""How far each asset of a held run is, and who owes what it lacks: as much of it as one page has room for."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from core.models import Asset, HeldRun
from scheduling import board
from scheduling.algebra.conditions import Leaf
from scheduling.algebra.progress import Progress
from scheduling.algebra.verdicts import Verdict
from scheduling.board import Excerpt, Together
from scheduling.expected import Owed

SHOWN_MISSING = 1000
"""Missing keys of one asset of which a page says who owes them."""

MOST_OWED, MOST_ALIKE, MOST_LISTED = 45_000, 4000, 12_000
"""Bytes that keys may take, as addresses have them: those of which is said who owes them, those of them that
are owed alike, and those in each other list."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How far one asset of a held run is, and who owes what is missing: each key, those alike together.

    `room` is what each list of its keys has on the page, `keys_at` where all are.
    """

    progress: Progress
    asset: Asset | None
    owed: list[Owed]
    groups: Excerpt[Together]
    room: int
    keys_at: str

    @property
    def more(self) -> int:
        """Missing keys of which the page does not say who owes them."""
        return max(0, len(self.progress.missing) - sum(len(each.owed) for each in self.groups.rows))


def standings(
    row: HeldRun, verdict: Verdict, owing: Iterable[Owed], assets: Mapping[Leaf, Asset]
) -> list[Standing]:
    """:param owing: who owes what it lacks; `assets`: those that its Dag listens to."""
    owed: dict[str, list[Owed]] = defaultdict(list)
    for each in owing:
        owed[each.leaf.words()].append(each)
    parts = len(verdict.progress) or 1
    return [
        Standing(
            each,
            assets.get(each.leaf),
            owed[name],
            board.with_room(board.together(owed[name], verdict), MOST_OWED // parts, listed=MOST_ALIKE),
            MOST_LISTED // parts,
            keys_at(row, name),
        )
        for each, name in ((each, each.leaf.words()) for each in verdict.progress)
    ]


def keys_at(row: HeldRun, words: str) -> str:
    """Where all keys of one asset of a held run are, but for which of them."""
    return f"{reverse('held_keys', args=[row.pk])}?{urlencode({'asset': words})}"
