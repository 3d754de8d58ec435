"""What somebody asks to be backfilled, and why that may be refused."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from core.models import Backfill, Dag
from scheduling import keeping
from scheduling.algebra.errors import PartitionError

Order = Backfill.Order
Reprocess = Backfill.Reprocess

MOST_KEYS_PER_RUN = 10_000
"""Keys that one run may take, however many its Dag says it can."""

MOST_SELECTED = 1_000_000
"""Keys of a Dag that a plan can hold; of more, none is worked out."""

MOST_KEPT = 1000
"""Keys that are kept of what was asked for by key; all of them are partitions of the backfill."""


class CannotBackfill(PartitionError):
    """What was asked for cannot be, whatever the state things are in."""


class TooManyKeys(CannotBackfill):
    """More keys than a plan can hold; none of them has been made."""


class NothingToBackfill(PartitionError):
    """Every key would be skipped; the sentence says why."""


class StalePlan(PartitionError):
    """What was planned is not what would start now; the sentence says what has changed."""


class BackfillOver(PartitionError):
    """The backfill has ended."""


class Wanted(StrEnum):
    """Which of the selected keys are meant, by the state they are in."""

    ALL = "all"
    MISSING = "missing"
    FAILED = "failed"
    FAILED_AND_MISSING = "failed and missing"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class Dates:
    """Keys whose periods start from `first` to `last`, both included unless `end_exclusive`."""

    first: datetime
    last: datetime
    end_exclusive: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """Which keys of which Dags, and how. Of `selection` (typed), `keys` and `dates` one at most is given.

    Without any, all keys are meant that a Dag is expected to have, or that have been seen. `reprocess` says
    which keys run again (none: what `wanted` is about). `with_upstream`: upstream keys that a consumer lacks
    are backfilled first; `with_downstream`: so are, after them, the Dags that listen.
    """

    dags: tuple[Dag, ...]
    selection: str | None = None
    keys: tuple[str, ...] | None = None
    dates: Dates | None = None
    end_exclusive: bool = False
    wanted: Wanted = Wanted.ALL
    reprocess: Reprocess | None = None
    order: Order = Order.OLDEST
    is_chained: bool = False
    keys_per_run: int | None = 1
    max_active_runs: int = 10
    with_upstream: bool = False
    with_downstream: bool = False
    conf: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""

    @property
    def again(self) -> Reprocess:
        """Which keys run again."""
        return self.reprocess or _AGAIN.get(self.wanted, Reprocess.NONE)

    def check(self) -> None:
        """:raises CannotBackfill: if its parts do not fit together.
        :raises NotKept: for a conf that cannot be kept.
        """
        if not self.dags:
            raise CannotBackfill("name a Dag to backfill")
        if sum(each is not None for each in (self.selection, self.keys, self.dates)) > 1:
            raise CannotBackfill("give a selection, keys or dates, not several of them")
        if self.dates and self.dates.first > self.dates.last:
            raise CannotBackfill("the range starts after its end")
        if self.max_active_runs < 1:
            raise CannotBackfill("max_active_runs is a whole number from 1 on")
        keeping.check(self.conf, "the conf of the backfill")
        self._check_range()

    def words(self) -> str:
        """Which keys, as a phrase."""
        if self.selection is not None:
            keys = self.selection
        elif self.keys is not None:
            keys = f"{len(self.keys)} keys" if len(self.keys) > 3 else ", ".join(self.keys)
        elif self.dates is not None:
            keys = f"from {self.dates.first:%Y-%m-%dT%H:%M:%SZ} to {self.dates.last:%Y-%m-%dT%H:%M:%SZ}"
        else:
            keys = "every key"
        return keys if self.wanted is Wanted.ALL else f"{self.wanted} of {keys}"

    def kept(self) -> dict[str, Any]:
        """What is kept of it, as JSON."""
        return {
            "dags": [dag.dag_id for dag in self.dags],
            "selection": self.selection,
            "keys": None if self.keys is None else list(self.keys[:MOST_KEPT]),
            "end_exclusive": self.end_exclusive or bool(self.dates and self.dates.end_exclusive),
            "wanted": self.wanted.value,
            "with_upstream": self.with_upstream,
            "with_downstream": self.with_downstream,
        }

    def _check_range(self) -> None:
        if self.keys_per_run == 1:
            return
        if self.keys_per_run is not None and self.keys_per_run < 1:
            raise CannotBackfill("keys_per_run is a whole number from 1 on, or null for one run of all keys")
        for dag in self.dags:
            most = dag.max_keys_per_run
            if most is not None and (self.keys_per_run is None or self.keys_per_run > most):
                can = "one key" if most == 1 else f"{most} keys at most"
                raise CannotBackfill(f"a run of Dag {dag} takes {can}: its definition says so")


_AGAIN = {
    Wanted.FAILED: Reprocess.FAILED,
    Wanted.FAILED_AND_MISSING: Reprocess.FAILED,
    Wanted.STALE: Reprocess.COMPLETED,
}
