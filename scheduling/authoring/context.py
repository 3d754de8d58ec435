"""What a task may ask its run for."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from scheduling.algebra.errors import InvalidKey


class RunCancelled(Exception):
    """Somebody cancelled the run while it was running."""


class RunTimedOut(BaseException):
    """The run has taken longer than its Dag's `run_timeout`.

    No `except Exception` of a task should catch it and go on.
    """


@dataclass(frozen=True, slots=True)
class RunFacts:
    """`dag_run` in a task: which run this is and which slice it owns.

    `partition_keys` are all keys it is for: its `partition_key`, or those of a ranged run, which has no
    `partition_key`. `failed_keys`: those that were given up, with the reason of each.
    """

    dag_id: str
    run_id: str
    run_type: str
    partition_key: str | None
    partition_date: datetime | None
    run_after: datetime
    attempt: int
    partition_keys: tuple[str, ...] = ()
    failed_keys: dict[str, str] = field(default_factory=dict)
    conf: Mapping[str, Any] = field(default_factory=dict)
    is_cancelled: Callable[[], bool] = field(default=lambda: False, repr=False)
    is_timed_out: Callable[[], bool] = field(default=lambda: False, repr=False)

    def stop_if_cancelled(self) -> None:
        """Long tasks call this now and then: it ends a run that somebody cancelled, or whose time is up.

        :raises RunCancelled: which a task lets pass.
        :raises RunTimedOut: which it lets pass as well.
        """
        if self.is_timed_out():
            raise RunTimedOut(f"{self.dag_id}/{self.run_id} has taken too long")
        if self.is_cancelled():
            raise RunCancelled(f"{self.dag_id}/{self.run_id} was cancelled")

    def fail_partitions(self, keys: str | Iterable[str], reason: str = "") -> None:
        """Give up some of the run's keys and go on with the others: these are shown failed, and not emitted.

        :raises InvalidKey: for a key that is none of the run's.
        """
        for key in [keys] if isinstance(keys, str) else list(keys):
            if key not in self.partition_keys:
                raise InvalidKey(f"{key!r} is none of the {len(self.partition_keys)} keys of this run")
            self.failed_keys[key] = str(reason) or "its task gave it up"
