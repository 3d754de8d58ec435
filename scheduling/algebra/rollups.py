"""Rollups: many upstream keys to one downstream key that waits for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from scheduling.algebra.errors import (
    CannotMap,
    InvalidDefinition,
    InvalidKey,
    MismatchedDefinition,
    PartitionError,
    within,
)
from scheduling.algebra.keys import KeyFormat
from scheduling.algebra.mappers import Mapper, check_mapper, check_policy
from scheduling.algebra.periods import (
    Grain,
    floor_wall,
    instant_of,
    instants_of,
    next_start,
    previous_start,
    start_of,
    wall_of,
)
from scheduling.algebra.policies import WaitForAll, WaitPolicy
from scheduling.algebra.temporal import PeriodKeys, TemporalMapper, default_output, repeated_names
from scheduling.algebra.transitions import changes
from scheduling.algebra.windows import Direction, PeriodWindow, SegmentWindow, Window

_CACHED_PERIODS = 4096
# Enough periods ahead to meet a change of clocks, a February and a common year.
_LOOK_AHEAD = {
    Grain.HOUR: 0,
    Grain.DAY: 370,
    Grain.WEEK: 54,
    Grain.MONTH: 48,
    Grain.QUARTER: 16,
    Grain.YEAR: 8,
}
_SAMPLE_YEARS = range(1970, 2038)


@dataclass(frozen=True, slots=True)
class RollupMapper(Mapper):
    """One downstream key needs the members of a window.

    The upstream mapper has the grain of the window's period, or the grain of its members; both mean the same
    rollup. In the first manner exactly the keys of the members count; in the second any time within a member
    counts as that member.

    :raises MismatchedDefinition: if the window needs instants and the mapper gives strings, or the reverse.
    :raises InvalidDefinition: for a mapper of another grain, or a policy that no period can ever meet.
    """

    upstream_mapper: Mapper
    window: Window
    wait_policy: WaitPolicy = field(default_factory=WaitForAll)
    plan: PeriodPlan | SegmentPlan = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        Mapper.__post_init__(self)
        within("upstream_mapper", check_mapper, self.upstream_mapper, "upstream_mapper")
        within("wait_policy", check_policy, self.wait_policy)
        object.__setattr__(self, "plan", _plan(self.upstream_mapper, self.window))
        _check_reachable(self.wait_policy, self.plan.most())

    @property
    def is_rollup(self) -> bool:
        return True

    @property
    def member_noun(self) -> str:
        return self.window.member_noun

    def to_downstream(self, key: str) -> tuple[str, ...]:
        return self.plan.to_downstream(key)

    def required(self, downstream_key: str, known: Sequence[str] = ()) -> tuple[str, ...]:
        return self.plan.required(downstream_key)

    def counts_as(self, key: str) -> str:
        return self.plan.counts_as(key)

    def partition_date(self, downstream_key: str) -> datetime | None:
        return self.plan.partition_date(downstream_key)

    def samples(self) -> tuple[str, ...]:
        return self.plan.samples()

    def warnings(self, now: datetime | None = None) -> tuple[str, ...]:
        return (*self.plan.warnings(now), *_short_periods(self, now))


@dataclass(frozen=True, slots=True)
class SegmentPlan:
    """Declared segments that all become one key."""

    upstream: Mapper
    segments: tuple[str, ...]
    downstream_key: str

    def most(self) -> int:
        return len(self.segments)

    def to_downstream(self, key: str) -> tuple[str, ...]:
        return self.upstream.to_downstream(key)

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

    def to_downstream(self, key: str) -> tuple[str, ...]:
        return _downstream(self)(key)

    def required(self, downstream_key: str) -> tuple[str, ...]:
        return _members(self)(downstream_key)

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
        return tuple(found for found in candidates if counted in self.required(found))

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


def _plan(upstream: Mapper, window: object) -> PeriodPlan | SegmentPlan:
    if isinstance(window, SegmentWindow):
        return _segment_plan(upstream, window)
    if not isinstance(window, PeriodWindow):
        raise InvalidDefinition(f"window is one such as DayWindow(), not {window!r}", path="window")
    if not isinstance(upstream, TemporalMapper):
        raise MismatchedDefinition(
            f"a {type(window).__name__} needs instants and {type(upstream).__name__} gives strings; "
            "use a mapper such as StartOfDayMapper, or a SegmentWindow",
            path="upstream_mapper",
        )
    return _period_plan(upstream, window)


def _segment_plan(upstream: Mapper, window: SegmentWindow) -> SegmentPlan:
    if isinstance(upstream, TemporalMapper):
        raise MismatchedDefinition(
            f"a SegmentWindow needs strings and {type(upstream).__name__} gives instants; use FixedKeyMapper",
            path="upstream_mapper",
        )
    made = set()
    for segment in window.segments:
        try:
            made.add(upstream.to_downstream(segment))
        except PartitionError as error:
            raise InvalidDefinition(
                f"the segment {segment!r} never arrives: {error}", path="window"
            ) from None
    found = made.pop()
    if made or len(found) != 1:
        raise InvalidDefinition(
            f"{type(upstream).__name__} does not bring all segments to one key, so that no run could ever "
            "have them all; use FixedKeyMapper",
            path="upstream_mapper",
        )
    return SegmentPlan(upstream, window.segments, found[0])


def _period_plan(upstream: TemporalMapper, window: PeriodWindow) -> PeriodPlan:
    if not (upstream.input.grain <= window.members and upstream.input.grain is not Grain.WEEK):
        raise InvalidDefinition(
            f"the input_format {upstream.input.text!r} cannot tell {window.members.value}s apart, of "
            f"which a {type(window).__name__} is made",
            path="upstream_mapper.input_format",
        )
    if upstream.grain is window.period:
        return PeriodPlan(window, upstream.input, upstream.keys)
    if upstream.grain is window.members:
        output = KeyFormat(default_output(window.period))
        return PeriodPlan(
            window, upstream.input, PeriodKeys(window.period, upstream.zone, output), upstream.keys
        )
    raise InvalidDefinition(
        f"a {type(window).__name__} makes {window.period.value}s of {window.members.value}s, and "
        f"{type(upstream).__name__} gives neither",
        path="upstream_mapper",
    )


def _check_reachable(policy: WaitPolicy, most: int) -> None:
    if isinstance(policy, WaitForAll):
        return
    asked = policy.threshold(most)
    if asked > most:
        raise InvalidDefinition(
            f"{policy.sentence()} can never be met: there are at most {most}", path="wait_policy"
        )


@lru_cache(maxsize=1024)
def _members(plan: PeriodPlan) -> Callable[[str], tuple[str, ...]]:
    """Equal plans share one memory of the windows they have laid out."""

    @lru_cache(maxsize=_CACHED_PERIODS)
    def required(downstream_key: str) -> tuple[str, ...]:
        try:
            return plan.members_of(downstream_key)
        except CannotMap as error:
            raise InvalidKey(str(error)) from None
        except (OverflowError, ValueError) as error:
            if isinstance(error, PartitionError):
                raise
            raise InvalidKey(f"the window of {downstream_key!r} is beyond the calendar") from None

    return required


@lru_cache(maxsize=1024)
def _downstream(plan: PeriodPlan) -> Callable[[str], tuple[str, ...]]:
    @lru_cache(maxsize=_CACHED_PERIODS * 4)
    def down(key: str) -> tuple[str, ...]:
        try:
            return plan.downstream_of(key)
        except InvalidKey as error:
            raise CannotMap(str(error)) from None
        except OverflowError:
            raise CannotMap(f"{key!r} is beyond the calendar") from None

    return down


def _short_periods(mapper: RollupMapper, now: datetime | None) -> tuple[str, ...]:
    """A warning that names the next period with fewer members than the policy asks for."""
    plan, policy = mapper.plan, mapper.wait_policy
    if now is None or not isinstance(plan, PeriodPlan):
        return ()
    period = plan.window.period
    start = now
    for _ in range(_LOOK_AHEAD[period]):
        start = next_start(period, start, plan.zone, plan.keys.week_start)
        key = plan.keys.key_of(wall_of(start, plan.zone))
        count = len(plan.members_of(key))
        if policy.unreachable(count):
            return (
                f"{policy.sentence()} is unreachable on {key}, which has {count} {plan.window.member_noun}",
            )
    return ()


def _longest_repeat(zone: ZoneInfo) -> timedelta:
    """By how much clocks in `zone` have gone back at most."""
    repeats = [change.before - change.after for year in _SAMPLE_YEARS for change in changes(zone, year)]
    return max([timedelta(0), *repeats])
