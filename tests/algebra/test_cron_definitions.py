"""How timetables by cron are defined: their formats, what is refused, what is warned of, what they say."""

import pytest

from scheduling.algebra.cron_timetables import (
    CronPartitionTimetable,
    CronRuntimePartitionTimetable,
    CronTriggerTimetable,
)
from scheduling.algebra.errors import InvalidDefinition, InvalidKey
from tests.moments import utc

NEW_YORK = "America/New_York"


def keys(timetable, after, until):
    return [tick.partition_key for tick in timetable.ticks(utc(after), utc(until))]


class TestDefaultFormat:
    @pytest.mark.parametrize(
        ("cron", "zone", "ends_in_offset"),
        [
            ("0 * * * *", NEW_YORK, True),
            ("0 0-4 * * *", "Europe/Berlin", True),
            ("*/15 * * * *", "Australia/Lord_Howe", True),
            ("0 * * * *", "Asia/Taipei", False),
            ("0 * * * *", "Asia/Kolkata", False),
            ("0 * * * *", "UTC", False),
            ("30 1 * * *", NEW_YORK, False),
            ("@weekly", "Europe/Berlin", False),
        ],
    )
    def test_ends_in_the_offset_where_one_name_could_mean_two_ticks(self, cron, zone, ends_in_offset):
        assert CronPartitionTimetable(cron, timezone=zone).key_format.endswith("%z") is ends_in_offset

    def test_does_so_too_for_a_daily_tick_that_comes_twice(self):
        twice = CronPartitionTimetable("30 1 * * *", timezone=NEW_YORK, fold="both")
        assert len(set(keys(twice, "2026-11-01T00:00", "2026-11-01T12:00"))) == 2

    def test_written_out_is_the_same_value(self):
        assert CronPartitionTimetable("@daily", key_format="%Y-%m-%dT%H:%M:%S") == CronPartitionTimetable(
            "@daily"
        )


class TestWarnings:
    NAIVE = CronPartitionTimetable("0 * * * *", timezone=NEW_YORK, key_format="%Y-%m-%dT%H")

    def test_name_the_night_in_which_two_ticks_get_one_key(self):
        (warning,) = self.NAIVE.warnings(utc("2026-03-10T00:00"))
        assert "on 2026-11-01" in warning
        assert "%z" in warning

    def test_look_ahead_from_now(self):
        (warning,) = self.NAIVE.warnings(utc("2026-11-02T00:00"))
        assert "on 2027-11-07" in warning

    def test_need_no_clock(self):
        (warning,) = self.NAIVE.warnings()
        assert "when clocks go back" in warning

    @pytest.mark.parametrize(
        "timetable",
        [
            CronPartitionTimetable("0 * * * *", timezone=NEW_YORK),
            CronPartitionTimetable("0 * * * *", timezone="Asia/Tokyo", key_format="%Y-%m-%dT%H"),
            CronPartitionTimetable("30 1 * * *", timezone=NEW_YORK, key_format="%Y-%m-%dT%H"),
            CronPartitionTimetable("*/5 * * * *", timezone=NEW_YORK, key_format="%Y-%m-%d"),
        ],
    )
    def test_are_silent_where_names_are_distinct_or_meant_to_be_shared(self, timetable):
        assert timetable.warnings(utc("2026-03-10T00:00")) == ()


class TestConstruction:
    @pytest.mark.parametrize(
        ("fields", "path"),
        [
            ({"timezone": "Mars/X"}, "timezone"),
            ({"run_offset": 1.5}, "run_offset"),
            ({"run_offset": "1"}, "run_offset"),
            ({"run_offset": True}, "run_offset"),
            ({"gap": "jump"}, "gap"),
            ({"fold": "never"}, "fold"),
            ({"run_immediately": 5}, "run_immediately"),
            ({"key_format": "%Y-W%V"}, "key_format"),
            ({"key_format": "%m-%d"}, "key_format"),
            ({"key_format": "static"}, "key_format"),
        ],
    )
    def test_refuses_what_cannot_work(self, fields, path):
        with pytest.raises(InvalidDefinition) as refusal:
            CronPartitionTimetable("@daily", **fields)
        assert refusal.value.path == path

    @pytest.mark.parametrize("cron", ["not a cron", "60 * * * *", "", "0 0 30 2 *"])
    def test_reads_the_cron_when_checked(self, cron):
        timetable = CronPartitionTimetable(cron)
        with pytest.raises(InvalidDefinition) as refusal:
            timetable.check()
        assert refusal.value.path == "cron"

    def test_a_bad_cron_has_no_ticks_either(self):
        with pytest.raises(InvalidDefinition):
            list(CronPartitionTimetable("60 * * * *").ticks(utc("2026-01-01T00:00"), utc("2026-01-02T00:00")))

    def test_takes_a_missing_offset_as_none(self):
        assert CronPartitionTimetable("@daily", run_offset=None) == CronPartitionTimetable("@daily")

    def test_values_with_the_same_fields_are_the_same(self):
        a, b = (CronPartitionTimetable("0 * * * *", timezone=NEW_YORK) for _ in range(2))
        assert a == b
        assert hash(a) == hash(b)


class TestFaces:
    @pytest.mark.parametrize(
        ("timetable", "partitioned", "at_runtime"),
        [
            (CronTriggerTimetable("@daily"), False, False),
            (CronRuntimePartitionTimetable("@daily"), False, True),
            (CronPartitionTimetable("@daily"), True, False),
        ],
    )
    def test_say_who_decides_the_key(self, timetable, partitioned, at_runtime):
        assert (timetable.periodic, timetable.partitioned, timetable.at_runtime) == (
            True,
            partitioned,
            at_runtime,
        )
        assert timetable.summary == "@daily"

    def test_words(self):
        hourly = CronPartitionTimetable("15 * * * *", timezone="Europe/Berlin", run_offset=-1)
        assert hourly.words() == "every hour at minute 15 (Europe/Berlin), for the partition 1 tick earlier"
        assert CronTriggerTimetable("@daily").words() == "every day at 00:00 (UTC)"
        runtime = CronRuntimePartitionTimetable("0 6 * * 1-5")
        assert runtime.words() == "on weekdays at 06:00 (UTC), partition keys named by the run"

    def test_ticks_without_a_key(self):
        (tick,) = CronRuntimePartitionTimetable("@daily").ticks(
            utc("2026-03-10T12:00"), utc("2026-03-11T12:00")
        )
        assert (tick.at, tick.partition_key, tick.partition_date) == (utc("2026-03-11T00:00"), None, None)

    def test_a_key_can_only_be_given_to_a_partitioned_dag(self):
        with pytest.raises(InvalidKey, match="not partitioned"):
            CronTriggerTimetable("@daily").accept_key("us")
        assert CronTriggerTimetable("@daily").accept_key(None) is None
        assert CronRuntimePartitionTimetable("@daily").accept_key("us") == "us"

    @pytest.mark.parametrize("key", ["", " ", "x" * 251, 5, ["a"]])
    def test_and_must_be_one(self, key):
        with pytest.raises(InvalidKey):
            CronRuntimePartitionTimetable("@daily").accept_key(key)
