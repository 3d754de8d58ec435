"""The form of the keys that a mapper makes, as far as it can be known without any of them."""

import pytest

from scheduling.algebra.agreement import produced_by
from scheduling.algebra.composites import ChainMapper, ProductMapper
from scheduling.algebra.knowing import LatestPartitionMapper
from scheduling.algebra.mappers import AllowedKeyMapper, FixedKeyMapper, IdentityMapper
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.shapes import ANY, Certain, shape_of
from scheduling.algebra.sliding import SlidingWindowMapper
from scheduling.algebra.spreads import FanOutMapper
from scheduling.algebra.temporal import StartOfDayMapper, StartOfHourMapper, StartOfWeekMapper
from scheduling.algebra.timetables import CronPartitionTimetable
from scheduling.algebra.windows import DayWindow, SegmentWindow, WeekWindow

HOURLY = shape_of(CronPartitionTimetable("0 * * * *"))
HOURS_OF_DAY = RollupMapper(StartOfDayMapper(), DayWindow())


class TestProducedBy:
    @pytest.mark.parametrize(
        ("mapper", "example"),
        [
            (StartOfWeekMapper(), "2026-03-09 (W11)"),
            (HOURS_OF_DAY, "2026-03-10"),
            (RollupMapper(StartOfHourMapper(), DayWindow()), "2026-03-10"),
            (RollupMapper(FixedKeyMapper("all"), SegmentWindow(["us"])), "all"),
            (FanOutMapper(StartOfWeekMapper(), WeekWindow()), "2026-03-10"),
            (FanOutMapper(IdentityMapper(), SegmentWindow(["us", "eu"]), IdentityMapper()), "us"),
            (SlidingWindowMapper(input_format="%Y-%m-%d"), "2026-03-10"),
            (LatestPartitionMapper(), "latest"),
            (ProductMapper(FixedKeyMapper("x"), StartOfDayMapper()), "x|2026-03-10"),
            (ChainMapper(StartOfHourMapper(), StartOfDayMapper(input_format="%Y-%m-%dT%H")), "2026-03-10"),
            (IdentityMapper(), "…"),
        ],
    )
    def test_has_the_form_of_what_the_mapper_makes(self, mapper, example):
        assert produced_by(mapper).example() == example

    def test_identity_keeps_the_form(self):
        assert produced_by(IdentityMapper(), HOURLY) is HOURLY
        assert produced_by(AllowedKeyMapper(["us", "eu"]), Certain(("eu", "ap"))) == Certain(("eu",))

    def test_knows_nothing_of_a_mapper_it_does_not_know(self):
        class Shout(IdentityMapper):
            def to_downstream(self, key):
                return (key.upper(),)

        assert produced_by(Shout(), Certain(("a",))) is ANY
