"""Typed selections that reach to the end of the calendar, as people type "from then on"."""

from datetime import UTC, datetime

import pytest

from scheduling.algebra.choosing import select
from scheduling.algebra.selections import InvalidSelection
from scheduling.algebra.subsets import keys_of
from scheduling.algebra.time_shorthands import (
    DailyPartitions,
    HourlyPartitions,
    MinutelyPartitions,
    MonthlyPartitions,
    QuarterlyPartitions,
    WeeklyPartitions,
    YearlyPartitions,
)

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
EVERY = (
    MinutelyPartitions,
    HourlyPartitions,
    DailyPartitions,
    WeeklyPartitions,
    MonthlyPartitions,
    QuarterlyPartitions,
    YearlyPartitions,
)
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Pacific/Apia")
FAR = ("9999", "9999-12", "9999-12-31", "9999-12-31T11", "9999-12-31T11:59")


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("made", EVERY)
class TestToTheLastYear:
    @pytest.mark.parametrize("end", FAR)
    @pytest.mark.parametrize("end_exclusive", [False, True])
    def test_a_range_takes_all_there_are(self, made, zone, end, end_exclusive):
        definition = made("2024-01-01", timezone=zone)
        chosen = select(f"[2024...{end}]", definition, NOW, end_exclusive=end_exclusive)
        assert len(chosen) == definition.count(NOW)

    @pytest.mark.parametrize(
        "text", [*FAR, "[9999...9999-12-31]", "9999-12-31T23", "9999-12-31T23:59", "9999-Q4", "9999-W52"]
    )
    def test_a_key_there_is_none_of_is_refused(self, made, zone, text):
        with pytest.raises(InvalidSelection):
            select(text, made("2024-01-01", timezone=zone), NOW)


def test_a_range_beyond_what_there_is_names_the_nearest():
    with pytest.raises(InvalidSelection, match="the range has no partition; the nearest: 2026-06-30"):
        select("[9999...9999-12-31]", DailyPartitions("2026-03-01"), NOW)


def test_without_a_moment_a_definition_is_taken_to_its_end():
    days = DailyPartitions("2026-03-01", "2026-03-04")
    assert list(keys_of(days, select("[2026-03-02...9999]", days))) == ["2026-03-02", "2026-03-03"]
