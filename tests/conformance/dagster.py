"""Where Partita differs from Dagster on purpose. Each difference carries a check, so that it stays true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from scheduling.algebra.composites import ProductMapper
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.keys import KeyFormat, join_segments, split_segments
from scheduling.algebra.mappers import FixedKeyMapper
from scheduling.algebra.partitions import StaticPartitions
from scheduling.algebra.periods import zone
from scheduling.algebra.policies import MinimumCount
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.sliding import SlidingWindowMapper
from scheduling.algebra.temporal import StartOfDayMapper
from scheduling.algebra.time_shorthands import DailyPartitions
from scheduling.algebra.windows import DayWindow, SegmentWindow

_NOW = datetime(2026, 3, 20, tzinfo=UTC)


@dataclass(frozen=True)
class Difference:
    """What Dagster 1.13 does, what Partita does instead and why; `shown` asks Partita."""

    name: str
    dagster: str
    partita: str
    why: str
    shown: Callable[[], bool]


def _waits() -> bool:
    mapper = RollupMapper(StartOfDayMapper(), DayWindow())
    return len(mapper.required("2026-09-10")) == 24 and not mapper.wait_policy.satisfied(23, 24)


def _counts() -> bool:
    mapper = RollupMapper(StartOfDayMapper(), DayWindow(), wait_policy=MinimumCount(20))
    return mapper.wait_policy.satisfied(20, 24) and not mapper.wait_policy.satisfied(19, 24)


def _looks_back() -> bool:
    required = SlidingWindowMapper(before=7, input_format="%Y-%m-%d").required("2026-01-03")
    return len(required) == 8 and required[0] == "2025-12-27"


def _dimensions() -> bool:
    parts = {name: StaticPartitions(["a", "b"]) for name in ("country", "shop", "channel")}
    return MultiPartitions(parts).count() == 8


def _apia() -> bool:
    days = DailyPartitions("2011-12-28", "2012-01-02", timezone="Pacific/Apia").keys(now=_NOW)
    return days == ("2011-12-28", "2011-12-29", "2011-12-31", "2012-01-01")


def _friday() -> bool:
    days = DailyPartitions("2023-10-23", exclusions=["0 0 * * 6,0"])
    return days.period("2023-10-27")[1] == datetime(2023, 10, 28, tzinfo=UTC)


def _both_offsets() -> bool:
    form, found = KeyFormat("%Y-%m-%d-%H:%M%z"), zone("America/Toronto")
    keys = [form.format(datetime(2026, 11, 1, hour, tzinfo=UTC), found) for hour in (5, 6)]
    return keys == ["2026-11-01-01:00-0400", "2026-11-01-01:00-0500"]


def _any_character() -> bool:
    return split_segments(join_segments(["a|b", "c,[x]"])) == ("a|b", "c,[x]")


def _regions_by_hours() -> bool:
    regions = RollupMapper(FixedKeyMapper("all"), SegmentWindow(["eu", "us"]))
    mapper = ProductMapper(regions, RollupMapper(StartOfDayMapper(), DayWindow()))
    return len(mapper.required("all|2026-03-10") or ()) == 48


DIFFERENCES = (
    Difference(
        "windows wait",
        "A backfill of one hour runs the day on 23 missing hours and paints it green.",
        "A downstream key waits until its upstream keys are there, whatever started it.",
        "A day made of one hour is wrong, not early.",
        _waits,
    ),
    Difference(
        "counts short of all",
        "A mapping says what depends on what, never how much of it is enough.",
        "Wait policies: all, at least n, all but n, or a deadline.",
        "One region that is always late should not stop the rest.",
        _counts,
    ),
    Difference(
        "look-back is whole",
        "A window that reaches before the first partition is shortened without a word.",
        "It names all its keys; those that do not exist are shown as missing.",
        "A seven-day mean of three days should say so.",
        _looks_back,
    ),
    Difference(
        "any number of dimensions",
        "Two.",
        "As many as there are.",
        "Country, shop and day is three.",
        _dimensions,
    ),
    Difference(
        "days that never were",
        "2011-12-30 in Pacific/Apia is a partition.",
        "It is no key.",
        "It would be missing for ever.",
        _apia,
    ),
    Difference(
        "exclusions keep to themselves",
        "With weekends excluded, Friday's window ends on Monday.",
        "It ends on Saturday at midnight.",
        "An excluded day belongs to nobody.",
        _friday,
    ),
    Difference(
        "offsets on both repeated hours",
        "Only the second 01:00 of an autumn night carries its offset.",
        "Both do, like every hour of that format.",
        "One form of key for one asset.",
        _both_offsets,
    ),
    Difference(
        "any character in a key",
        "Static keys must not hold `|`, `,`, `[` or `]`.",
        "They may; segments are escaped when joined.",
        "Keys come from data, and data has commas.",
        _any_character,
    ),
    Difference(
        "rollups in every dimension",
        "A mapping per dimension, all of it or one slice.",
        "Rollups compose: every region times every hour.",
        "That is what a daily total over regions needs.",
        _regions_by_hours,
    ),
)
