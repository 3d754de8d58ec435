"""Mappers from a time to the start of the period that holds it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import ClassVar
from zoneinfo import ZoneInfo

from scheduling.algebra.errors import HOURS_LOST, CannotMap, Caution, InvalidDefinition, InvalidKey, within
from scheduling.algebra.keys import KeyFormat
from scheduling.algebra.mappers import Mapper
from scheduling.algebra.memory import KeyMapping, downstream_mapping
from scheduling.algebra.periods import Grain, WeekStart, exists, floor_wall, week_starting, zone
from scheduling.algebra.transitions import next_fold, observes_folds

DEFAULT_INPUT = "%Y-%m-%dT%H:%M:%S"
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


@dataclass(frozen=True, slots=True)
class TemporalMapper(Mapper):
    """The start of the period that holds the time of a key.

    A time without an offset is read on the clocks of `timezone`; one with an offset is converted to them.

    :param input_format: how an upstream key writes a time.
    :param output_format: how the downstream key writes the start of the period; none: as is usual for it.
    """

    timezone: str = "UTC"
    input_format: str = DEFAULT_INPUT
    output_format: str | None = None
    grain: ClassVar[Grain]
    input: KeyFormat = field(init=False, repr=False, compare=False)
    keys: PeriodKeys = field(init=False, repr=False, compare=False)
    _down: KeyMapping = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        Mapper.__post_init__(self)
        week_start = within("week_start", week_starting, getattr(self, "week_start", "monday"))
        found = within("timezone", zone, self.timezone)
        read = within("input_format", KeyFormat, self.input_format)
        output = within(
            "output_format", KeyFormat, self.output_format or default_output(self.grain, week_start)
        )
        if not tells_apart(output.grain, self.grain, week_start):
            raise InvalidDefinition(
                f"the output_format {output.text!r} gives several {self.grain.value}s one name",
                path="output_format",
            )
        keys = PeriodKeys(self.grain, found, output, week_start)
        for name, value in (
            ("timezone", found.key),
            ("output_format", None if output.text == default_output(self.grain, week_start) else output.text),
            ("input", read),
            ("keys", keys),
            ("_down", _mapping(read, keys)),
        ):
            object.__setattr__(self, name, value)

    @property
    def zone(self) -> ZoneInfo:
        return self.keys.zone

    @property
    def output(self) -> KeyFormat:
        return self.keys.output

    @property
    def is_one_to_one(self) -> bool:
        return True

    def to_downstream(self, key: str) -> tuple[str, ...]:
        return self._down(key)

    def upstream_keys(self, downstream_key: str) -> tuple[str, ...] | None:
        """Just one, where upstream keys are no finer than the periods they map to."""
        if self.input.has_offset or self.input.grain is not self.grain:
            return None
        return (self.representative(downstream_key),)

    def representative(self, downstream_key: str) -> str:
        return self.input.spell(self.keys.start_of(downstream_key), self.zone)

    def partition_date(self, downstream_key: str) -> datetime:
        return self.keys.date_of(downstream_key)

    def samples(self) -> tuple[str, ...]:
        return self.keys.samples()

    def warnings(self, now: datetime | None = None) -> tuple[str, ...]:
        return repeated_names(self.input, self.zone, now) or (
            repeated_names(self.output, self.zone, now) if self.grain.is_subday else ()
        )


@dataclass(frozen=True, slots=True)
class StartOfMinuteMapper(TemporalMapper):
    """`2026-03-10T09:37:51` becomes `2026-03-10T09:37`."""

    grain: ClassVar[Grain] = Grain.MINUTE


@dataclass(frozen=True, slots=True)
class StartOfHourMapper(TemporalMapper):
    """`2026-03-10T09:37:51` becomes `2026-03-10T09`."""

    grain: ClassVar[Grain] = Grain.HOUR


@dataclass(frozen=True, slots=True)
class StartOfDayMapper(TemporalMapper):
    """`2026-03-10T09:37:51` becomes `2026-03-10`."""

    grain: ClassVar[Grain] = Grain.DAY


@dataclass(frozen=True, slots=True)
class StartOfWeekMapper(TemporalMapper):
    """`2026-03-10T09:37:51` becomes `2026-03-09 (W11)`; with `week_start="sunday"`, `2026-03-08 (W10)`."""

    week_start: WeekStart = "monday"
    grain: ClassVar[Grain] = Grain.WEEK


@dataclass(frozen=True, slots=True)
class StartOfMonthMapper(TemporalMapper):
    """`2026-03-10T09:37:51` becomes `2026-03`."""

    grain: ClassVar[Grain] = Grain.MONTH


@dataclass(frozen=True, slots=True)
class StartOfQuarterMapper(TemporalMapper):
    """`2026-03-10T09:37:51` becomes `2026-Q1`."""

    grain: ClassVar[Grain] = Grain.QUARTER


@dataclass(frozen=True, slots=True)
class StartOfYearMapper(TemporalMapper):
    """`2026-03-10T09:37:51` becomes `2026`."""

    grain: ClassVar[Grain] = Grain.YEAR


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
    return (Caution(sentence, HOURS_LOST),)


@lru_cache(maxsize=256)
def _mapping(read: KeyFormat, keys: PeriodKeys) -> KeyMapping:
    return downstream_mapping(_head(read, keys) if _is_head(read, keys) else _start(read, keys))


def _start(read: KeyFormat, keys: PeriodKeys) -> KeyMapping:
    zone = keys.zone
    return lambda key: (keys.key_of(read.read(key, zone)),)


def _is_head(read: KeyFormat, keys: PeriodKeys) -> bool:
    """Whether the key is the first part of the text: `2026-03-10T09` of `2026-03-10T09:37:51`."""
    return read.is_iso and keys.output.grain is keys.grain and read.text.startswith(keys.output.text)


def _head(read: KeyFormat, keys: PeriodKeys) -> KeyMapping:
    width, zone, check = len(keys.output.example), keys.zone, keys.check

    def down(key: str) -> tuple[str, ...]:
        check(read.read(key, zone))
        return (key[:width],)

    def down_in_utc(key: str) -> tuple[str, ...]:
        read.read(key, zone)
        return (key[:width],)

    return down_in_utc if zone.key == "UTC" else down
