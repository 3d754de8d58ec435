"""What the model keeps: events, partitions, consumers, held runs and runs, as plain values in memory."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from scheduling.algebra.conditions import AssetLeaf, Expression
from scheduling.algebra.mappers import Mapper
from scheduling.algebra.timetables import CronPartitionTimetable

UNKEYED = ""
"""The key of a held run of a consumer that is not partition-aware."""


class Brief:
    """Shown by its own `__repr__` in the histories that hypothesis prints."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


class Late(StrEnum):
    SETTLE = "settle"
    IMMEDIATE = "immediate"
    HOLD = "hold"
    MARK_STALE = "mark_stale"
    RESTART = "restart"


@dataclass(eq=False, repr=False)
class Event(Brief):
    """One partition of one asset changed or, without a key, the asset did."""

    number: int
    asset: str
    key: str | None
    at: datetime
    run: "Run | None" = None
    is_routed: bool = False

    def __repr__(self) -> str:
        return f"event {self.number}: {self.asset} {self.key}"


@dataclass(eq=False)
class Attempt:
    """A run, or a person (`run` is none), at work on a partition; `outcome` is running, success or failed."""

    run: "Run | None"
    begun: int
    outcome: str


@dataclass
class Partition:
    """`data` is the newest event; a cancelled or lost attempt is no attempt, so it is not kept."""

    data: Event | None = None
    attempts: list[Attempt] = field(default_factory=list)
    stale_since: datetime | None = None

    @property
    def state(self) -> str:
        last = max(self.attempts, key=lambda each: each.begun, default=None)
        if last and last.outcome != "success":
            return last.outcome
        return "materialized" if self.data else "missing"


@dataclass
class DynamicKey:
    """One that was removed is kept; added again it is another."""

    key: str
    is_there: bool = True


@dataclass(frozen=True)
class Attempts:
    """How often a run that fails is tried again, how long after, and how long one attempt may take."""

    retries: int = 0
    delay: timedelta = timedelta(minutes=5)
    backoff: float = 1.0
    timeout: timedelta | None = None


ONCE = Attempts()


@dataclass(eq=False)
class Consumer:
    """A Dag that waits for assets. Plain (not partition-aware) if `mappers` map every key to UNKEYED.

    What one writes that `is_dynamic` has dynamic partitions: keys that are added and removed.
    """

    name: str
    mappers: dict[str, Mapper]
    condition: Expression
    late: Late = Late.SETTLE
    settle: timedelta = timedelta(minutes=10)
    writes: tuple[str, ...] = ()
    is_plain: bool = False
    counts_keyed: bool = True
    is_paused: bool = False
    attempts: Attempts = ONCE
    timetable: CronPartitionTimetable | None = None
    is_dynamic: bool = False

    def holds(self, present: dict[str, bool]) -> bool:
        return self.condition.holds(lambda leaf: present[leaf.name])

    @property
    def needs_one_key(self) -> bool:
        """One 1:1 dependency, or alternatives of such (section 6, late keys)."""
        alone = (self.condition.holds(AssetLeaf(name).__eq__) for name in self.mappers)
        return not any(mapper.is_rollup for mapper in self.mappers.values()) and all(alone)


Counted = tuple[str, str]
"""An upstream partition: its asset and key."""


@dataclass(eq=False, repr=False)
class Held(Brief):
    """`counted`: for each upstream partition its newest event; `events`: all that were counted."""

    consumer: Consumer
    key: str
    round: int
    opened_at: datetime
    last_at: datetime
    counted: dict[Counted, Event] = field(default_factory=dict)
    events: set[Event] = field(default_factory=set)
    judge_at: datetime | None = None
    verdict: str = "waiting"
    state: str = "held"
    run: "Run | None" = None
    is_pruned: bool = False

    def __repr__(self) -> str:
        return f"{self.consumer.name} {self.key} round {self.round}, {self.verdict}: {self.events}"


@dataclass(eq=False, repr=False)
class Run(Brief):
    """`failures` of its attempts failed, `losses` lost their worker; from `run_after` on it may be claimed.
    It took so many `slots` of the pool when it started last.

    A ranged run has several keys (`range`) and no key of its own; `failed_keys` are those that it gave up.
    """

    consumer: Consumer
    key: str | None
    run_type: str
    queued_at: datetime
    range: tuple[str, ...] = ()
    failed_keys: tuple[str, ...] = ()
    state: str = "queued"
    consumed: set[Event] = field(default_factory=set)
    begun: int = 0
    attempt: int = 0
    failures: int = 0
    losses: int = 0
    slots: int = 0
    run_after: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    cancel_requested: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        return self.range if self.key is None else (self.key,)

    @property
    def is_under_way(self) -> bool:
        return self.state in ("queued", "running")

    def __repr__(self) -> str:
        return f"run of {self.consumer.name} {', '.join(self.keys)}, {self.state}"
