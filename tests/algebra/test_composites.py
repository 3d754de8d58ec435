"""What holds for every mapper that is made of mappers."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.composites import ChainMapper, ProductMapper
from scheduling.algebra.errors import MismatchedDefinition
from scheduling.algebra.mappers import FixedKeyMapper, IdentityMapper
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.temporal import StartOfDayMapper, StartOfMonthMapper
from scheduling.algebra.windows import DayWindow, MonthWindow, SegmentWindow

HOURS = RollupMapper(StartOfDayMapper(), DayWindow())
REGIONS = RollupMapper(FixedKeyMapper("all"), SegmentWindow(["eu", "us"]))
DAYS = RollupMapper(StartOfMonthMapper(input_format="%Y-%m-%d"), MonthWindow())
COMPOSITES = [
    (ProductMapper(IdentityMapper(), HOURS), "us|{day}", "us|{day}T{hour:02}:00:00"),
    (ProductMapper(REGIONS, HOURS), "all|{day}", "eu|{day}T{hour:02}:00:00"),
    (ChainMapper(IdentityMapper(), HOURS), "{day}", "{day}T{hour:02}:00:00"),
    (ProductMapper(IdentityMapper(), ChainMapper(HOURS, DAYS)), "us|{month}", "us|{day}T{hour:02}:00:00"),
]


@pytest.mark.parametrize(("mapper", "down", "up"), COMPOSITES)
@given(
    day=st.dates(datetime(2000, 1, 1).date(), datetime(2040, 1, 1).date()),
    hour=st.integers(0, 23),
    other=st.integers(-3, 3),
)
def test_required_and_to_downstream_are_each_others_inverse(mapper, down, up, day, hour, other):
    key = up.format(day=day, hour=hour)
    made = down.format(day=day, month=f"{day:%Y-%m}")
    assert mapper.to_downstream(key) == (made,)
    assert mapper.counts_as(key) in mapper.required(made)
    elsewhere = day.fromordinal(day.toordinal() + other * 40)
    far = down.format(day=elsewhere, month=f"{elsewhere:%Y-%m}")
    assert (mapper.counts_as(key) in mapper.required(far)) == (far == made)


def test_one_part_is_no_composite():
    with pytest.raises(MismatchedDefinition) as refusal:
        ChainMapper(IdentityMapper())
    assert refusal.value.path == "mappers"
