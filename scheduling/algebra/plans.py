"""What a rollup does with keys: the arithmetic of windows, in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from scheduling.algebra.errors import InvalidKey
from scheduling.algebra.keys import KeyFormat
from scheduling.algebra.mappers import Mapper
from scheduling.algebra.memory import KeyMapping, downstream_mapping, required_mapping
from scheduling.algebra.period_keys import PeriodKeys, repeated_names
from scheduling.algebra.periods import (
    floor_wall,
    instant_of,
    instants_of,
    next_start,
    previous_start,
    start_of,
)
from scheduling.algebra.transitions import changes
from scheduling.algebra.windows import Direction, PeriodWindow

_SAMPLE_YEARS = range(1970, 2038)


@dataclass(frozen=True, slots=True)
class SegmentPlan:
    """Declared segments that all become one key."""

    upstream: Mapper
    segments: tuple[str, ...]
    downstream_key: str

    def most(self) -> int:
        return len(self.segments)

    def mappings(self) -> tuple[KeyMapping, KeyMapping]:
        """Downstream and back."""
        return self.upstream.to_downstream, self.required

    def required(self, downstream_key: str) -> tuple[str, ...]:
        if downstream_key != self.downstream_key:
            raise InvalidKey(
                f"{downstream_key!r} never comes about: the segments become {self.downstream_key!r}"
            )
        return self.segments

    def counts_as(self, key: str) -> str:
        return key

    def partition_date(self, downstream_key: str) -> datetime | None:
        return self.upstream.partition_date(downstream_key)

    def samples(self) -> tuple[str, ...]:
        return (self.downstream_key,)

    def warnings(self, now: datetime | None) -> tuple[str, ...]:
        return self.upstream.warnings(now)


@dataclass(frozen=True, slots=True)
class PeriodPlan:
    """A window of time over keys that name times.

    :param members: how members are named where the upstream mapper has their grain; none where it has the
        period's, so that only the exact keys of members count.
    """

    window: PeriodWindow
    input: KeyFormat
    keys: PeriodKeys
    members: PeriodKeys | None = None

    @property
    def zone(self) -> ZoneInfo:
        return self.keys.zone

    def most(self) -> int:
        tells_repeats = self.input.has_offset and self.window.members.is_subday
        return self.window.most(_longest_repeat(self.zone) if tells_repeats else timedelta(0))

    def mappings(self) -> tuple[KeyMapping, KeyMapping]:
        """Downstream and back; equal plans share one memory."""
        return _remembered(self)

    def counts_as(self, key: str) -> str:
        if self.members is None and not self.input.has_offset:
            return key
        try:
            wall = self.input.read(key, self.zone)
        except InvalidKey:
            return key
        if self.members is not None:
            wall = floor_wall(self.window.members, wall)
        return self.input.spell(wall, self.zone)

    def partition_date(self, downstream_key: str) -> datetime | None:
        return self.keys.date_of(downstream_key)

    def samples(self) -> tuple[str, ...]:
        return self.keys.samples()

    def warnings(self, now: datetime | None) -> tuple[str, ...]:
        return repeated_names(self.input, self.zone, now)

    def downstream_of(self, key: str) -> tuple[str, ...]:
        wall = self.input.read(key, self.zone)
        if self.members is not None:
            self.members.key_of(wall)  # a skipped hour is a mapping problem
        if self.window.period.is_subday and self.window.direction is not Direction.FORWARD:
            candidates = self._nearby(wall)
        else:
            candidates = [self.keys.key_of(self.window.anchor_of(wall, self.keys.week_start))]
            if self.members is None:
                return (candidates[0],)
        counted = self.counts_as(key)
        return tuple(found for found in candidates if counted in self.mappings()[1](found))

    def _nearby(self, wall: datetime) -> list[str]:
        """The keys of the period around `wall` and its neighbours, in real time."""
        instants = (instant_of(wall, self.zone),) if self.input.has_offset else instants_of(wall, self.zone)
        starts = set()
        for instant in instants:
            start = start_of(self.window.period, instant, self.zone)
            starts |= {
                previous_start(self.window.period, start, self.zone),
                start,
                next_start(self.window.period, start, self.zone),
            }
        shown = (start.astimezone(self.zone).replace(tzinfo=None) for start in sorted(starts))
        return list(dict.fromkeys(self.keys.key_of(each) for each in shown))

    def members_of(self, downstream_key: str) -> tuple[str, ...]:
        anchor = self.keys.start_of(downstream_key)
        spell, zone = self.input.spell, self.zone
        return tuple(dict.fromkeys([spell(wall, zone) for wall in self.window.walls(anchor, zone)]))


@lru_cache(maxsize=256)
def _remembered(plan: PeriodPlan) -> tuple[KeyMapping, KeyMapping]:
    return downstream_mapping(plan.downstream_of), required_mapping(plan.members_of)


def _longest_repeat(zone: ZoneInfo) -> timedelta:
    """By how much clocks in `zone` have gone back at most."""
    repeats = [change.before - change.after for year in _SAMPLE_YEARS for change in changes(zone, year)]
    return max([timedelta(0), *repeats])
