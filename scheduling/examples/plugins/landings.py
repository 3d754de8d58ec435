"""A timetable of one's own: it ticks by a cron, and the run says which key it is about, or that none came.

    @asset(schedule=LandingTimetable("0 6-9 * * 1-5", looks_for="the sales file"))
    def sales(self, outlet_events):
        for day in days_that_landed():
            outlet_events[self].add_partitions(day)

A run that finds nothing emits nothing, and nothing downstream starts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from scheduling.algebra.cron_timetables import CronTriggerTimetable
from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.registry import register


@register
@dataclass(frozen=True, slots=True)
class LandingTimetable(CronTriggerTimetable):
    """A run at every tick of `cron` that looks for something and names the partition keys of what it finds.

    :param looks_for: what that is, for the page of the Dag.
    """

    looks_for: str = field(default="new data", kw_only=True)

    at_runtime: ClassVar[bool] = True

    def __post_init__(self) -> None:
        CronTriggerTimetable.__post_init__(self)
        if not isinstance(self.looks_for, str) or not self.looks_for.strip():
            raise InvalidDefinition(f"looks_for is a phrase, not {self.looks_for!r}", path="looks_for")

    def words(self) -> str:
        return f"{CronTriggerTimetable.words(self)}, to look for {self.looks_for}"
