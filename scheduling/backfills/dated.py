"""Keys by the dates at which their periods start, those to come included."""

from datetime import datetime, timedelta

from scheduling.algebra.choosing import select
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.partitions import Partitions
from scheduling.algebra.selections import quoted
from scheduling.algebra.subsets import Subset, keys_of
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.algebra.time_shorthands import partitions_of
from scheduling.algebra.timetables import CronPartitionTimetable, Timetable
from scheduling.algebra.transitions import EARLIEST, LATEST
from scheduling.backfills.asking import MOST_SELECTED, Dates, TooManyKeys

INSTANT = timedelta(microseconds=1)
YEAR = timedelta(days=366)


def keys_between(
    dates: Dates, timetable: Timetable, definition: Partitions | None, now: datetime
) -> list[str] | None:
    """The keys whose periods start in a range of instants, oldest first; none where keys have no dates.

    :raises TooManyKeys: for more than a plan can hold, before any of them is made.
    """
    first, last = max(dates.first, EARLIEST), min(dates.last, LATEST)
    if not dates.end_exclusive:
        last += INSTANT
    if last <= first:
        return []
    if isinstance(timetable, CronPartitionTimetable):
        return list(_of_time(partitions_of(timetable, first, last), first, last))
    if isinstance(definition, TimePartitions):
        return list(_of_time(definition, first, last))
    if isinstance(definition, MultiPartitions):
        return _crossed(definition, first, last, now)
    return None


def check_size(chosen: Subset) -> Subset:
    """`chosen`, if a plan can hold so many keys.

    :raises TooManyKeys: if not.
    """
    if len(chosen) > MOST_SELECTED:
        raise _too_many(f"{len(chosen):,} partitions")
    return chosen


def _too_many(what: str) -> TooManyKeys:
    return TooManyKeys(f"{what} are too many for one plan: select {MOST_SELECTED:,} at most")


def _of_time(definition: TimePartitions, first: datetime, last: datetime) -> tuple[str, ...]:
    return definition.keys(*_numbers(definition, first, last))


def _numbers(definition: TimePartitions, first: datetime, last: datetime) -> tuple[int, int]:
    """The numbers between which the keys are; looks ahead in steps, for counting to 9999 takes seconds."""
    start, until, step = definition.number_at(first), first, YEAR
    while True:
        until = last if last - until <= step else until + step
        stop = definition.number_at(until)
        if stop - start > MOST_SELECTED:
            raise _too_many(f"all the partitions from {first:%Y-%m-%d} to {last:%Y-%m-%d}")
        if until == last:
            return start, stop
        step *= 2


def _crossed(definition: MultiPartitions, first: datetime, last: datetime, now: datetime) -> list[str]:
    parts = []
    for each in definition.dimensions.values():
        if not isinstance(each, TimePartitions):
            parts.append("*")
            continue
        start, stop = _numbers(each, first, last)
        stop = min(stop, each.count(now))
        if start >= stop:
            return []
        ends = (quoted(each.key_at(at), definition.delimiter) for at in (start, stop - 1))
        parts.append(f"[{'...'.join(ends)}]")
    chosen = select(definition.delimiter.join(parts), definition, now)
    return list(keys_of(definition, check_size(chosen), now))
