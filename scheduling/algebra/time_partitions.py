"""Partitions of time: a key for every minute, hour, day … of a zone, or for every tick of a cron."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from scheduling.algebra import periods
from scheduling.algebra.calendars import Excluding, Exclusion, read_exclusions
from scheduling.algebra.cron_words import cron_words
from scheduling.algebra.errors import InvalidDefinition, InvalidKey, within
from scheduling.algebra.keys import KeyFormat
from scheduling.algebra.memory import KeyMapping, remembered
from scheduling.algebra.occurrences import Occurrences
from scheduling.algebra.partitions import Partitions
from scheduling.algebra.period_keys import between, repeated_names
from scheduling.algebra.periods import Grain
from scheduling.algebra.starts import (
    GRAINS,
    cadence_of,
    check_names,
    default_format,
    instant_in,
    is_start,
    starts_of,
)
from scheduling.algebra.transitions import EARLIEST, LATEST

_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class TimePartitions(Partitions):
    """The periods of `cadence`, a grain such as `day` or a cron, that start in [start, end).

    A period exists when it has ended; `end_offset` adds so many to come (1: the one now running) or holds so
    many back. A period that starts at an excluded time has no key and leaves its neighbours as they are.
    `start` and `end` are wall times of `timezone`, or instants.
    """

    cadence: str
    start: datetime
    end: datetime | None = None
    timezone: str = field(default="UTC", kw_only=True)
    key_format: str = field(default="", kw_only=True)
    end_offset: int = field(default=0, kw_only=True)
    exclusions: tuple[Exclusion, ...] = field(default=(), kw_only=True)
    _format: KeyFormat = field(init=False, repr=False, compare=False)
    _all: Occurrences = field(init=False, repr=False, compare=False)
    _kept: Occurrences = field(init=False, repr=False, compare=False)
    _akin: KeyMapping = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        zone = within("timezone", periods.zone, self.timezone)
        grain, cron = within("cadence", cadence_of, self.cadence)
        start = within("start", instant_in, self.start, zone)
        form = within("key_format", KeyFormat, self.key_format or default_format(grain, cron, zone, start))
        exclusions = within("exclusions", read_exclusions, self.exclusions)
        whole = starts_of(grain, cron, form, zone)
        if type(self.end_offset) is not int:
            raise InvalidDefinition(
                f"end_offset is a whole number of periods, not {self.end_offset!r}", path="end_offset"
            )
        values: dict[str, Any] = {
            "timezone": zone.key,
            "cadence": grain.value if grain else cron.text,
            "start": start,
            "end": None if self.end is None else within("end", instant_in, self.end, zone),
            "key_format": form.text,
            "exclusions": exclusions,
            "_format": form,
            "_all": whole,
            "_kept": replace(whole, pattern=Excluding(cron, exclusions), whole=cron) if exclusions else whole,
            "_akin": remembered(self._beside),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if self.end is not None and self.end <= self.start:
            raise InvalidDefinition("the end is not after the start", path="end")
        if exclusions and self._kept.after(self.start - _INSTANT) is None:
            raise InvalidDefinition("nothing is left by the exclusions", path="exclusions")
        within("key_format", check_names, form, grain, self._kept, (self.start, self.end or LATEST))

    @property
    def zone(self) -> ZoneInfo:
        return self._all.zone

    @property
    def format(self) -> KeyFormat:
        return self._format

    @property
    def grain(self) -> Grain | None:
        """The grain of the periods; none where they are the ticks of a cron."""
        return GRAINS.get(self.cadence)

    @property
    def grows(self) -> bool:
        return True

    def count(self, now: datetime | None = None) -> int:
        return self._kept.count(self.start, self.until(now))

    def key_at(self, number: int, now: datetime | None = None) -> str:
        return self._format.format(self.start_of(number), self.zone)

    def keys(self, start: int = 0, stop: int | None = None, now: datetime | None = None) -> tuple[str, ...]:
        size = (self.count(now) if stop is None else stop) - start
        first = self._kept.nth(self.start, start) if size > 0 else None
        if first is None:
            return ()
        until = self.until(now) if now or self.end else LATEST
        starts = islice(self._kept.between(first, until), size)
        write, zone = self._format.format, self.zone
        return tuple([write(at, zone) for at in starts])

    def index(self, key: str, now: datetime | None = None) -> int:
        at = self.period(key)[0]
        if not self.start <= at < (self.until(now) if now or self.end else LATEST):
            raise InvalidKey(f"{key!r} is outside of {self.words()}{self._near(at, now)}")
        return self._kept.count(self.start, at)

    def akin(self, key: str) -> tuple[str, ...]:
        return self._akin(key)

    def start_of(self, number: int) -> datetime:
        """The instant at which the period of that number starts.

        :raises IndexError: if there is none.
        """
        at = self._kept.nth(self.start, number) if number >= 0 else None
        if at is None or (self.end is not None and at >= self.end):
            raise IndexError(number)
        return at

    def number_at(self, instant: datetime) -> int:
        """How many keys there are of periods that start before `instant`."""
        return self._kept.count(self.start, instant if self.end is None else min(instant, self.end))

    def until(self, now: datetime | None) -> datetime:
        """Periods that start before this instant exist at `now`."""
        if now is None:
            if self.end is None:
                raise InvalidDefinition("how many keys there are depends on when: the definition has no end")
            return self.end
        begun = self._all.before(now + _INSTANT)
        for _ in range(abs(self.end_offset)):
            if begun is not None:
                begun = self._all.after(begun) if self.end_offset > 0 else self._all.before(begun)
        if begun is None:
            begun = LATEST if self.end_offset > 0 else self.start
        return begun if self.end is None else min(begun, self.end)

    def period(self, key: str) -> tuple[datetime, datetime]:
        """The instants at which the period that `key` names starts and ends, whether or not it has come.

        :raises InvalidKey: if `key` names none.
        """
        named = self._format.parse(key, self.zone)
        at = self._kept.after(max(named, EARLIEST) - _INSTANT)
        if at is None or self._format.format(at, self.zone) != key:
            raise InvalidKey(f"{key!r} is not one of {self.words()}{self._near(named, None)}")
        return at, self._all.after(at) or LATEST

    def nearest(self, at: datetime, now: datetime | None = None) -> tuple[str, ...]:
        """The keys on either side of an instant, as far as there are any."""
        until = self.until(now) if now or self.end else LATEST
        before = self._kept.before(max(min(at, until), self.start))
        after = self._kept.after(max(at, self.start) - _INSTANT)
        near = [each for each in (before, after) if each is not None and self.start <= each < until]
        return tuple(self._format.format(each, self.zone) for each in near)

    def partition_date(self, key: str) -> datetime:
        return self.period(key)[0]

    def warnings(self, now: datetime | None = None) -> tuple[str, ...]:
        _, cron = cadence_of(self.cadence)
        if not cron.is_subday:
            return ()
        return between(lambda at: repeated_names(self._format, self.zone, at), now, self.start, self.end)

    def words(self) -> str:
        grain = self.grain
        cadence = f"{grain.value}s" if grain else f"periods that start {cron_words(self.cadence)}"
        until = "" if self.end is None else f" to before {self._day(self.end)}"
        left_out = ", some left out" if self.exclusions else ""
        return f"{cadence} from {self._day(self.start)}{until} ({self.timezone}){left_out}"

    def _beside(self, key: str) -> tuple[str, ...]:
        named = self._named(key)
        if named is None:
            return ()
        is_plain = not self.exclusions and is_start(self.grain, self._format, self.zone, named, key)
        if is_plain and self.start <= named < (self.end or LATEST):
            return (key,)  # as is nearly always so, and found much faster
        return self.nearest(named)

    def _named(self, key: str) -> datetime | None:
        """The instant that `key` names, in whatever offset: a mapper of another zone writes its own.

        Of a time that clocks skip, the one to which they go on: a day may begin at 01:00.
        """
        try:
            return self._format.parse(key, self.zone)
        except InvalidKey:
            pass
        try:
            return periods.instant_of(self._format.read(key, self.zone), self.zone)
        except (InvalidKey, OverflowError):
            return None

    def _near(self, at: datetime, now: datetime | None) -> str:
        near = self.nearest(at, now)
        return f"; the nearest {'are' if len(near) > 1 else 'is'} {' and '.join(near)}" if near else ""

    def _day(self, at: datetime) -> str:
        wall = periods.wall_of(at, self.zone)
        return f"{wall:%Y-%m-%d}" if wall.hour == wall.minute == 0 else f"{wall:%Y-%m-%dT%H:%M}"
