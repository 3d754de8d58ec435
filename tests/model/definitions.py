"""Random consumers: identity, periods, fan-outs, rollups of days, quarters and segments, joined or not."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from hypothesis import strategies as st

from scheduling.algebra import specs
from scheduling.algebra.conditions import All, Any, AssetLeaf
from scheduling.algebra.mappers import (
    AllowedKeyMapper,
    AllPartitionsMapper,
    FixedKeyMapper,
    IdentityMapper,
    LatestPartitionMapper,
    Mapper,
)
from scheduling.algebra.policies import Deadline, MinimumCount, Outcome, WaitForAll
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.sliding import SlidingWindowMapper
from scheduling.algebra.spreads import FanOutMapper
from scheduling.algebra.temporal import StartOfDayMapper, StartOfHourMapper, StartOfQuarterMapper
from scheduling.algebra.windows import DayWindow, QuarterWindow, SegmentWindow
from tests.model.records import Brief, Late

UNDATED = ("a", "b", "c")
ASSETS = (*UNDATED, "ticks")
DAYS = ("2026-03-10", "2026-03-11")
HOURS = tuple(f"2026-03-10T{hour:02}:00:00" for hour in range(24))
MONTHS = ("2026-01", "2026-02", "2026-03")
REGIONS = ("tw", "jp", "us")
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
    joined: type[All | Any]
    late: Late
    settle: timedelta

    @property
    def condition(self) -> AssetLeaf | All | Any:
        leaves = tuple(AssetLeaf(name) for name in self.mappers)
        return leaves[0] if len(leaves) == 1 else self.joined(leaves)

    @property
    def needs_one_key(self) -> bool:
        return not any(each.is_rollup for each in self.mappers.values()) and (
            self.joined is Any or len(self.mappers) == 1
        )

    def __repr__(self) -> str:
        mappers = (f"{name}: {json.dumps(specs.dump(mapper))}" for name, mapper in self.mappers.items())
        return f"{self.joined.__name__}({'; '.join(mappers)}), late {self.late}, settle {self.settle}"


def policies(most: int) -> st.SearchStrategy:
    """Wait policies for a rollup of `most` keys, easy ones more often."""
    after = st.sampled_from([timedelta(minutes=5), timedelta(hours=2)])
    then = st.sampled_from([MinimumCount(2), Outcome.FIRE, Outcome.CANCEL])
    return st.one_of(
        st.just(WaitForAll()),
        st.sampled_from([MinimumCount(1), MinimumCount(2), MinimumCount(2 - most), MinimumCount(-1)]),
        st.builds(Deadline, after, then),
    )


def of_days() -> st.SearchStrategy[Mapper]:
    """Mappers that give days."""
    return st.one_of(
        st.just(IdentityMapper()),
        st.just(AllowedKeyMapper(DAYS[:1])),
        st.just(StartOfDayMapper()),
        st.builds(
            RollupMapper,
            st.sampled_from([StartOfDayMapper(), StartOfHourMapper()]),
            st.just(DayWindow()),
            policies(24),
        ),
        st.builds(
            SlidingWindowMapper,
            before=st.sampled_from([1, 2]),
            after=st.just(1),
            input_format=st.sampled_from(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]),
            wait_policy=policies(3),
        ),
    )


def of_quarters() -> st.SearchStrategy[Mapper]:
    by_month = StartOfQuarterMapper(input_format="%Y-%m")
    rollup = st.builds(RollupMapper, st.just(by_month), st.just(QuarterWindow(members="month")), policies(3))
    return st.one_of(st.just(IdentityMapper()), st.just(by_month), rollup)


def of_all() -> st.SearchStrategy[Mapper]:
    """Mappers that give the key `all`, most of them."""
    return st.one_of(
        st.just(IdentityMapper()),
        st.just(FixedKeyMapper("all")),
        st.builds(RollupMapper, st.just(FixedKeyMapper("all")), st.just(SegmentWindow(REGIONS)), policies(3)),
        st.just(AllPartitionsMapper()),
        st.just(LatestPartitionMapper("all")),
    )


def of_hours() -> st.SearchStrategy[Mapper]:
    """Mappers that give hours: also too many of them."""
    by_day = StartOfDayMapper(input_format="%Y-%m-%d")
    return st.sampled_from(
        [
            IdentityMapper(),
            StartOfHourMapper(),
            FanOutMapper(by_day, DayWindow()),
            FanOutMapper(by_day, DayWindow(), max_downstream_keys=23),
        ]
    )


@st.composite
def definitions(draw) -> Definition:
    """Three of four need several keys: those are where held runs wait, settle and are late."""
    wanted = any_definitions()
    if draw(st.integers(0, 3)):
        wanted = wanted.filter(lambda each: not each.needs_one_key)
    return draw(wanted)


@st.composite
def any_definitions(draw) -> Definition:
    mappers = draw(st.sampled_from([of_days, of_quarters, of_all, of_all, of_hours]))
    # Which of the dated keys is the newest is a matter of their timetable, not of the model.
    assets = UNDATED if mappers is of_all else ASSETS
    names = draw(st.lists(st.sampled_from(assets), min_size=1, max_size=3, unique=True))
    return Definition(
        {name: draw(mappers()) for name in names},
        draw(st.sampled_from([All, All, Any])),
        draw(st.sampled_from([Late.SETTLE, *Late])),
        draw(st.sampled_from([timedelta(minutes=10), timedelta(0)])),
    )
