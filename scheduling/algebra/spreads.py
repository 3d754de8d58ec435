"""Fan-outs: one upstream key to the many downstream keys of its period."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache

from scheduling.algebra.errors import (
    InvalidDefinition,
    PartitionError,
    within,
)
from scheduling.algebra.mappers import Mapper, check_mapper
from scheduling.algebra.memory import KeyMapping, downstream_mapping
from scheduling.algebra.periods import Grain
from scheduling.algebra.temporal import (
    StartOfDayMapper,
    StartOfHourMapper,
    StartOfMonthMapper,
    StartOfQuarterMapper,
    TemporalMapper,
)
from scheduling.algebra.timed import timed
from scheduling.algebra.windows import PeriodWindow, SegmentWindow, Window, check_window

_BY_MEMBER: dict[Grain, type[TemporalMapper]] = {
    Grain.HOUR: StartOfHourMapper,
    Grain.DAY: StartOfDayMapper,
    Grain.MONTH: StartOfMonthMapper,
    Grain.QUARTER: StartOfQuarterMapper,
}


@dataclass(frozen=True, slots=True)
class FanOutMapper(Mapper):
    """One upstream key feeds every member of the window that it names.

    `downstream_mapper` writes the members; left out, they get the default form of their grain. One that is
    left at UTC works in the zone of the upstream mapper.

    :raises MismatchedDefinition: if the window needs instants and the upstream mapper gives strings.
    """

    upstream_mapper: Mapper
    window: Window
    downstream_mapper: Mapper | None = None
    plan: PeriodSpread | SegmentSpread = field(init=False, repr=False, compare=False)
    _down: KeyMapping = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        Mapper.__post_init__(self)
        within("upstream_mapper", check_mapper, self.upstream_mapper, "upstream_mapper")
        if self.downstream_mapper is not None:
            within("downstream_mapper", check_mapper, self.downstream_mapper, "downstream_mapper")
        plan = _plan(self.upstream_mapper, self.window, self.downstream_mapper)
        object.__setattr__(self, "plan", plan)
        object.__setattr__(self, "_down", _spread(plan))

    def to_downstream(self, key: str) -> tuple[str, ...]:
        return self._down(key)

    def upstream_keys(self, downstream_key: str) -> tuple[str, ...] | None:
        return self.plan.upstream_keys(downstream_key)

    def partition_date(self, downstream_key: str) -> datetime | None:
        return self.plan.downstream.partition_date(downstream_key)

    def samples(self) -> tuple[str, ...]:
        return self.plan.samples()

    def warnings(self, now: datetime | None = None) -> tuple[str, ...]:
        return (*self.upstream_mapper.warnings(now), *self.plan.downstream.warnings(now))


@dataclass(frozen=True, slots=True)
class SegmentSpread:
    """Every key that the upstream mapper takes feeds all segments."""

    upstream: Mapper
    segments: tuple[str, ...]
    downstream: Mapper

    def downstream_of(self, key: str) -> Iterator[str]:
        self.upstream.to_downstream(key)
        for segment in self.segments:
            yield from self.downstream.to_downstream(segment)

    def upstream_keys(self, downstream_key: str) -> None:
        return None

    def samples(self) -> tuple[str, ...]:
        return tuple(made for segment in self.segments for made in self.downstream.to_downstream(segment))


@dataclass(frozen=True, slots=True)
class PeriodSpread:
    """A key names a time; the members of its window are written by the downstream mapper."""

    upstream: TemporalMapper
    window: PeriodWindow
    downstream: Mapper

    def downstream_of(self, key: str) -> Iterator[str]:
        (middle,) = self.upstream.to_downstream(key)
        anchor = self.upstream.keys.start_of(middle)
        for wall in self.window.walls(anchor, self.upstream.zone):
            yield from self._written(wall)

    def upstream_keys(self, downstream_key: str) -> tuple[str, ...] | None:
        """The key of the window around it, where windows and upstream keys are the same periods."""
        aligned = self.upstream.grain is self.window.period
        if not (aligned and isinstance(self.downstream, TemporalMapper)):
            return None
        wall = self.downstream.keys.start_of(downstream_key)
        anchor = self.window.anchor_of(wall, self.upstream.keys.week_start)
        return self.upstream.upstream_keys(self.upstream.keys.key_of(anchor))

    def samples(self) -> tuple[str, ...]:
        return self.downstream.samples()

    def _written(self, wall: datetime) -> tuple[str, ...]:
        if not isinstance(self.downstream, TemporalMapper):
            return self.downstream.to_downstream(wall.replace(fold=0).isoformat())
        if self.downstream.zone.key != self.upstream.zone.key:
            shown = wall.replace(tzinfo=self.upstream.zone).astimezone(self.downstream.zone)
            wall = shown.replace(tzinfo=None)
        return (self.downstream.keys.key_of(wall),)


def _plan(upstream: Mapper, window: object, downstream: Mapper | None) -> PeriodSpread | SegmentSpread:
    window = within("window", check_window, window)
    if isinstance(window, SegmentWindow):
        return _segment_spread(upstream, window, downstream)
    return _period_spread(*timed(upstream, window, such_as="StartOfWeekMapper"), downstream)


def _period_spread(upstream: TemporalMapper, window: PeriodWindow, downstream: Mapper | None) -> PeriodSpread:
    if downstream is None:
        if window.members not in _BY_MEMBER:
            raise InvalidDefinition(
                f"a fan-out to {window.members.value}s needs a downstream_mapper",
                path="downstream_mapper",
            )
        downstream = _BY_MEMBER[window.members](timezone=upstream.timezone)
    elif isinstance(downstream, TemporalMapper) and downstream.timezone == "UTC":
        downstream = replace(downstream, timezone=upstream.timezone)
    return PeriodSpread(upstream, window, downstream)


def _segment_spread(upstream: Mapper, window: SegmentWindow, downstream: Mapper | None) -> SegmentSpread:
    if downstream is None:
        raise InvalidDefinition(
            "a fan-out to segments needs a downstream_mapper; IdentityMapper() keeps them as they are",
            path="downstream_mapper",
        )
    spread = SegmentSpread(upstream, window.segments, downstream)
    try:
        spread.samples()
    except PartitionError as error:
        raise InvalidDefinition(f"the downstream mapper refuses a segment: {error}", path="window") from None
    return spread


@lru_cache(maxsize=256)
def _spread(plan: PeriodSpread | SegmentSpread) -> KeyMapping:
    return downstream_mapping(lambda key: dict.fromkeys(plan.downstream_of(key)))
