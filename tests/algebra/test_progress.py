"""Whether an upstream key counts where it maps to, and why not."""

from scheduling.algebra.knowing import AllPartitionsMapper
from scheduling.algebra.mappers import IdentityMapper
from scheduling.algebra.progress import why_not_counted
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.temporal import StartOfDayMapper
from scheduling.algebra.windows import DayWindow


def why(mapper, key, downstream):
    return why_not_counted(mapper, key, mapper.required(downstream))


def test_one_that_is_needed_counts_and_one_between_does_not():
    hours = RollupMapper(StartOfDayMapper(), DayWindow())
    assert why(hours, "2026-03-10T05:00:00", "2026-03-10") == ""
    assert why(hours, "2026-03-10T05:30:00", "2026-03-10") == "it is none of the keys that are needed"


def test_of_a_time_that_clocks_have_skipped_that_is_why():
    hours = RollupMapper(StartOfDayMapper(timezone="America/Los_Angeles"), DayWindow())
    assert "02:00 never was on 2010-03-14" in why(hours, "2010-03-14T02:00:00", "2010-03-14")


def test_where_any_one_is_enough_each_counts():
    assert why(IdentityMapper(), "k", "k") == ""


def test_to_a_mapper_that_learns_of_keys_as_they_come_each_counts():
    assert why(AllPartitionsMapper(), "k", "all") == ""
