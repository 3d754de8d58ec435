"""Cron ticks where clocks change; every row of expectations.md about them, by its number."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice, pairwise
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scheduling.algebra.cron import parse
from scheduling.algebra.occurrences import occurrences_of
from scheduling.algebra.transitions import changes
from scheduling.algebra.walls import walls

MINUTE = timedelta(minutes=1)


def utc(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


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


ZONES = [
    "UTC",
    "America/New_York",
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "America/Havana",
    "Africa/Cairo",
    "America/Santiago",
    "Pacific/Apia",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Asia/Kathmandu",
]
MINUTES = st.sampled_from(["*", "0", "30", "*/20", "*/45", "5,35", "59"])
HOURS = st.sampled_from(["*", "0", "1", "2", "3", "*/2", "*/6", "0-4", "1,2", "23"])
CRONS = st.builds(lambda minute, hour: f"{minute} {hour} * * *", MINUTES, HOURS)
# Around changes of clocks, where there is something to get wrong, rather than evenly over the years.
MOMENTS = st.sampled_from(
    [
        utc(text)
        for text in (
            "2026-03-08T05:00",
            "2026-11-01T04:00",
            "2026-03-29T00:00",
            "2026-10-25T00:00",
            "2026-04-04T14:00",
            "2026-10-03T14:00",
            "2026-09-06T03:00",
            "2026-04-05T02:00",
            "2011-12-29T12:00",
            "2018-02-18T01:00",
            "2018-11-04T02:00",
            "2010-11-07T01:00",
            "2026-04-23T21:00",
            "2026-10-29T20:00",
        )
    ]
).flatmap(lambda at: st.integers(-600, 600).map(lambda minutes: at + minutes * MINUTE))
LENGTHS = st.integers(0, 3000).map(lambda minutes: minutes * MINUTE)
POLICIES = st.fixed_dictionaries(
    {"gap": st.sampled_from(["shift", "skip"]), "fold": st.sampled_from(["first", "last", "both"])}
)


class TestProperties:
    @given(CRONS, st.sampled_from(ZONES), MOMENTS, LENGTHS, LENGTHS, POLICIES)
    @settings(max_examples=300, deadline=None)
    def test_a_span_is_the_sum_of_its_parts(self, cron, zone, a, ab, bc, policy):
        occurrences = occurrences_of(parse(cron), ZoneInfo(zone), **policy)
        b, c = a + ab, a + ab + bc
        whole = list(occurrences.between(a, c))
        assert whole == list(occurrences.between(a, b)) + list(occurrences.between(b, c))
        assert all(earlier < later for earlier, later in pairwise(whole))

    @given(CRONS, st.sampled_from(ZONES), MOMENTS, LENGTHS, POLICIES)
    @settings(max_examples=200, deadline=None)
    def test_backwards_is_the_reverse(self, cron, zone, start, length, policy):
        occurrences = occurrences_of(parse(cron), ZoneInfo(zone), **policy)
        forward = list(occurrences.between(start, start + length))
        assert list(occurrences.between_back(start, start + length)) == forward[::-1]

    @given(CRONS, st.sampled_from(ZONES), MOMENTS, LENGTHS, POLICIES)
    @example("30 2 * * *", "America/New_York", utc("2026-03-08T05:00"), 600 * MINUTE, {"gap": "shift"})
    @example("30 1 * * *", "America/New_York", utc("2026-11-01T04:00"), 600 * MINUTE, {"fold": "last"})
    @settings(max_examples=300, deadline=None)
    def test_are_what_a_walk_over_every_minute_finds(self, cron, zone, start, length, policy):
        occurrences = occurrences_of(parse(cron), ZoneInfo(zone), **policy)
        found = list(occurrences.between(start, start + length))
        assert found == walked(parse(cron), ZoneInfo(zone), start, start + length, **policy)

    @given(CRONS, st.sampled_from(ZONES), MOMENTS, POLICIES)
    @settings(max_examples=100, deadline=None)
    def test_after_and_before_are_neighbours(self, cron, zone, moment, policy):
        occurrences = occurrences_of(parse(cron), ZoneInfo(zone), **policy)
        following = occurrences.after(moment)
        assert following is not None
        assert following > moment
        assert occurrences.contains(following)
        previous = occurrences.before(following)
        assert previous is not None
        assert previous <= moment


@lru_cache(maxsize=2)
def looked_at(zone, start, end):
    """Every minute and what clocks show then."""
    shown = []
    while start < end:
        shown.append((start, start.astimezone(zone).replace(tzinfo=None, fold=0)))
        start += MINUTE
    return shown


def walked(cron, zone, start, end, *, gap="shift", fold="first"):
    """The ticks a person finds who looks at the clock every minute, with two days on either side."""
    day = timedelta(days=1)
    shown = looked_at(zone, start - 2 * day, end + 2 * day)
    wanted = set(walls(cron, shown[0][1] - 2 * day, shown[-1][1] + 2 * day))
    due = set()
    by_wall: dict[datetime, list[datetime]] = {}
    for at, wall in shown:
        if wall in wanted:
            by_wall.setdefault(wall, []).append(at)
    for instants in by_wall.values():
        passes = (
            instants if cron.wild or fold == "both" else [instants[0] if fold == "first" else instants[-1]]
        )
        due.update(passes)
    if gap == "shift" and not cron.wild:
        dates = {wall.date() for _, wall in shown}
        for (_, earlier), (at, later) in pairwise(shown):
            skipped = (earlier + n * MINUTE for n in range(1, int((later - earlier) / MINUTE)))
            if any(wall in wanted and wall.date() in dates for wall in skipped):
                due.add(at)
    return sorted(at for at in due if start <= at < end)


TRANSITIONS = {
    "New York, spring": ("America/New_York", "2026-03-08T07:00"),
    "New York, autumn": ("America/New_York", "2026-11-01T06:00"),
    "Berlin, spring": ("Europe/Berlin", "2026-03-29T01:00"),
    "Berlin, autumn": ("Europe/Berlin", "2026-10-25T01:00"),
    "Lord Howe, spring": ("Australia/Lord_Howe", "2026-10-03T15:30"),
    "Lord Howe, autumn": ("Australia/Lord_Howe", "2026-04-04T15:00"),
    "Havana, spring": ("America/Havana", "2026-03-08T05:00"),
    "Havana, autumn": ("America/Havana", "2026-11-01T05:00"),
    "Cairo, spring": ("Africa/Cairo", "2026-04-23T22:00"),
    "Cairo, autumn": ("Africa/Cairo", "2026-10-29T21:00"),
    "Santiago, spring": ("America/Santiago", "2026-09-06T04:00"),
    "Apia, the day left out": ("Pacific/Apia", "2011-12-30T10:00"),
    "Sao Paulo, the last autumn": ("America/Sao_Paulo", "2019-02-17T02:00"),
    "Kathmandu, where nothing happens": ("Asia/Kathmandu", "2026-03-08T07:00"),
}
EXPRESSIONS = [
    "* * * * *",
    "*/15 * * * *",
    "*/20 * * * *",
    "*/45 * * * *",
    "0 * * * *",
    "30 * * * *",
    "15,45 * * * *",
    "0 */2 * * *",
    "0 */3 * * *",
    "*/30 1 * * *",
    "*/10 2 * * *",
    "0 0 * * *",
    "30 0 * * *",
    "30 1 * * *",
    "0 2 * * *",
    "30 2 * * *",
    "0 0-4 * * *",
    "15,45 1,2 * * *",
    "59 23 * * *",
    "0 12 * * *",
]


class TestTable:
    """Fourteen changes of clocks and twenty expressions, in all policies, against a look at every minute."""

    @pytest.mark.parametrize("place", TRANSITIONS)
    def test_every_expression(self, place):
        name, at = TRANSITIONS[place]
        zone, change = ZoneInfo(name), utc(at)
        start, end = change - timedelta(hours=27), change + timedelta(hours=27)
        for expression in EXPRESSIONS:
            cron = parse(expression)
            for policy in ({}, {"gap": "skip"}, {"fold": "last"}, {"fold": "both"}):
                found = list(occurrences_of(cron, zone, **policy).between(start, end))
                assert found == walked(cron, zone, start, end, **policy), f"{expression} {policy}"

    @pytest.mark.parametrize(
        "place", [name for name in TRANSITIONS if name.startswith(("Apia", "Kathmandu"))]
    )
    def test_really_are_where_they_are_said_to_be(self, place):
        name, at = TRANSITIONS[place]
        found = [change.at for change in changes(ZoneInfo(name), utc(at).year)]
        assert (utc(at) in found) is place.startswith("Apia")

    def test_seconds_go_through_a_fold_too(self):
        halves = occurrences_of(parse("* * * * * */30"), ZoneInfo("America/New_York"))
        assert halves.count(utc("2026-11-01T04:00"), utc("2026-11-02T05:00")) == 25 * 120


@pytest.mark.slow
class TestEveryZone:
    """All zones there are, against the same walk; sampled years with unusual rules and one of plain ones."""

    @pytest.mark.parametrize("cron", ["30 * * * *", "*/20 1 * * *", "30 2 * * *", "0 0 * * *"])
    @pytest.mark.parametrize("year", [1996, 2011, 2026])
    def test_ticks_of_a_year(self, cron, year):
        for name in sorted(available_timezones()):
            zone = ZoneInfo(name)
            occurrences = occurrences_of(parse(cron), zone)
            for change in changes(zone, year):
                start, end = change.at - timedelta(hours=30), change.at + timedelta(hours=30)
                found = list(occurrences.between(start, end))
                assert found == walked(parse(cron), zone, start, end), f"{name} {change.at}"


class TestCountAndNth:
    @given(CRONS, st.sampled_from(ZONES), MOMENTS, LENGTHS, POLICIES, st.integers(0, 3000))
    @settings(max_examples=200, deadline=None)
    def test_agree_with_the_list(self, cron, zone, start, length, policy, number):
        occurrences = occurrences_of(parse(cron), ZoneInfo(zone), **policy)
        listed = list(occurrences.between(start, start + length))
        assert occurrences.count(start, start + length) == len(listed)
        if number < len(listed):
            assert occurrences.nth(start, number) == listed[number]

    @given(st.sampled_from(ZONES), st.integers(0, 10_000_000))
    @settings(deadline=None)
    def test_are_inverse_over_decades(self, zone, number):
        every_minute = occurrences_of(parse("* * * * *"), ZoneInfo(zone))
        start = utc("2009-06-30T11:17")
        at = every_minute.nth(start, number)
        assert at is not None
        assert every_minute.count(start, at) == number
        assert every_minute.contains(at)
