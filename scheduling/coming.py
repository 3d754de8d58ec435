"""When a partition of a Dag with a cadence comes into being, or why it did not."""

from dataclasses import dataclass
from datetime import datetime

from core.models import Dag
from scheduling.algebra.cadence import Timetable
from scheduling.algebra.cron_timetables import CronPartitionTimetable, CronTriggerTimetable


@dataclass(frozen=True, slots=True)
class Coming:
    """`how`: `scheduled` with the instant `at`, `passed over`, `by hand` or `never`."""

    how: str
    sentence: str
    at: datetime | None = None


def of_key(dag: Dag, timetable: Timetable | None, key: str, *, now: datetime) -> Coming:
    """How `key` of a Dag that waits for no asset comes into being; empty where its runs have none.

    :raises InvalidKey: for a key that its timetable cannot read.
    """
    if not isinstance(timetable, CronTriggerTimetable):
        return Coming("by hand", "Nothing makes it by itself: somebody has to trigger it, or a backfill has.")
    following = timetable.next_tick(now)
    at = following.at if following and not (dag.end_date and following.at > dag.end_date) else None
    if not isinstance(timetable, CronPartitionTimetable):
        return _of_any(dag, timetable, at)
    if at and following and following.partition_key == key:
        return Coming("scheduled", f"It comes into being at {_written(at)}.", at)
    return _of_one(dag, timetable, key, now)


def _of_any(dag: Dag, timetable: Timetable, at: datetime | None) -> Coming:
    if at is None:
        return Coming("never", f"{dag} has no tick any more.")
    named = "; the run then names its keys" if timetable.at_runtime else ""
    return Coming("scheduled", f"Its next tick is at {_written(at)}{named}.", at)


def _of_one(dag: Dag, timetable: CronPartitionTimetable, key: str, now: datetime) -> Coming:
    tick = timetable.tick_of(key)
    if tick is None:
        words = f"No tick of {dag} is for it ({timetable.words()}): only somebody can trigger it."
        return Coming("never", words)
    if dag.end_date and tick.at > dag.end_date:
        return Coming("never", f"Its tick is at {_written(tick.at)}, after the end of {dag}.")
    if tick.at > now:
        return Coming("scheduled", f"It comes into being at {_written(tick.at)}.", tick.at)
    return Coming("passed over", _passed_over(dag, tick.at))


RULES = {"all": "all ticks", "last": "only the last tick", "none": "no tick"}


def _passed_over(dag: Dag, at: datetime) -> str:
    begin, rule = dag.start_date or dag.created_at, RULES[dag.catchup]
    mend = "trigger it, or start a backfill"
    if at < begin:
        return f"Its tick was at {_written(at)}, before {dag} began ({_written(begin)}): {mend}."
    if dag.ticked_until is None or at > dag.ticked_until:
        return f"Its tick at {_written(at)} {_not_looked_at(dag, rule)}"
    why = f"{dag} was paused then, or the engine was down ({rule} that it misses is made up)"
    return f"Its tick at {_written(at)} was passed over: {why}. To have it, {mend}."


def _not_looked_at(dag: Dag, rule: str) -> str:
    if not dag.is_paused:
        return "has come, and the engine has not looked at it yet: is beat alive?"
    if dag.ticked_until is None and dag.start_date:
        return f"has come, but {dag} was paused before it began: when unpaused it makes up {rule} till then."
    return f"came while {dag} is paused, and is made up only if whoever unpauses asks for it."


def _written(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
