"""What a task may ask its run for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


class RunCancelled(Exception):
    """Somebody cancelled the run while it was running."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """`dag_run` in a task: which run this is and which slice it owns."""

    dag_id: str
    run_id: str
    run_type: str
    partition_key: str | None
    partition_date: datetime | None
    run_after: datetime
    attempt: int
    conf: Mapping[str, Any] = field(default_factory=dict)
    is_cancelled: Callable[[], bool] = field(default=lambda: False, repr=False)

    def stop_if_cancelled(self) -> None:
        """Long tasks call this now and then: it ends a run that somebody cancelled.

        :raises RunCancelled: which a task lets pass.
        """
        if self.is_cancelled():
            raise RunCancelled(f"{self.dag_id}/{self.run_id} was cancelled")
