"""Timetables that tick by a cron: with a partition key, with a key that the run names, or with none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal, Self
from zoneinfo import ZoneInfo

from scheduling.algebra import periods
from scheduling.algebra.cadence import Tick, Timetable
from scheduling.algebra.cron import PRESETS, Cron, parse
from scheduling.algebra.cron_words import cron_words
from scheduling.algebra.errors import InvalidDefinition, within
from scheduling.algebra.keys import KeyFormat, validate_key
from scheduling.algebra.occurrences import FOLDS, GAPS, Fold, Gap, Occurrences, occurrences_of
from scheduling.algebra.period_keys import ticks_of_one_name
from scheduling.algebra.periods import Grain
from scheduling.algebra.transitions import LATEST, observes_folds

DEFAULT_KEY_FORMAT = "%Y-%m-%dT%H:%M:%S"
Catchup = Literal["all", "last", "none"]

_INSTANT = timedelta(microseconds=1)
# How late a Dag without a start date may be for the tick just past, unless a tenth of the cadence is more.
_GRACE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class CronTriggerTimetable(Timetable):
    """A run at every tick of `cron`, without a partition key.

    The expression is read by `check` or when a tick is asked for; everything else is refused at once.
    """

    cron: str
    timezone: str = field(default="UTC", kw_only=True)
    run_immediately: bool | timedelta = field(default=False, kw_only=True)
    gap: Gap = field(default="shift", kw_only=True)
    fold: Fold = field(default="first", kw_only=True)

    periodic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "timezone", within("timezone", periods.zone, self.timezone).key)
        if self.gap not in GAPS:
            raise InvalidDefinition(f"gap is {self.gap!r}; use shift or skip", path="gap")
        if self.fold not in FOLDS:
            raise InvalidDefinition(f"fold is {self.fold!r}; use first, last or both", path="fold")
        if not isinstance(self.run_immediately, (bool, timedelta)):
            raise InvalidDefinition("run_immediately is True, False or a timedelta", path="run_immediately")

    @property
    def zone(self) -> ZoneInfo:
        return periods.zone(self.timezone)

    @property
    def summary(self) -> str:
        return self.cron

    def words(self) -> str:
        return f"{cron_words(self.cron)} ({self.timezone})"

    @property
    def cron_fields(self) -> list[str]:
        """The fields of the expression, a preset written out."""
        return PRESETS.get(self.cron.strip().lower(), self.cron).split()

    def check(self) -> None:
        self._cron()

    @classmethod
    def from_fields(cls, **values: Any) -> Self:
        """What a spec describes, its cron read at once: a stored timetable works or is refused."""
        if isinstance(span := values.get("run_immediately"), Mapping):
            values["run_immediately"] = timedelta(**span)
        found = cls(**values)
        found.check()
        return found

    def ticks(self, after: datetime, until: datetime) -> Iterator[Tick]:
        """Every tick after `after` up to and including `until`, oldest first."""
        for at in self.occurrences.between(after + _INSTANT, until + _INSTANT):
            yield Tick(at)

    def next_tick(self, after: datetime) -> Tick | None:
        """The first tick after that instant; none if there is none in 45 years."""
        at = self.occurrences.after(after)
        return None if at is None else self.tick_at(at)

    def previous_tick(self, before: datetime) -> Tick | None:
        """The last tick before that instant."""
        at = self.occurrences.before(before)
        return None if at is None else self.tick_at(at)

    def first_tick(self, *, now: datetime, start: datetime | None, catchup: Catchup = "all") -> Tick | None:
        """The tick that a Dag begins with.

        With a `start` date: with `all` the first tick from it on, with `last` the latest one that has passed
        since, with `none` the next. Without one, the next, unless `run_immediately` lets it take the one that
        has just passed: always (True), if it is no older than a timedelta, or than a tenth of the cadence or
        five minutes (False).
        """
        if start is None:
            return self._first_unasked(now)
        first = self.next_tick(start - _INSTANT)
        if catchup == "all" or first is None or first.at > now:
            return first
        if catchup == "last":
            return self.previous_tick(now + _INSTANT)
        return self.next_tick(now)

    def tick_at(self, at: datetime) -> Tick | None:
        """The tick of an instant that is one of the cron's."""
        return Tick(at)

    @property
    def occurrences(self) -> Occurrences:
        return occurrences_of(self._cron(), self.zone, self.gap, self.fold)

    def _cron(self) -> Cron:
        return within("cron", parse, self.cron)

    def _first_unasked(self, now: datetime) -> Tick | None:
        previous, following = self.previous_tick(now + _INSTANT), self.next_tick(now)
        if previous is None or following is None:
            return following
        if self.run_immediately is True:
            return previous
        usual = max((following.at - previous.at) / 10, _GRACE)
        grace = self.run_immediately if isinstance(self.run_immediately, timedelta) else usual
        return previous if now - previous.at <= grace else following


@dataclass(frozen=True, slots=True)
class CronRuntimePartitionTimetable(CronTriggerTimetable):
    """A run at every tick of `cron`, whose code names the partition keys of what it emits."""

    at_runtime: ClassVar[bool] = True

    def words(self) -> str:
        return f"{CronTriggerTimetable.words(self)}, partition keys named by the run"


@dataclass(frozen=True, slots=True)
class CronPartitionTimetable(CronTriggerTimetable):
    """A run and a partition key at every tick of `cron`.

    The key names the tick moved by `run_offset` ticks (-1: the period that just ended), in `key_format`. The
    default format of a cron that can tick several times a day ends in `%z` where clocks change. A format
    coarser than the cadence is one partition refreshed at several ticks.
    """

    run_offset: int = field(default=0, kw_only=True)
    key_format: str = field(default="", kw_only=True)
    _format: KeyFormat = field(init=False, repr=False, compare=False)

    partitioned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        CronTriggerTimetable.__post_init__(self)
        if self.run_offset is None:
            object.__setattr__(self, "run_offset", 0)
        if type(self.run_offset) is not int:
            raise InvalidDefinition(
                f"run_offset is a whole number of ticks, not {self.run_offset!r}", path="run_offset"
            )
        object.__setattr__(self, "key_format", self.key_format or self._default_format())
        object.__setattr__(self, "_format", within("key_format", KeyFormat, self.key_format))

    @property
    def format(self) -> KeyFormat:
        return self._format

    def words(self) -> str:
        words = CronTriggerTimetable.words(self)
        if not self.run_offset:
            return words
        ticks = "tick" if abs(self.run_offset) == 1 else "ticks"
        side = "earlier" if self.run_offset < 0 else "later"
        return f"{words}, for the partition {abs(self.run_offset)} {ticks} {side}"

    def warnings(self, now: datetime | None = None) -> tuple[str, ...]:
        """Whether two ticks can have one key, naming the next night after `now` in which they will."""
        repeats = self._cron().wild or self.fold == "both"
        exact = self._format.grain.is_subday and not self._format.has_offset
        if not (repeats and exact and observes_folds(self.zone)):
            return ()
        return (ticks_of_one_name(self._format, self.zone, now),)

    def ticks(self, after: datetime, until: datetime) -> Iterator[Tick]:
        start, end = after + _INSTANT, until + _INSTANT
        occurrences = self.occurrences
        if not self.run_offset:
            for at in occurrences.between(start, end):
                yield self._keyed(at, at)
            return
        first = next(occurrences.between(start, end), None)
        moved = None if first is None else self._moved(first, self.run_offset)
        if moved is None:
            return
        instants = occurrences.between(moved, LATEST)
        for at, instant in zip(occurrences.between(start, end), instants, strict=False):
            yield self._keyed(at, instant)

    def tick_at(self, at: datetime) -> Tick | None:
        moved = self._moved(at, self.run_offset)
        return None if moved is None else self._keyed(at, moved)

    def tick_of(self, key: str) -> Tick | None:
        """The first tick for the partition `key`; none if no tick is.

        :raises InvalidKey: unless it is spelled exactly as this timetable spells keys.
        """
        named = self.occurrences.after(self.resolve(key) - _INSTANT)
        at = None if named is None else self._moved(named, -self.run_offset)
        tick = None if at is None else self.tick_at(at)
        return tick if tick and tick.partition_key == key else None

    def resolve(self, key: str) -> datetime:
        """The start of the period that `key` names.

        :raises InvalidKey: unless it is spelled exactly as this timetable spells keys.
        """
        return self._format.parse(validate_key(key), self.zone)

    def _moved(self, at: datetime, ticks: int) -> datetime | None:
        occurrences = self.occurrences
        moved: datetime | None = at
        for _ in range(abs(ticks)):
            if moved is None:
                break
            moved = occurrences.after(moved) if ticks > 0 else occurrences.before(moved)
        return moved

    def _keyed(self, at: datetime, instant: datetime) -> Tick:
        zone, grain = self.zone, self._format.grain
        named = instant if grain is Grain.SECOND else periods.start_of(grain, instant, zone)
        return Tick(at, self._format.format(instant, zone), named)

    def _default_format(self) -> str:
        try:
            repeats = parse(self.cron).is_subday or self.fold == "both"
        except InvalidDefinition:
            return DEFAULT_KEY_FORMAT
        return DEFAULT_KEY_FORMAT + ("%z" if repeats and observes_folds(self.zone) else "")
