"""Rollups: many upstream keys to one downstream key that waits for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from scheduling.algebra.errors import Caution, InvalidDefinition, MismatchedDefinition, PartitionError, within
from scheduling.algebra.keys import KeyFormat
from scheduling.algebra.mappers import Mapper, check_mapper, check_policy
from scheduling.algebra.memory import KeyMapping
from scheduling.algebra.period_keys import PeriodKeys, default_output
from scheduling.algebra.periods import Grain, next_start, wall_of
from scheduling.algebra.plans import PeriodPlan, SegmentPlan
from scheduling.algebra.policies import WaitForAll, WaitPolicy
from scheduling.algebra.temporal import TemporalMapper
from scheduling.algebra.timed import timed
from scheduling.algebra.windows import PeriodWindow, SegmentWindow, Window, check_window

# Enough periods ahead to meet a change of clocks, a February and a common year.
_LOOK_AHEAD = {
    Grain.HOUR: 0,
    Grain.DAY: 370,
    Grain.WEEK: 54,
    Grain.MONTH: 48,
    Grain.QUARTER: 16,
    Grain.YEAR: 8,
}


@dataclass(frozen=True, slots=True)
class RollupMapper(Mapper):
    """One downstream key needs the members of a window.

    The upstream mapper has the grain of the window's period, or the grain of its members; both mean the same
    rollup. In the first manner exactly the keys of the members count; in the second any time within a member
    counts as that member.

    :param upstream_mapper: what brings an upstream key to its period, or to its member.
    :param window: the period, and the members that one downstream key needs.
    :param wait_policy: how many of them must have arrived.
    :raises MismatchedDefinition: if the window needs instants and the mapper gives strings, or the reverse.
    :raises InvalidDefinition: for a mapper of another grain, or a policy that no period can ever meet.
    """

    upstream_mapper: Mapper
    window: Window
    wait_policy: WaitPolicy = field(default_factory=WaitForAll)
    plan: PeriodPlan | SegmentPlan = field(init=False, repr=False, compare=False)
    _down: KeyMapping = field(init=False, repr=False, compare=False)
    _required: KeyMapping = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        Mapper.__post_init__(self)
        within("upstream_mapper", check_mapper, self.upstream_mapper, "upstream_mapper")
        within("wait_policy", check_policy, self.wait_policy)
        plan = _plan(self.upstream_mapper, self.window)
        down, required = plan.mappings()
        for name, value in (("plan", plan), ("_down", down), ("_required", required)):
            object.__setattr__(self, name, value)
        _check_reachable(self.wait_policy, self.plan.most())

    @property
    def is_rollup(self) -> bool:
        return True

    @property
    def member_noun(self) -> str:
        return self.window.member_noun

    def to_downstream(self, key: str) -> tuple[str, ...]:
        return self._down(key)

    def required(self, downstream_key: str, known: Sequence[str] = ()) -> tuple[str, ...]:
        return self._required(downstream_key)

    def counts_as(self, key: str) -> str:
        return self.plan.counts_as(key)

    def never_was(self, key: str) -> str:
        return self.upstream_mapper.never_was(key)

    def partition_date(self, downstream_key: str) -> datetime | None:
        return self.plan.partition_date(downstream_key)

    def samples(self) -> tuple[str, ...]:
        return self.plan.samples()

    def warnings(self, now: datetime | None = None) -> tuple[str, ...]:
        return (*self.plan.warnings(now), *_short_periods(self, now))


def _plan(upstream: Mapper, window: object) -> PeriodPlan | SegmentPlan:
    window = within("window", check_window, window)
    if isinstance(window, SegmentWindow):
        return _segment_plan(upstream, window)
    return _period_plan(*timed(upstream, window, such_as="StartOfDayMapper"))


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


def _short_periods(mapper: RollupMapper, now: datetime | None) -> tuple[str, ...]:
    """A warning that names the next period with fewer members than the policy asks for."""
    plan, policy = mapper.plan, mapper.wait_policy
    if now is None or not isinstance(plan, PeriodPlan):
        return ()
    if not policy.unreachable(0):
        # It asks for a share of the members and not for a number, and every period has its share.
        return ()
    period = plan.window.period
    start = now
    for _ in range(_LOOK_AHEAD[period]):
        start = next_start(period, start, plan.zone, plan.keys.week_start)
        key = plan.keys.key_of(wall_of(start, plan.zone))
        count = len(plan.members_of(key))
        if policy.unreachable(count):
            had = f"which has {count} {plan.window.member_noun}"
            return (Caution(f"{policy.sentence()} is unreachable on {key}, {had}", "policy-unreachable"),)
    return ()
