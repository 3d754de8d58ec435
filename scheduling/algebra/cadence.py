"""What every timetable answers: whether it ticks, who decides the key, and what a key stands for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from scheduling.algebra.errors import InvalidKey
from scheduling.algebra.keys import validate_key


@dataclass(frozen=True, slots=True)
class Tick:
    """One moment of a timetable: when the run is due and for which partition. All instants are UTC.

    `partition_key` is none where the run names its keys itself or has none.
    """

    at: datetime
    partition_key: str | None = None
    partition_date: datetime | None = None


class Timetable:
    """Who decides the key, and when. The class attributes are what the scheduler asks first."""

    __slots__: ClassVar[tuple[str, ...]] = ()

    periodic: ClassVar[bool] = False
    """It has ticks; `ticks`, `next_tick` and `previous_tick` exist."""
    partitioned: ClassVar[bool] = False
    """The key of a run is known before it exists."""
    at_runtime: ClassVar[bool] = False
    """The running code names the keys of the events that it emits."""

    @property
    def summary(self) -> str:
        """The few letters by which Airflow's users know it."""
        raise NotImplementedError

    def words(self) -> str:
        """The schedule as a phrase for people, to stand after "runs"."""
        raise NotImplementedError

    def check(self) -> None:
        """What can only be known once the definition is complete.

        :raises InvalidDefinition: if it can never work.
        """

    def warnings(self, now: datetime | None = None) -> tuple[str, ...]:
        """What works but may surprise, a sentence each."""
        return ()

    def accept_key(self, key: object) -> str | None:
        """`key` itself, if a person may trigger a run with it; none is always taken.

        :raises InvalidKey: if it cannot be a key, or if runs of this timetable have none.
        """
        if key is None:
            return None
        if not (self.partitioned or self.at_runtime):
            raise InvalidKey("this Dag is not partitioned: its runs take no partition key")
        return validate_key(key)

    def resolve(self, key: str) -> datetime | None:
        """The partition date of a key; none if keys of this timetable have no time.

        :raises InvalidKey: if the key is not one of this timetable's.
        """
        return None
