"""Keys of periods: how they are read and written in one zone, and what their names tell apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from scheduling.algebra.errors import HOURS_LOST, CannotMap, Caution, InvalidKey
from scheduling.algebra.keys import KeyFormat
from scheduling.algebra.periods import Grain, WeekStart, exists, floor_wall, gaps
from scheduling.algebra.transitions import next_fold, observes_folds

DEFAULT_OUTPUTS = {
    Grain.MINUTE: "%Y-%m-%dT%H:%M",
    Grain.HOUR: "%Y-%m-%dT%H",
    Grain.DAY: "%Y-%m-%d",
    Grain.WEEK: "%Y-%m-%d (W%V)",
    Grain.MONTH: "%Y-%m",
    Grain.QUARTER: "%Y-Q{quarter}",
    Grain.YEAR: "%Y",
}
# The ISO number of a week that starts on Sunday would be that of the week before.
_SUNDAY_WEEK = "%Y-%m-%d (W%U)"


@dataclass(frozen=True, slots=True)
class PeriodKeys:
    """How keys of periods of one grain are read and written in one zone."""

    grain: Grain
    zone: ZoneInfo
    output: KeyFormat
    week_start: WeekStart = "monday"

    def key_of(self, wall: datetime) -> str:
        """The key of the period around `wall`.

        :raises CannotMap: if clocks skip the whole period.
        """
        return self.output.spell(self.check(wall), self.zone)

    def check(self, wall: datetime) -> datetime:
        """The wall time at which the period around `wall` starts.

        :raises CannotMap: if clocks skip the whole period.
        """
        begin = floor_wall(self.grain, wall, self.week_start)
        if not exists(self.grain, begin, self.zone):
            raise CannotMap(
                f"{begin.isoformat()} does not exist in {self.zone.key}: clocks skip that {self.grain.value}"
            )
        return begin

    def start_of(self, key: str) -> datetime:
        """The wall time at which the period named by `key` starts, as its label says.

        :raises InvalidKey: if `key` names no period of this grain.
        """
        if self.output.has_offset:
            wall = self.output.parse(key, self.zone).astimezone(self.zone).replace(tzinfo=None)
        else:
            wall = self.output.read(key, self.zone)
        begin = floor_wall(self.grain, wall, self.week_start)
        if self.output.spell(begin, self.zone) != key:
            raise InvalidKey(f"{key!r} does not name the start of a {self.grain.value}")
        if not exists(self.grain, begin, self.zone):
            raise InvalidKey(f"{key!r} does not exist in {self.zone.key}: clocks skip it")
        return begin

    def date_of(self, key: str) -> datetime:
        """The instant at which that period starts."""
        self.start_of(key)
        return self.output.parse(key, self.zone)

    def samples(self) -> tuple[str, ...]:
        """A key of each quarter of a year."""
        return tuple(dict.fromkeys(self.key_of(datetime(2026, month, 10, 9, 37)) for month in (1, 4, 7, 10)))


def default_output(grain: Grain, week_start: WeekStart = "monday") -> str:
    """The format of a period's key where none is given."""
    return _SUNDAY_WEEK if grain is Grain.WEEK and week_start == "sunday" else DEFAULT_OUTPUTS[grain]


def tells_apart(output: Grain, period: Grain, week_start: WeekStart) -> bool:
    """Whether a format of grain `output` names each `period` by its own start."""
    if output is Grain.WEEK:
        return period is Grain.WEEK and week_start == "monday"
    return output is period or period.holds(output)


def repeated_names(form: KeyFormat, zone: ZoneInfo, now: datetime | None) -> tuple[str, ...]:
    """A warning, if times that clocks in `zone` show twice get one name in this format."""
    if not form.grain.is_subday or form.has_offset or not observes_folds(zone):
        return ()
    if now is None:
        sentence = f"the format {form.text!r} has no %z: in {zone.key} a repeated hour of autumn has one name"
        return (Caution(sentence, HOURS_LOST),)
    fold = next_fold(zone, now)
    if fold is None:
        return ()
    first, last = fold.walls
    sentence = (
        f"the format {form.text!r} has no %z: in {zone.key} the times from {first:%Y-%m-%d %H:%M} "
        f"to {last:%H:%M} come twice and both get one name"
    )
    return (Caution(sentence, HOURS_LOST, fold.at),)


def ticks_of_one_name(form: KeyFormat, zone: ZoneInfo, now: datetime | None) -> Caution:
    """A warning that two ticks get one name in this format, and in which night after `now` they next do."""
    fold = next_fold(zone, now) if now else None
    when = "when clocks go back" if fold is None else f"on {fold.walls[0]:%Y-%m-%d}, when clocks go back"
    return Caution(
        f"keys of the form {form.text} have no offset from UTC: in {zone.key} two ticks get one key {when};"
        " end the format in %z",
        HOURS_LOST,
    )


def skipped_time(form: KeyFormat, zone: ZoneInfo, key: str) -> str:
    """In words, that `key` names a time that clocks in `zone` have skipped; empty if it does not."""
    try:
        wall = form.read(key, zone)
    except InvalidKey:
        return ""
    if form.has_offset or not any(first <= wall < last for first, last in gaps(zone, wall.year)):
        return ""
    return f"{wall:%H:%M} never was on {wall:%Y-%m-%d} in {zone.key}: the clocks went forward"


def between(
    warnings: Callable[[datetime | None], tuple[str, ...]],
    now: datetime | None,
    start: datetime,
    end: datetime | None,
) -> tuple[str, ...]:
    """What `warnings` says of keys from `start` to before `end`: of what comes, or else of what has been."""
    if now is None:
        return warnings(None)
    found: tuple[str, ...] = ()
    for since in (max(now, start), start):
        every = [(each, getattr(each, "at", None)) for each in warnings(since)]
        found = tuple(each for each, at in every if at is None or end is None or at < end)
        if len(found) == len(every):
            break
    return found
