"""Random consumers: identity, periods, fan-outs, rollups of days, quarters and segments, joined or not."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from hypothesis import strategies as st

from scheduling.algebra import specs
from scheduling.algebra.conditions import All, AssetLeaf
from scheduling.algebra.conditions import Any as Either
from scheduling.algebra.knowing import AllPartitionsMapper, LatestPartitionMapper
from scheduling.algebra.mappers import AllowedKeyMapper, FixedKeyMapper, IdentityMapper, Mapper
from scheduling.algebra.policies import Deadline, MinimumCount, Outcome, WaitForAll
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.sliding import SlidingWindowMapper
from scheduling.algebra.spreads import FanOutMapper
from scheduling.algebra.temporal import StartOfDayMapper, StartOfHourMapper, StartOfQuarterMapper
from scheduling.algebra.windows import DayWindow, QuarterWindow, SegmentWindow
from tests.model.records import Brief, Late

T = TypeVar("T")
UNDATED = ("a", "b", "c", "d")
ASSETS = (*UNDATED, "ticks")
DAYS = ("2026-03-10", "2026-03-11")
HOURS = tuple(f"2026-03-10T{hour:02}:00:00" for hour in range(24))
MONTHS = ("2026-01", "2026-02", "2026-03")
REGIONS = ("tw", "jp", "us")
DYNAMIC = (*REGIONS, "all", *DAYS, *MONTHS)
LISTED = (*REGIONS[:2], *DAYS, *HOURS[:3], HOURS[9], *MONTHS[:2], "all")
"""What the definition of an asset may list."""
STRANGE = ("nonsense", "2026-03-10T09:37:51", "x" * 250)
KEYS = (
    *DAYS,
    *HOURS[:3],
    HOURS[9],
    HOURS[0][:-6],
    HOURS[1][:-6],
    *MONTHS,
    "2026-Q1",
    *REGIONS,
    "all",
    *STRANGE,
)


@dataclass(frozen=True, repr=False)
class Definition(Brief):
    """What a consumer says: by asset its mapper, how they are joined, what late keys do."""

    mappers: Mapping[str, Mapper]
    joined: type[All | Either]
    late: Late
    settle: timedelta

    @property
    def condition(self) -> AssetLeaf | All | Either:
        leaves = tuple(AssetLeaf(name) for name in self.mappers)
        return leaves[0] if len(leaves) == 1 else self.joined(leaves)

    @property
    def needs_one_key(self) -> bool:
        return not any(each.is_rollup for each in self.mappers.values()) and (
            self.joined is Either or len(self.mappers) == 1
        )

    def __repr__(self) -> str:
        mappers = (f"{name}: {json.dumps(specs.dump(mapper))}" for name, mapper in self.mappers.items())
        return f"{self.joined.__name__}({'; '.join(mappers)}), late {self.late}, settle {self.settle}"


Choose = Callable[[Sequence[T]], T]
"""Says which of several it is: a random generator, or hypothesis."""


def definition(choose: Choose) -> Definition:
    """Three of four need several keys: those are where held runs wait, settle and are late."""
    may_need_one = choose([True, False, False, False])
    while True:
        found = _any(choose)
        if may_need_one or not found.needs_one_key:
            return found


@st.composite
def definitions(draw: Any) -> Definition:
    return definition(lambda options: draw(st.sampled_from(options)))


def some(choose: Choose, options: Sequence[T], most: int) -> list[T]:
    """One to `most` of `options`, each once, in any order."""
    return list(dict.fromkeys(choose(options) for _ in range(choose(range(1, most + 1)))))


def _any(choose: Choose) -> Definition:
    mappers = choose([_of_days, _of_quarters, _of_all, _of_all, _of_hours])
    # Which of the dated keys is the newest is a matter of their timetable, not of the model.
    assets = UNDATED if mappers is _of_all else ASSETS
    return Definition(
        {name: mappers(choose) for name in some(choose, assets, 3)},
        choose([All, All, Either]),
        choose([Late.SETTLE, *Late]),
        choose([timedelta(minutes=10), timedelta(0)]),
    )


def _policy(choose: Choose, most: int) -> object:
    """A wait policy for a rollup of `most` keys, an easy one more often."""
    kind = choose([WaitForAll, MinimumCount, Deadline])
    if kind is WaitForAll:
        return WaitForAll()
    if kind is MinimumCount:
        return MinimumCount(choose([1, 2, 2 - most, -1]))
    after = choose([timedelta(minutes=5), timedelta(hours=2)])
    return Deadline(after, choose([MinimumCount(2), Outcome.FIRE, Outcome.CANCEL]))


def _of_days(choose: Choose) -> Mapper:
    """Mappers that give days."""
    kind = choose([IdentityMapper, AllowedKeyMapper, StartOfDayMapper, RollupMapper, SlidingWindowMapper])
    if kind is AllowedKeyMapper:
        return AllowedKeyMapper(DAYS[:1])
    if kind is RollupMapper:
        by = choose([StartOfDayMapper(), StartOfHourMapper()])
        return RollupMapper(by, DayWindow(), _policy(choose, 24))
    if kind is SlidingWindowMapper:
        return SlidingWindowMapper(
            before=choose([1, 2]),
            after=1,
            input_format=choose(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]),
            wait_policy=_policy(choose, 3),
        )
    return kind()


def _of_quarters(choose: Choose) -> Mapper:
    by_month = StartOfQuarterMapper(input_format="%Y-%m")
    kind = choose([IdentityMapper, StartOfQuarterMapper, RollupMapper])
    if kind is RollupMapper:
        return RollupMapper(by_month, QuarterWindow(members="month"), _policy(choose, 3))
    return IdentityMapper() if kind is IdentityMapper else by_month


def _of_all(choose: Choose) -> Mapper:
    """Mappers that give the key `all`, most of them."""
    kind = choose([IdentityMapper, FixedKeyMapper, RollupMapper, AllPartitionsMapper, LatestPartitionMapper])
    if kind is RollupMapper:
        return RollupMapper(FixedKeyMapper("all"), SegmentWindow(REGIONS), _policy(choose, 3))
    return kind("all") if kind in (FixedKeyMapper, LatestPartitionMapper) else kind()


def _of_hours(choose: Choose) -> Mapper:
    """Mappers that give hours: also too many of them."""
    by_day = StartOfDayMapper(input_format="%Y-%m-%d")
    return choose(
        [
            IdentityMapper(),
            StartOfHourMapper(),
            FanOutMapper(by_day, DayWindow()),
            FanOutMapper(by_day, DayWindow(), max_downstream_keys=23),
        ]
    )
