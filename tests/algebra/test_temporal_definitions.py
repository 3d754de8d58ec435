"""How mappers to the start of a period are defined: what is refused, and what is warned of."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.period_keys import default_output
from scheduling.algebra.temporal import (
    StartOfDayMapper,
    StartOfHourMapper,
    StartOfMonthMapper,
    StartOfQuarterMapper,
    StartOfWeekMapper,
    StartOfYearMapper,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class TestADefinition:
    @pytest.mark.parametrize(
        ("fields", "path"),
        [
            ({"timezone": "Mars/Olympus"}, "timezone"),
            ({"timezone": ""}, "timezone"),
            ({"timezone": None}, "timezone"),
            ({"timezone": 3600}, "timezone"),
            ({"input_format": "%d"}, "input_format"),
            ({"input_format": ""}, "input_format"),
            ({"input_format": None}, "input_format"),
            ({"output_format": "%A"}, "output_format"),
            ({"output_format": "%Y"}, "output_format"),
            ({"output_format": "{day}"}, "output_format"),
            ({"max_downstream_keys": 0}, "max_downstream_keys"),
        ],
    )
    def test_that_cannot_work_names_the_field(self, fields, path):
        with pytest.raises(InvalidDefinition) as refusal:
            StartOfDayMapper(**fields)
        assert refusal.value.path == path

    def test_of_a_week_has_a_first_day(self):
        with pytest.raises(InvalidDefinition) as refusal:
            StartOfWeekMapper(week_start="friday")
        assert refusal.value.path == "week_start"

    @pytest.mark.parametrize("output", [None, "", "%Y-%m-%d"])
    def test_with_the_default_written_out_is_the_same(self, output):
        assert StartOfDayMapper(output_format=output) == StartOfDayMapper()
        assert hash(StartOfDayMapper(output_format=output)) == hash(StartOfDayMapper())

    def test_takes_a_zone_as_it_is(self):
        assert StartOfDayMapper(timezone=ZoneInfo("Asia/Taipei")) == StartOfDayMapper(timezone="Asia/Taipei")

    @pytest.mark.parametrize(
        ("cls", "output"),
        [
            (StartOfHourMapper, "%Y-%m-%d"),
            (StartOfWeekMapper, "%Y-%m"),
            (StartOfMonthMapper, "%G-W%V"),
            (StartOfQuarterMapper, "%Y"),
            (StartOfYearMapper, "%G-W%V"),
        ],
    )
    def test_that_gives_two_periods_one_name_is_refused(self, cls, output):
        with pytest.raises(InvalidDefinition, match="one name"):
            cls(output_format=output)

    def test_has_a_default_form_for_every_period(self):
        assert default_output(StartOfWeekMapper.grain, "sunday") == "%Y-%m-%d (W%U)"
        assert default_output(StartOfQuarterMapper.grain) == "%Y-Q{quarter}"


class TestWarnings:
    def test_name_the_night_that_has_one_hour_twice(self):
        (warning,) = StartOfHourMapper(timezone="America/New_York").warnings(NOW)
        assert "from 2026-11-01 01:00 to 02:00 come twice" in warning

    def test_speak_of_autumn_without_a_clock(self):
        (warning,) = StartOfHourMapper(timezone="America/New_York").warnings()
        assert "has no %z" in warning

    @pytest.mark.parametrize(
        "mapper",
        [
            StartOfHourMapper(),
            StartOfHourMapper(timezone="Asia/Taipei"),
            StartOfDayMapper(timezone="America/New_York", input_format="%Y-%m-%d"),
            StartOfDayMapper(timezone="America/New_York", input_format="%Y-%m-%dT%H%z"),
        ],
    )
    def test_are_not_given_where_nothing_is_lost(self, mapper):
        assert mapper.warnings() == ()
        assert mapper.warnings(NOW) == ()
