"""How partitions of time are defined: what is refused, what is assumed, and how they are put in words."""

from datetime import date

import pytest

from scheduling.algebra.calendars import BusinessCalendar
from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.algebra.time_shorthands import DailyPartitions, HourlyPartitions
from tests.moments import utc

NEW_YORK = "America/New_York"


class TestConstruction:
    @pytest.mark.parametrize(
        ("fields", "path"),
        [
            ({"cadence": "daily"}, "cadence"),
            ({"cadence": "second"}, "cadence"),
            ({"cadence": "0 0 0 * *"}, "cadence"),
            ({"cadence": None}, "cadence"),
            ({"start": "soon"}, "start"),
            ({"start": None}, "start"),
            ({"end": "2026-01-01"}, "end"),
            ({"end": "2025-12-31"}, "end"),
            ({"timezone": "Mars/X"}, "timezone"),
            ({"end_offset": "1"}, "end_offset"),
            ({"end_offset": True}, "end_offset"),
            ({"key_format": "%Y-%m"}, "key_format"),
            ({"key_format": "%m-%d"}, "key_format"),
        ],
    )
    def test_refuses_what_cannot_work(self, fields, path):
        with pytest.raises(InvalidDefinition) as refusal:
            TimePartitions(**{"cadence": "day", "start": "2026-01-01", **fields})
        assert refusal.value.path == path

    def test_a_cron_needs_a_format_that_tells_its_ticks_apart(self):
        with pytest.raises(InvalidDefinition, match="names two periods 2026-01"):
            TimePartitions("0 0 1,15 * *", "2026-01-01", key_format="%Y-%m")
        assert TimePartitions("0 0 15 * *", "2026-01-01", key_format="%Y-%m").key_at(1) == "2026-02"

    def test_a_start_is_a_wall_time_of_the_zone_or_an_instant(self):
        wall = DailyPartitions("2026-03-01", timezone=NEW_YORK)
        assert wall.start == utc("2026-03-01T05:00")
        assert wall == DailyPartitions(date(2026, 3, 1), timezone=NEW_YORK)
        assert wall == DailyPartitions(utc("2026-03-01T05:00"), timezone=NEW_YORK)
        assert wall == DailyPartitions("2026-03-01T05:00:00Z", timezone=NEW_YORK)

    def test_a_start_that_clocks_skip_is_the_first_instant_after(self):
        assert DailyPartitions("2026-09-06", timezone="America/Santiago").start == utc("2026-09-06T04:00")

    @pytest.mark.parametrize(
        ("cadence", "zone", "key_format"),
        [
            ("minute", "UTC", "%Y-%m-%dT%H:%M"),
            ("hour", NEW_YORK, "%Y-%m-%dT%H%z"),
            ("hour", "Asia/Kolkata", "%Y-%m-%dT%H"),
            ("day", NEW_YORK, "%Y-%m-%d"),
            ("0 5 * * *", NEW_YORK, "%Y-%m-%d"),
            ("*/10 * * * *", NEW_YORK, "%Y-%m-%dT%H:%M%z"),
            ("* * * * * */30", "UTC", "%Y-%m-%dT%H:%M:%S"),
        ],
    )
    def test_default_formats(self, cadence, zone, key_format):
        assert TimePartitions(cadence, "2026-01-01", timezone=zone).key_format == key_format

    def test_an_old_start_counts_for_whether_a_zone_changes_its_clocks(self):
        assert HourlyPartitions("2018-01-01", timezone="America/Sao_Paulo").key_format.endswith("%z")
        assert not HourlyPartitions("2026-01-01", timezone="America/Sao_Paulo").key_format.endswith("%z")

    def test_without_an_end_a_count_needs_a_moment(self):
        with pytest.raises(InvalidDefinition, match="depends on when"):
            DailyPartitions("2026-01-01").count()


class TestWords:
    def test_say_what_is_expected(self):
        assert DailyPartitions("2026-03-01").words() == "days from 2026-03-01 (UTC)"
        ending = HourlyPartitions("2026-03-01T06:00", "2026-04-01", timezone=NEW_YORK)
        assert ending.words() == "hours from 2026-03-01T06:00 to before 2026-04-01 (America/New_York)"
        weekdays = DailyPartitions("2026-03-01", exclusions=[BusinessCalendar()])
        assert weekdays.words() == "days from 2026-03-01 (UTC), some left out"
        shop = TimePartitions("0 5 * * *", "2026-03-01")
        assert shop.words() == "periods that start every day at 05:00 from 2026-03-01 (UTC)"
