"""A plan as a value: which keys of which Dags would run, in which order, and why others would not."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256

from core.models import Dag
from scheduling.backfills.asking import Ask

MOST_DIGITS = 18


def shown_at(token: str) -> datetime | None:
    """When the plan of that token was worked out; None if no plan ever had it."""
    try:
        at = datetime.fromisoformat(token.partition("~")[0])
        return at.astimezone(UTC) if at.tzinfo else None
    except (ValueError, OverflowError):
        return None


def shown_count(token: str) -> int | None:
    """How many keys the plan of that token had; None if no plan ever had it."""
    count = token.partition("~")[2].partition("~")[0]
    return int(count) if count.isdecimal() and len(count) <= MOST_DIGITS else None


@dataclass(frozen=True, slots=True)
class Part:
    """The keys of one Dag in the order in which they would start.

    `skipped` ones do not run, with the reason of each; `waiting` ones wait for upstream keys of the plan.
    """

    dag: Dag
    layer: int
    order: tuple[str, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)
    waiting: frozenset[str] = frozenset()

    @property
    def keys(self) -> list[str]:
        """Those that run."""
        return [key for key in self.order if key not in self.skipped] if self.skipped else list(self.order)

    @property
    def count(self) -> int:
        return len(self.order) - len(self.skipped)

    def reasons(self) -> list[tuple[str, int]]:
        """Why keys are left out, the most frequent first. Of reasons that name something, the kind."""
        kinds = Counter(reason.partition(":")[0] for reason in self.skipped.values())
        return kinds.most_common()


@dataclass(frozen=True, slots=True)
class Offer:
    """Upstream keys that are missing, and the Dag that would make them."""

    dag: Dag
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What `ask` comes to at `at`: a part for each Dag, those before others first. It is not stored.

    `offers`: what would be backfilled first if the ask were `with_upstream`.
    """

    ask: Ask
    at: datetime
    parts: tuple[Part, ...]
    offers: tuple[Offer, ...] = ()

    @property
    def count(self) -> int:
        """How many keys would run."""
        return sum(part.count for part in self.parts)

    @property
    def skipped(self) -> int:
        return sum(len(part.skipped) for part in self.parts)

    def pairs(self) -> Iterator[tuple[Dag, str]]:
        """The keys that would run, Dag by Dag."""
        for part in self.parts:
            for key in part.keys:
                yield part.dag, key

    def token(self) -> str:
        """Names this plan: whoever starts the same gives it back, and gets nothing else."""
        return f"{self.at.isoformat()}~{self.count}~{self._digest()}"

    def why_nothing(self) -> str:
        """Why no key would run, as a sentence."""
        if not self.skipped:
            return f"there is nothing to backfill: {self.ask.words()} means no key"
        reasons = Counter[str]()
        for part in self.parts:
            reasons.update(dict(part.reasons()))
        if self.skipped == 1:
            return f"there is nothing to backfill: the only key is left out ({next(iter(reasons))})"
        words = ", ".join(f"{count}: {reason}" for reason, count in reasons.most_common())
        return f"there is nothing to backfill: all {self.skipped} keys are left out ({words})"

    def _digest(self) -> str:
        digest = sha256()
        for part in self.parts:
            for text in (part.dag.dag_id, str(part.layer), *part.keys, "", *sorted(part.waiting), ""):
                digest.update(text.encode() + b"\n")
        return digest.hexdigest()[:32]
