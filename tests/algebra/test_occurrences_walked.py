"""Cron ticks against a person who looks at the clock every minute."""

from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scheduling.algebra.cron import parse
from scheduling.algebra.occurrences import occurrences_of
from scheduling.algebra.transitions import changes
from scheduling.algebra.walls import walls
from tests.algebra.zones import alike
from tests.moments import utc

MINUTE = timedelta(minutes=1)


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
    @settings(max_examples=300)
    def test_a_span_is_the_sum_of_its_parts(self, cron, zone, a, ab, bc, policy):
        occurrences = occurrences_of(parse(cron), ZoneInfo(zone), **policy)
        b, c = a + ab, a + ab + bc
        whole = list(occurrences.between(a, c))
        assert whole == list(occurrences.between(a, b)) + list(occurrences.between(b, c))
        assert all(earlier < later for earlier, later in pairwise(whole))

    @given(CRONS, st.sampled_from(ZONES), MOMENTS, LENGTHS, POLICIES)
    @settings(max_examples=200)
    def test_backwards_is_the_reverse(self, cron, zone, start, length, policy):
        occurrences = occurrences_of(parse(cron), ZoneInfo(zone), **policy)
        forward = list(occurrences.between(start, start + length))
        assert list(occurrences.between_back(start, start + length)) == forward[::-1]

    @given(CRONS, st.sampled_from(ZONES), MOMENTS, LENGTHS, POLICIES)
    @example("30 2 * * *", "America/New_York", utc("2026-03-08T05:00"), 600 * MINUTE, {"gap": "shift"})
    @example("30 1 * * *", "America/New_York", utc("2026-11-01T04:00"), 600 * MINUTE, {"fold": "last"})
    @settings(max_examples=300)
    def test_are_what_a_walk_over_every_minute_finds(self, cron, zone, start, length, policy):
        occurrences = occurrences_of(parse(cron), ZoneInfo(zone), **policy)
        found = list(occurrences.between(start, start + length))
        assert found == walked(parse(cron), ZoneInfo(zone), start, start + length, **policy)

    @given(CRONS, st.sampled_from(ZONES), MOMENTS, POLICIES)
    @settings(max_examples=100)
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
    """Every minute and what clocks show then; and the minutes at which they leap ahead, over which walls."""
    shown = []
    while start < end:
        shown.append((start, start.astimezone(zone).replace(tzinfo=None, fold=0)))
        start += MINUTE
    leaps = [
        (at, [earlier + n * MINUTE for n in range(1, (later - earlier) // MINUTE)])
        for (_, earlier), (at, later) in pairwise(shown)
        if later - earlier > MINUTE
    ]
    return shown, leaps


def walked(cron, zone, start, end, *, gap="shift", fold="first"):
    """The ticks a person finds who looks at the clock every minute, with two days on either side."""
    day = timedelta(days=1)
    shown, leaps = looked_at(zone, start - 2 * day, end + 2 * day)
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
        dates = {wall.date() for _, wall in shown} if leaps else set()
        for at, skipped in leaps:
            if any(wall in wanted and wall.date() in dates for wall in skipped):
                due.add(at)
    if cron.times == tuple(timedelta(hours=hour) for hour in range(24)):
        due.update(at for at, skipped in leaps if begun_hour(skipped) in wanted)
    return sorted(at for at in due if start <= at < end)


def begun_hour(skipped):
    """The hour that clocks show after the leap, if its beginning was skipped."""
    hour = (skipped[-1] + MINUTE).replace(minute=0)
    return hour if hour in skipped else None


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

    @pytest.mark.parametrize("year", [1996, 2011, 2026])
    def test_ticks_of_a_year(self, year):
        for name in alike(year):
            zone = ZoneInfo(name)
            for change in changes(zone, year):
                start, end = change.at - timedelta(hours=30), change.at + timedelta(hours=30)
                for cron in ("30 * * * *", "*/20 1 * * *", "30 2 * * *", "0 0 * * *"):
                    found = list(occurrences_of(parse(cron), zone).between(start, end))
                    assert found == walked(parse(cron), zone, start, end), f"{cron} {name} {change.at}"


class TestCountAndNth:
    @given(CRONS, st.sampled_from(ZONES), MOMENTS, LENGTHS, POLICIES, st.integers(0, 3000))
    @settings(max_examples=200)
    def test_agree_with_the_list(self, cron, zone, start, length, policy, number):
        occurrences = occurrences_of(parse(cron), ZoneInfo(zone), **policy)
        listed = list(occurrences.between(start, start + length))
        assert occurrences.count(start, start + length) == len(listed)
        if number < len(listed):
            assert occurrences.nth(start, number) == listed[number]

    @given(st.sampled_from(ZONES), st.integers(0, 10_000_000))
    def test_are_inverse_over_decades(self, zone, number):
        every_minute = occurrences_of(parse("* * * * *"), ZoneInfo(zone))
        start = utc("2009-06-30T11:17")
        at = every_minute.nth(start, number)
        assert at is not None
        assert every_minute.count(start, at) == number
        assert every_minute.contains(at)
