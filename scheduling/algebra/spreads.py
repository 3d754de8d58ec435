"""Fan-outs: one upstream key to the many downstream keys of its period."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import chain, islice

from scheduling.algebra.errors import (
    BeyondCalendar,
    InvalidDefinition,
    PartitionError,
    within,
)
from scheduling.algebra.mappers import Mapper, check_mapper
from scheduling.algebra.memory import KeyMapping, downstream_mapping
from scheduling.algebra.periods import Grain, floor_wall, shift_wall
from scheduling.algebra.temporal import (
    StartOfDayMapper,
    StartOfHourMapper,
    StartOfMonthMapper,
    StartOfQuarterMapper,
    TemporalMapper,
)
from scheduling.algebra.timed import timed
from scheduling.algebra.windows import Direction, PeriodWindow, SegmentWindow, Window, check_window

MOST_NEAR = 2000
"""Upstream periods that are looked at for one downstream key."""

MOST_KEPT = 500_000
"""Members of theirs that are remembered for the next key: those of minutes of weeks would take 300 MB."""

ZONES_APART = timedelta(hours=27)
"""Clocks of two zones are never further apart."""

_REACH = {Direction.FORWARD: (1, 1), Direction.BACKWARD: (0, 2), Direction.FOLLOWING: (2, 0)}
"""How many periods before and after its member a window may be named."""

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
        return self.plan.upstream_keys(downstream_key, self._down)

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

    def upstream_keys(self, downstream_key: str, down: KeyMapping) -> None:
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

    def upstream_keys(self, downstream_key: str, down: KeyMapping) -> tuple[str, ...] | None:
        """The keys whose windows reach it; none if a period has several keys, or too many are near.

        :param down: the remembered `downstream_of`: what one event feeds has nearly the same keys near it.
        """
        if self.upstream.input.has_offset or self.upstream.input.grain is not self.upstream.grain:
            return None
        if self._is_tiled():
            start = self.downstream.keys.start_of(downstream_key)  # type: ignore[attr-defined]  # of times
            anchor = self.window.anchor_of(start, self.upstream.keys.week_start)
            return self.upstream.upstream_keys(self.upstream.keys.key_of(anchor))
        try:
            near = self._near(downstream_key)
        except OverflowError:
            raise BeyondCalendar(f"what feeds {downstream_key!r} is beyond the calendar") from None
        if near is None or len(near) > MOST_NEAR:
            return None
        is_kept = len(near) * self.window.most() <= MOST_KEPT
        made = down if is_kept else lambda key: tuple(self.downstream_of(key))
        return tuple(key for each in near for key in self._reaching(each, downstream_key, made))

    def samples(self) -> tuple[str, ...]:
        return self.downstream.samples()

    def _is_tiled(self) -> bool:
        """Whether each downstream key is a member, of just one window: windows are the upstream periods.

        An hour that clocks skip is no upstream period, though windows go by it.
        """
        down = self.downstream
        return (
            isinstance(down, TemporalMapper)
            and down.grain is self.window.members
            and down.zone.key == self.upstream.zone.key
            and self.upstream.grain is self.window.period
            and (self.upstream.zone.key == "UTC" or not self.window.period.is_subday)
            and type(self.window).keeps is PeriodWindow.keeps
        )

    def _near(self, downstream_key: str) -> list[datetime] | None:
        """Starts of upstream periods whose windows may hold it, up to one more than are looked at."""
        if isinstance(self.downstream, TemporalMapper):
            start = self.downstream.keys.start_of(downstream_key)
            apart = timedelta(0) if self.downstream.zone.key == self.upstream.zone.key else ZONES_APART
            spans = [(start - apart, shift_wall(self.downstream.grain, start, 1) + apart)]
        elif (written := self.downstream.upstream_keys(downstream_key)) is None:
            return None
        else:
            spans = [(wall, wall) for each in written if (wall := _wall(each))]
        found = chain.from_iterable(self._anchors(*span) for span in spans)
        return list(dict.fromkeys(islice(found, MOST_NEAR + 1)))

    def _anchors(self, start: datetime, end: datetime) -> Iterator[datetime]:
        period, grain = self.window.period, self.upstream.grain
        before, after = _REACH[self.window.direction]
        first = shift_wall(period, floor_wall(period, start), -before)
        last = shift_wall(period, floor_wall(period, end), after)
        at = floor_wall(grain, first, self.upstream.keys.week_start)
        while at <= last:
            yield at
            at = shift_wall(grain, at, 1)

    def _reaching(self, anchor: datetime, downstream_key: str, down: KeyMapping) -> tuple[str, ...]:
        """The key of the upstream period that starts there, if its window has a member of that name."""
        try:
            key = self.upstream.representative(self.upstream.keys.key_of(anchor))
            return (key,) if downstream_key in down(key) else ()
        except (PartitionError, OverflowError):
            return ()

    def _written(self, wall: datetime) -> tuple[str, ...]:
        if not isinstance(self.downstream, TemporalMapper):
            return self.downstream.to_downstream(wall.replace(fold=0).isoformat())
        if self.downstream.zone.key != self.upstream.zone.key:
            shown = wall.replace(tzinfo=self.upstream.zone).astimezone(self.downstream.zone)
            wall = shown.replace(tzinfo=None)
        return (self.downstream.keys.key_of(wall),)


def _wall(text: str) -> datetime | None:
    """The wall time that a member is handed to a downstream mapper as."""
    try:
        wall = datetime.fromisoformat(text)
    except ValueError:
        return None
    return wall if wall.isoformat() == text and wall.tzinfo is None else None


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
