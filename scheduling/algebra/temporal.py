"""Mappers from a time to the start of the period that holds it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import ClassVar
from zoneinfo import ZoneInfo

from scheduling.algebra.errors import InvalidDefinition, within
from scheduling.algebra.keys import KeyFormat
from scheduling.algebra.mappers import Mapper
from scheduling.algebra.memory import KeyMapping, downstream_mapping
from scheduling.algebra.period_keys import (
    PeriodKeys,
    default_output,
    repeated_names,
    skipped_time,
    tells_apart,
)
from scheduling.algebra.periods import Grain, WeekStart, week_starting, zone

DEFAULT_INPUT = "%Y-%m-%dT%H:%M:%S"


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

    def never_was(self, key: str) -> str:
        return skipped_time(self.input, self.zone, key) if self.input.grain.is_subday else ""

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
