"""What partitions of time are made of: the cadence of their periods, their first instant, their names."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import islice, pairwise
from typing import Any
from zoneinfo import ZoneInfo

from scheduling.algebra import periods
from scheduling.algebra.cron import Cron, parse
from scheduling.algebra.cron_timetables import CronPartitionTimetable
from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.keys import KeyFormat
from scheduling.algebra.occurrences import Occurrences, occurrences_of
from scheduling.algebra.period_keys import default_output, tells_apart
from scheduling.algebra.periods import Grain
from scheduling.algebra.transitions import observes_folds

STARTS = {
    Grain.MINUTE: "* * * * *",
    Grain.HOUR: "0 * * * *",
    Grain.DAY: "0 0 * * *",
    Grain.WEEK: "0 0 * * 1",
    Grain.MONTH: "0 0 1 * *",
    Grain.QUARTER: "0 0 1 */3 *",
    Grain.YEAR: "0 0 1 1 *",
}
GRAINS = {grain.value: grain for grain in STARTS}

# Enough neighbours to see that a format names two ticks alike, whatever the cron.
_SAMPLE = 400
_SAMPLED = timedelta(days=366 * 9)


def instant_in(value: Any, zone: ZoneInfo) -> datetime:
    """The instant of a wall time in `zone`, given as a date, a datetime or the text of one.

    A time that clocks skip is the first one after it, a repeated one its first occurrence.

    :raises InvalidDefinition: for anything else.
    """
    given = value
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            value = None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        raise InvalidDefinition(
            f"{given!r} is neither a date nor a time, such as 2026-03-01 or 2026-03-01T09:00"
        )
    if value.tzinfo is not None:
        return value.astimezone(UTC)
    at = periods.start_at(Grain.YEAR, value, zone)
    return value.replace(tzinfo=UTC) if at is None else at


def cadence_of(given: object) -> tuple[Grain | None, Cron]:
    """The cron at whose ticks periods start, and their grain unless the cron itself was given.

    :raises InvalidDefinition: if it is neither.
    """
    name = given.value if isinstance(given, Grain) else given
    if isinstance(name, str) and name in GRAINS:
        return GRAINS[name], parse(STARTS[GRAINS[name]])
    if isinstance(name, str) and (name.startswith("@") or len(name.split()) > 1):
        return None, parse(name)
    raise InvalidDefinition(f"{given!r} is neither a grain ({', '.join(GRAINS)}) nor a cron")


def starts_of(grain: Grain | None, cron: Cron, form: KeyFormat, zone: ZoneInfo) -> Occurrences:
    """The starts of periods: twice in a fold only where names tell the two apart."""
    if grain is None:
        found = occurrences_of(cron, zone)
        return found if form.has_offset else replace(found, fold="first")
    return Occurrences(cron, zone, "resume", "both" if cron.is_subday and form.has_offset else "first")


def is_start(grain: Grain | None, form: KeyFormat, zone: ZoneInfo, at: datetime, key: str) -> bool:
    """Whether `key` surely names a period of `grain` that starts at `at`; not where clocks leave a doubt."""
    wall = periods.wall_of(at, zone)
    is_one = grain is not None and periods.floor_wall(grain, wall) == wall
    return is_one and periods.instants_of(wall, zone) == (at,) and form.format(at, zone) == key


def default_format(grain: Grain | None, cron: Cron, zone: ZoneInfo, start: datetime) -> str:
    """How keys are written if nobody says it: with an offset where clocks repeat an hour."""
    if grain is not None:
        text = default_output(grain)
    elif not cron.is_subday:
        text = "%Y-%m-%d"
    else:
        text = "%Y-%m-%dT%H:%M:%S" if any(time.seconds % 60 for time in cron.times) else "%Y-%m-%dT%H:%M"
    return text + ("%z" if cron.is_subday and observes_folds(zone, start.year) else "")


def check_names(
    form: KeyFormat, grain: Grain | None, starts: Occurrences, span: tuple[datetime, datetime]
) -> None:
    """See that a format names no neighbours alike; whether the ticks of a cron are is seen by trying.

    :raises InvalidDefinition: if it does.
    """
    if grain is not None:
        if not tells_apart(form.grain, grain, "monday"):
            raise InvalidDefinition(f"the format {form.text!r} gives several {grain.value}s one name")
        return
    start, end = span
    some = islice(starts.between(start, min(start + _SAMPLED, end)), _SAMPLE)
    for name, following in pairwise(form.format(at, starts.zone) for at in some):
        if name == following:
            raise InvalidDefinition(f"the format {form.text!r} names two periods {name}")


def cadence_of_ticks(timetable: CronPartitionTimetable) -> str:
    """The cron or grain that starts each period which the key format of a timetable can name, once."""
    fields = timetable.cron_fields
    grain = timetable.format.grain
    if grain is Grain.HOUR:
        return " ".join(["0", *fields[1:5]])
    if grain is Grain.DAY:
        return " ".join(["0", "0", *fields[2:5]])
    return grain.value if grain > Grain.DAY else " ".join(fields)
