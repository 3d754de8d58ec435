"""Shapes: what is known of the keys that a definition, a timetable or a mapper leads to."""

import pytest

from scheduling.algebra.agreement import produced_by
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.partitions import DynamicPartitions, StaticPartitions
from scheduling.algebra.shapes import ANY, Certain, Composite, can_meet, narrowed, shape_of
from scheduling.algebra.temporal import StartOfDayMapper, StartOfWeekMapper
from scheduling.algebra.time_shorthands import DailyPartitions
from scheduling.algebra.timetables import CronPartitionTimetable

HOURLY = shape_of(CronPartitionTimetable("0 * * * *"))
QUARTER_PAST = shape_of(CronPartitionTimetable("15 * * * *"))
DAILY = shape_of(CronPartitionTimetable("@daily", key_format="%Y-%m-%d"))


class TestShapes:
    def test_of_definitions(self):
        regions = StaticPartitions(["us", "eu"])
        both = shape_of(MultiPartitions({"region": regions, "day": DailyPartitions("2026-01-01")}))
        assert both.takes("us|2026-03-10") is True
        assert both.takes("us|2026-03-10T09") is False
        assert both.takes("us") is False
        assert shape_of(DynamicPartitions("stores")) is ANY
        assert shape_of(DynamicPartitions("stores").bound(lambda name: ["s1"])) == Certain(("s1",))
        assert shape_of(None) is ANY
        assert shape_of(CronPartitionTimetable("no cron")) is ANY

    def test_of_a_definition_that_is_over_still_has_examples(self):
        over = shape_of(DailyPartitions("2010-01-01", "2010-02-01"))
        assert over.example() == "2010-01-01"
        assert over.takes("2012-05-05") is True

    @pytest.mark.parametrize(
        ("left", "right", "answer"),
        [
            (ANY, HOURLY, None),
            (HOURLY, QUARTER_PAST, False),
            (HOURLY, HOURLY, True),
            (DAILY, Certain(("2026-03-10", "all")), True),
            (DAILY, Certain(("all",)), False),
            (produced_by(StartOfWeekMapper(output_format="%Y-%m-%d")), produced_by(StartOfDayMapper()), True),
            (Composite((ANY, DAILY)), Composite((Certain(("us",)), DAILY)), None),
            (Composite((ANY, DAILY)), Composite((ANY, HOURLY)), False),
            (Composite((ANY, DAILY)), Composite((ANY, DAILY, ANY)), False),
            (Composite((Certain(("us",)), DAILY)), Certain(("us|2026-03-10",)), True),
        ],
    )
    def test_can_meet(self, left, right, answer):
        assert can_meet(left, right) is answer
        assert can_meet(right, left) is answer

    def test_narrowed_is_the_closer_one(self):
        assert narrowed(ANY, DAILY) is DAILY
        assert narrowed(DAILY, ANY) is DAILY
        assert narrowed(DAILY, Certain(("2026-03-10", "all"))) == Certain(("2026-03-10",))

    def test_words(self):
        assert ANY.words() == "keys of any form"
        assert Certain(("a", "b", "c", "d", "e")).words() == "only the keys a, b, c and 2 more"
        assert Composite((ANY, DAILY)).words() == "keys of 2 segments, such as …|2023-01-01"
