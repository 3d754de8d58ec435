"""Timetables by cron: the keys of their ticks, what keys stand for, and where a Dag begins."""

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.cron_timetables import CronPartitionTimetable, CronTriggerTimetable
from scheduling.algebra.errors import InvalidKey
from tests.moments import utc

NEW_YORK = "America/New_York"


def keys(timetable, after, until):
    return [tick.partition_key for tick in timetable.ticks(utc(after), utc(until))]


class TestKeys:
    def test_tc04_fold_keys_are_distinct_and_read_back(self):
        hourly = CronPartitionTimetable(
            "0 * * * *", timezone="America/Los_Angeles", key_format="%Y-%m-%dT%H:%M%z"
        )
        ticks = list(hourly.ticks(utc("2023-11-05T06:30"), utc("2023-11-05T10:00")))
        assert [tick.partition_key[11:] for tick in ticks] == [
            "00:00-0700",
            "01:00-0700",
            "01:00-0800",
            "02:00-0800",
        ]
        assert [hourly.resolve(tick.partition_key) for tick in ticks] == [tick.at for tick in ticks]

    def test_tc04_the_tick_before_the_second_pass_is_the_first(self):
        hourly = CronPartitionTimetable("0 * * * *", timezone="America/Los_Angeles", run_offset=-1)
        (tick,) = hourly.ticks(utc("2023-11-05T08:59"), utc("2023-11-05T09:00"))
        assert tick.partition_date == utc("2023-11-05T08:00")
        assert tick.partition_key == "2023-11-05T01:00:00-0700"

    def test_tc04_the_default_format_gives_the_fold_two_keys(self):
        hourly = CronPartitionTimetable("0 * * * *", timezone=NEW_YORK)
        assert keys(hourly, "2026-11-01T04:30", "2026-11-01T06:00") == [
            "2026-11-01T01:00:00-0400",
            "2026-11-01T01:00:00-0500",
        ]

    def test_tc06_keys_of_zones_with_minutes(self):
        hourly = CronPartitionTimetable("0 * * * *", timezone="Asia/Kolkata", key_format="%H:%M on %Y-%m-%d")
        found = keys(hourly, "2026-02-17T12:45", "2026-02-17T15:45")
        assert [key[:5] for key in found] == ["19:00", "20:00", "21:00"]

    def test_tc19_the_first_of_the_month_at_nine_in_berlin(self):
        monthly = CronPartitionTimetable("0 9 1 * *", timezone="Europe/Berlin")
        ticks = list(monthly.ticks(utc("2018-12-31T23:00"), utc("2019-03-31T21:59")))
        assert [tick.at for tick in ticks] == [
            utc("2019-01-01T08:00"),
            utc("2019-02-01T08:00"),
            utc("2019-03-01T08:00"),
        ]

    def test_run_offset_names_the_period_that_just_ended(self):
        daily = CronPartitionTimetable("0 0 * * *", run_offset=-1, key_format="%Y-%m-%d")
        (tick,) = daily.ticks(utc("2026-03-10T12:00"), utc("2026-03-11T12:00"))
        assert (tick.at, tick.partition_key) == (utc("2026-03-11T00:00"), "2026-03-10")

    def test_run_offset_counts_ticks_and_not_days(self):
        weekdays = CronPartitionTimetable("0 6 * * 1-5", run_offset=-1, key_format="%Y-%m-%d")
        assert keys(weekdays, "2026-03-06T12:00", "2026-03-10T12:00") == ["2026-03-06", "2026-03-09"]

    def test_a_coarser_format_refreshes_one_partition(self):
        live = CronPartitionTimetable("*/5 * * * *", key_format="%Y-%m-%d")
        ticks = list(live.ticks(utc("2026-03-09T23:55"), utc("2026-03-10T23:59")))
        assert len(ticks) == 288
        assert {(tick.partition_key, tick.partition_date) for tick in ticks} == {
            ("2026-03-10", utc("2026-03-10T00:00"))
        }

    def test_a_key_has_one_partition_date_however_it_came_about(self):
        """A person who types the key and the tick that makes it must mean the same partition."""
        nightly = CronPartitionTimetable("30 2 * * *", timezone="Asia/Taipei", key_format="%Y-%m-%d")
        for tick in nightly.ticks(utc("2026-03-01T00:00"), utc("2026-03-09T00:00")):
            assert nightly.resolve(tick.partition_key) == tick.partition_date

    @given(
        st.sampled_from(["0 * * * *", "*/20 * * * *", "30 2 * * *", "0 0-4 * * *", "0 0 * * 1", "@monthly"]),
        st.sampled_from([NEW_YORK, "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "UTC"]),
        st.sampled_from(["2026-03-07T00:00", "2026-10-31T00:00", "2026-03-28T00:00", "2026-04-04T00:00"]),
    )
    def test_default_keys_are_distinct_and_read_back(self, cron, zone, start):
        timetable = CronPartitionTimetable(cron, timezone=zone)
        ticks = list(timetable.ticks(utc(start), utc(start) + timedelta(days=35)))
        assert len({tick.partition_key for tick in ticks}) == len(ticks)
        assert all(timetable.resolve(tick.partition_key) == tick.partition_date for tick in ticks)

    @given(
        st.sampled_from(["0 * * * *", "30 1 * * *", "30 2 * * *", "*/30 * * * *"]),
        st.integers(-3, 3),
        st.integers(0, 3000),
        st.integers(0, 3000),
    )
    def test_a_span_is_the_sum_of_its_parts(self, cron, offset, ab, bc):
        timetable = CronPartitionTimetable(cron, timezone=NEW_YORK, run_offset=offset)
        a = utc("2026-10-31T00:00")
        b, c = a + timedelta(minutes=ab), a + timedelta(minutes=ab + bc)
        whole = list(timetable.ticks(a, c))
        assert whole == list(timetable.ticks(a, b)) + list(timetable.ticks(b, c))
        assert all(earlier.at < later.at for earlier, later in pairwise(whole))

    @given(st.integers(-4, 4), st.integers(0, 20000))
    def test_next_and_previous_are_those_of_the_span(self, offset, minutes):
        timetable = CronPartitionTimetable("15 */3 * * *", timezone="Europe/Berlin", run_offset=offset)
        at = utc("2026-10-20T00:00") + timedelta(minutes=minutes)
        day = timedelta(days=1)
        assert timetable.next_tick(at) == next(timetable.ticks(at, at + day))
        before = list(timetable.ticks(at - day, at - timedelta(microseconds=1)))
        assert timetable.previous_tick(at) == before[-1]


class TestIntervals:
    @pytest.mark.parametrize(
        ("cron", "at", "begin", "end"),
        [
            ("0 2 * * *", "2024-03-10T07:30", "2024-03-09T07:00", "2024-03-10T07:00"),
            ("0 8 * * 1-5", "2018-11-04T10:00", "2018-11-01T12:00", "2018-11-02T12:00"),
        ],
    )
    def test_tc10_the_interval_of_a_manual_run_is_the_one_that_just_ended(self, cron, at, begin, end):
        timetable = CronPartitionTimetable(cron, timezone=NEW_YORK)
        ended = timetable.previous_tick(utc(at))
        begun = timetable.previous_tick(ended.at)
        assert (begun.at, ended.at) == (utc(begin), utc(end))

    def test_tc09_the_local_day_of_a_tick_late_in_the_utc_day(self):
        seoul = CronPartitionTimetable("0 8 * * *", timezone="Asia/Seoul", key_format="%Y-%m-%d")
        found = keys(seoul, "2026-08-06T00:00", "2026-08-07T23:00")
        assert found == ["2026-08-07", "2026-08-08"]

    def test_tc42_ticks_missed_while_nothing_ran(self):
        daily = CronTriggerTimetable("@daily")
        missed = list(daily.ticks(utc("2026-03-10T23:00"), utc("2026-03-13T08:00")))
        assert [tick.at.day for tick in missed] == [11, 12, 13]

    def test_tc12_the_same_range_a_second_time_is_the_same(self):
        hourly = CronPartitionTimetable("0 * * * *", timezone=NEW_YORK)
        once, again = (list(hourly.ticks(utc("2026-11-01T00:00"), utc("2026-11-02T12:00"))) for _ in range(2))
        assert once == again
        assert len({tick.at for tick in once}) == len(once)


class TestResolve:
    HOURLY = CronPartitionTimetable("0 * * * *", timezone=NEW_YORK)

    def test_tc04_a_bare_repeated_time_is_ambiguous_and_both_keys_are_offered(self):
        with pytest.raises(InvalidKey, match=r"ambiguous.*01:00:00-0400 or 2026-11-01T01:00:00-0500"):
            self.HOURLY.resolve("2026-11-01T01:00:00")

    def test_tc04_a_skipped_time_does_not_exist(self):
        with pytest.raises(InvalidKey, match="does not exist"):
            self.HOURLY.resolve("2026-03-08T02:00:00")

    def test_tc03_a_day_that_was_left_out_does_not_exist(self):
        daily = CronPartitionTimetable("@daily", timezone="Pacific/Apia", key_format="%Y-%m-%d")
        assert daily.resolve("2011-12-29") == utc("2011-12-29T10:00")
        with pytest.raises(InvalidKey, match="does not exist"):
            daily.resolve("2011-12-30")

    @pytest.mark.parametrize("key", ["2024-2-9", "2024-02-30", "bad", "", "2024-02-29 ", None, 5])
    def test_refuses_any_other_spelling(self, key):
        with pytest.raises(InvalidKey):
            CronPartitionTimetable("@daily", key_format="%Y-%m-%d").resolve(key)


class TestFirstTick:
    """Where a Dag begins that was first seen at `now`, 2026-03-10T08:00 unless said otherwise."""

    NOW = utc("2026-03-10T08:00")
    DAILY = CronTriggerTimetable("@daily")

    def first(self, timetable=None, *, now=NOW, **given):
        tick = (timetable or self.DAILY).first_tick(now=now, **given)
        return tick.at if tick else None

    @pytest.mark.parametrize(
        ("catchup", "first"),
        [("all", "2026-03-01T00:00"), ("last", "2026-03-10T00:00"), ("none", "2026-03-11T00:00")],
    )
    def test_makes_up_what_it_is_asked_to(self, catchup, first):
        assert self.first(start=utc("2026-03-01T00:00"), catchup=catchup) == utc(first)

    @pytest.mark.parametrize("catchup", ["all", "last", "none"])
    def test_waits_for_a_start_in_the_future(self, catchup):
        assert self.first(start=utc("2026-04-01T12:00"), catchup=catchup) == utc("2026-04-02T00:00")

    def test_tc42_made_at_eight_it_does_not_fire_for_midnight(self):
        assert self.first(start=None) == utc("2026-03-11T00:00")

    def test_takes_the_tick_just_past_within_a_tenth_of_the_cadence(self):
        assert self.first(start=None, now=utc("2026-03-10T02:00")) == utc("2026-03-10T00:00")

    def test_or_within_five_minutes(self):
        hourly, now = CronTriggerTimetable("*/10 * * * *"), utc("2026-03-10T08:04")
        assert self.first(hourly, start=None, now=now) == utc("2026-03-10T08:00")
        assert self.first(hourly, start=None, now=now + timedelta(minutes=2)) == utc("2026-03-10T08:10")

    def test_or_always_when_asked(self):
        eager = CronTriggerTimetable("@daily", run_immediately=True)
        assert self.first(eager, start=None) == utc("2026-03-10T00:00")

    @pytest.mark.parametrize(("hours", "first"), [(9, "2026-03-10T00:00"), (7, "2026-03-11T00:00")])
    def test_or_within_a_given_time(self, hours, first):
        patient = CronTriggerTimetable("@daily", run_immediately=timedelta(hours=hours))
        assert self.first(patient, start=None) == utc(first)

    def test_a_tick_at_this_very_moment_counts(self):
        midnight = utc("2026-03-10T00:00")
        assert self.first(start=None, now=midnight) == midnight
        assert self.first(start=utc("2026-03-01T00:00"), now=midnight, catchup="last") == midnight
