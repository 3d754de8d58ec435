"""Cron ticks where clocks change; every row of expectations.md about them, by its number."""

from datetime import timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest

from scheduling.algebra.cron import parse
from scheduling.algebra.occurrences import occurrences_of
from tests.moments import utc


def ticks(cron, zone, after, count, **policy):
    """The first instants after `after`, as UTC text."""
    occurrences = occurrences_of(parse(cron), ZoneInfo(zone), **policy)
    found = occurrences.between(utc(after) + timedelta(microseconds=1), utc(after) + timedelta(days=4000))
    return [f"{at:%Y-%m-%dT%H:%M}" for at in islice(found, count)]


class TestMidnightThatDoesNotExist:
    def test_tc02_santiago(self):
        assert ticks("0 0 * * *", "America/Santiago", "2026-09-04T12:00", 4) == [
            "2026-09-05T04:00",
            "2026-09-06T04:00",
            "2026-09-07T03:00",
            "2026-09-08T03:00",
        ]

    @pytest.mark.parametrize(
        ("zone", "before", "start", "end"),
        [
            ("America/Santiago", "2026-09-05T12:00", "2026-09-06T04:00", "2026-09-07T03:00"),
            ("Asia/Beirut", "2026-03-28T12:00", "2026-03-28T22:00", "2026-03-29T21:00"),
            ("America/Havana", "2026-03-07T12:00", "2026-03-08T05:00", "2026-03-09T04:00"),
        ],
    )
    def test_tc02_the_day_starts_at_its_first_instant(self, zone, before, start, end):
        assert ticks("0 0 * * *", zone, before, 2) == [start, end]

    def test_tc03_a_day_left_out_has_no_tick(self):
        assert ticks("0 0 * * *", "Pacific/Apia", "2011-12-28T11:00", 3) == [
            "2011-12-29T10:00",
            "2011-12-30T10:00",
            "2011-12-31T10:00",
        ]
        assert ticks("0 8 * * *", "Pacific/Apia", "2011-12-28T20:00", 2) == [
            "2011-12-29T18:00",
            "2011-12-30T18:00",
        ]


class TestZonesWithMinutes:
    def test_tc06_kolkata(self):
        assert ticks("0 * * * *", "Asia/Kolkata", "2026-02-17T12:45", 3) == [
            "2026-02-17T13:30",
            "2026-02-17T14:30",
            "2026-02-17T15:30",
        ]

    def test_tc06_kathmandu(self):
        assert ticks("0 * * * *", "Asia/Kathmandu", "2026-02-17T12:45", 3) == [
            "2026-02-17T13:15",
            "2026-02-17T14:15",
            "2026-02-17T15:15",
        ]

    def test_tc09_seoul(self):
        assert ticks("0 8 * * *", "Asia/Seoul", "2026-08-06T00:00", 2) == [
            "2026-08-06T23:00",
            "2026-08-07T23:00",
        ]


class TestPreviousTick:
    @pytest.mark.parametrize(
        ("cron", "before", "previous"),
        [
            ("0 2 * * *", "2024-03-10T07:30", "2024-03-10T07:00"),
            ("0 1 * * *", "2024-11-03T05:30", "2024-11-03T05:00"),
            ("0 1 * * *", "2024-11-03T06:30", "2024-11-03T05:00"),
            ("0 8 * * 1-5", "2018-11-04T10:00", "2018-11-02T12:00"),
        ],
    )
    def test_tc10_new_york(self, cron, before, previous):
        assert occurrences_of(parse(cron), ZoneInfo("America/New_York")).before(utc(before)) == utc(previous)


class TestFixedTimes:
    @pytest.mark.parametrize(
        ("cron", "zone", "after", "found"),
        [
            (
                "0 1 * * *",
                "America/New_York",
                "2024-11-02T06:00",
                ["11-03T05:00", "11-04T06:00", "11-05T06:00"],
            ),
            ("30 2 * * *", "America/New_York", "2026-03-07T12:00", ["03-08T07:00", "03-09T06:30"]),
            ("30 2 * * *", "Europe/Ljubljana", "2026-10-24T12:00", ["10-25T00:30", "10-26T01:30"]),
            (
                "0 2 * * *",
                "America/New_York",
                "2024-03-08T08:00",
                ["03-09T07:00", "03-10T07:00", "03-11T06:00"],
            ),
            ("0 20 * * *", "Europe/Paris", "2022-10-29T22:00", ["10-30T19:00", "10-31T19:00", "11-01T19:00"]),
            ("0 8 * * 1-5", "America/New_York", "2018-11-04T10:00", ["11-05T13:00", "11-06T13:00"]),
            ("4 16 * * *", "America/New_York", "2025-03-08T21:04", ["03-09T20:04", "03-10T20:04"]),
            ("0 12 * * 0", "Europe/Berlin", "2022-03-24T11:00", ["03-27T10:00", "04-03T10:00"]),
        ],
    )
    def test_tc11_and_tc14(self, cron, zone, after, found):
        assert ticks(cron, zone, after, len(found)) == [f"{after[:4]}-{at}" for at in found]

    @pytest.mark.parametrize(
        ("fold", "found"),
        [
            ("first", ["2024-11-03T05:00", "2024-11-04T06:00"]),
            ("last", ["2024-11-03T06:00", "2024-11-04T06:00"]),
            ("both", ["2024-11-03T05:00", "2024-11-03T06:00"]),
        ],
    )
    def test_tc11_fold_policies(self, fold, found):
        assert ticks("0 1 * * *", "America/New_York", "2024-11-02T06:00", 2, fold=fold) == found

    @pytest.mark.parametrize("fold", ["first", "last"])
    def test_a_fold_is_seen_from_inside_either_pass(self, fold):
        """Asking from between the two passes must not invent or lose the tick."""
        occurrences = occurrences_of(parse("30 1 * * *"), ZoneInfo("America/New_York"), fold=fold)
        wanted = {"first": "2026-11-01T05:30", "last": "2026-11-01T06:30"}[fold]
        start = utc("2026-11-01T04:00")
        pieces = [start + n * timedelta(minutes=10) for n in range(25)]
        found = [at for a, b in pairwise(pieces) for at in occurrences.between(a, b)]
        assert found == [utc(wanted)]

    def test_tc11_gap_skip(self):
        assert ticks("30 2 * * *", "America/New_York", "2026-03-07T12:00", 2, gap="skip") == [
            "2026-03-09T06:30",
            "2026-03-10T06:30",
        ]

    def test_several_times_in_one_gap_are_one_tick(self):
        assert ticks("0,15,30 2,3 * * *", "America/New_York", "2026-03-08T06:00", 4) == [
            "2026-03-08T07:00",
            "2026-03-08T07:15",
            "2026-03-08T07:30",
            "2026-03-09T06:00",
        ]

    def test_midnight_that_comes_twice(self):
        """Havana 2026-11-01: 01:00 goes back to 00:00."""
        assert ticks("0 0 * * *", "America/Havana", "2026-10-31T12:00", 2) == [
            "2026-11-01T04:00",
            "2026-11-02T05:00",
        ]

    def test_clocks_that_go_back_over_midnight(self):
        """St. John's 2010-11-07 00:01 went back to 23:01 of the day before."""
        assert ticks("30 23 * * *", "America/St_Johns", "2010-11-06T12:00", 3) == [
            "2010-11-07T02:00",
            "2010-11-08T03:00",
            "2010-11-09T03:00",
        ]
        assert ticks("0 0 * * *", "America/St_Johns", "2010-11-06T12:00", 2) == [
            "2010-11-07T02:30",
            "2010-11-08T03:30",
        ]


class TestIntervals:
    @pytest.mark.parametrize(
        ("cron", "zone", "after", "found"),
        [
            ("0 * * * *", "US/Pacific", "2026-11-01T07:59", ["08:00", "09:00", "10:00", "11:00"]),
            ("30 * * * *", "Europe/Zurich", "2023-10-29T00:00", ["00:30", "01:30", "02:30", "03:30"]),
            (
                "*/15 * * * *",
                "Europe/London",
                "2025-10-26T00:45",
                ["01:00", "01:15", "01:30", "01:45", "02:00"],
            ),
            ("0 * * * *", "Europe/Berlin", "2026-03-28T23:30", ["00:00", "01:00", "02:00", "03:00"]),
        ],
    )
    def test_tc12(self, cron, zone, after, found):
        assert [at[-5:] for at in ticks(cron, zone, after, len(found))] == found

    def test_tc12_every_minute_of_a_25_hour_day(self):
        every_minute = occurrences_of(parse("* * * * *"), ZoneInfo("Europe/London"))
        day = list(every_minute.between(utc("2025-10-25T23:00"), utc("2025-10-27T00:00")))
        assert len(day) == len(set(day)) == 1500

    def test_no_extra_tick_right_after_a_gap(self):
        assert ticks("0 */2 * * *", "America/New_York", "2026-03-08T04:59", 3) == [
            "2026-03-08T05:00",
            "2026-03-08T08:00",
            "2026-03-08T10:00",
        ]

    def test_both_passes_of_a_half_hour(self):
        """Lord Howe 2026-04-05: 02:00 goes back to 01:30."""
        assert [at[-5:] for at in ticks("*/20 * * * *", "Australia/Lord_Howe", "2026-04-04T14:30", 4)] == [
            "14:40",
            "15:10",
            "15:30",
            "15:50",
        ]
