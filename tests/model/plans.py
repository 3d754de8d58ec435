"""What is asked to be backfilled, and the backfill that comes of it, as plain values (section 8)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from tests.model.records import Brief, Run


@dataclass(eq=False)
class Item:
    """One planned key: skipped, waiting, ready, started with its run, or ended.

    `ripe_at` is when the last run that it waited for ended.
    """

    key: str
    state: str = "ready"
    run: Run | None = None
    ripe_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        return self.state in ("waiting", "ready", "started")


@dataclass(eq=False)
class Target:
    """One Dag of a backfill, by name; `items` in the order in which they start."""

    name: str
    layer: int
    items: list[Item]

    def of(self, *states: str) -> list[Item]:
        return [item for item in self.items if item.state in states]


@dataclass(frozen=True)
class Ask:
    """These keys of these Dags, or all that are there. A run takes `size` of them or, if that is none, all.

    `limit` of its runs may run.
    """

    names: tuple[str, ...]
    keys: tuple[str, ...] | None
    size: int | None = 1
    limit: int = 1
    is_newest_first: bool = False
    is_chained: bool = False
    with_upstream: bool = False
    with_downstream: bool = False


@dataclass(eq=False, repr=False)
class Backfill(Brief):
    """`targets` upstream first; `limit` of its runs may run now."""

    ask: Ask
    targets: list[Target]
    limit: int
    started_at: datetime
    is_paused: bool = False
    is_cancelled: bool = False
    is_completed: bool = False
    runs: list[Run] = field(default_factory=list)

    @property
    def open(self) -> list[Item]:
        return [item for target in self.targets for item in target.items if item.is_open]

    @property
    def is_over(self) -> bool:
        return self.is_completed or self.is_cancelled

    def set_limit(self, limit: int) -> bool:
        self.limit = self.limit if self.is_over else limit
        return not self.is_over

    def __repr__(self) -> str:
        items = {target.name: [(item.key, item.state) for item in target.items] for target in self.targets}
        return f"backfill of {items}"


Parts = dict[str, dict[str, str]]
"""By Dag, upstream first: what becomes of each key."""


@dataclass(frozen=True)
class Plan:
    """`offers`: by Dag, the keys that would run first if the upstream were asked for as well.

    Nothing of either: it is refused.
    """

    parts: Parts = field(default_factory=dict)
    offers: Mapping[str, Collection[str]] = field(default_factory=dict)

    def has(self, state: str) -> bool:
        return any(state in states.values() for states in self.parts.values())
