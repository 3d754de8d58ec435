"""What holds of every partitions definition, whatever its cadence, zone and exclusions."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from scheduling.algebra.calendars import BusinessCalendar
from scheduling.algebra.choosing import select
from scheduling.algebra.cron import parse
from scheduling.algebra.cron_timetables import CronPartitionTimetable
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.errors import InvalidKey
from scheduling.algebra.occurrences import occurrences_of
from scheduling.algebra.partitions import StaticPartitions
from scheduling.algebra.selections import InvalidSelection
from scheduling.algebra.subsets import keys_of
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.algebra.time_shorthands import DailyPartitions, partitions_of
from tests.algebra.picking import text_of
from tests.algebra.zones import ZONES

CADENCES = ["hour", "day", "week", "month", "*/30 * * * *", "30 2 * * *", "0 5 * * 1-5", "0 0 1,15 * *"]
CRONS = {"hour": "0 * * * *", "day": "0 0 * * *", "week": "0 0 * * 1", "month": "0 0 1 * *"}
# Around the changes of clocks of a year.
STARTS = st.sampled_from(
    [
        datetime(2026, 3, 6),
        datetime(2026, 3, 27),
        datetime(2026, 4, 3),
        datetime(2026, 9, 4),
        datetime(2026, 10, 23),
    ]
).flatmap(lambda at: st.integers(0, 72).map(lambda hours: at + timedelta(hours=hours)))
HOLIDAYS = (date(2026, 3, 9), date(2026, 10, 26))
EXCLUSIONS = st.lists(
    st.sampled_from(["0 0 * * 6,0", "* 3-4 * * *", date(2026, 3, 10), BusinessCalendar(HOLIDAYS)]), max_size=2
)


@st.composite
def definitions(draw, exclusions=EXCLUSIONS):
    return TimePartitions(
        draw(st.sampled_from(CADENCES)),
        draw(STARTS),
        timezone=draw(st.sampled_from(ZONES)),
        exclusions=draw(exclusions),
        end_offset=draw(st.integers(-2, 2)),
    )


def later(definition, hours):
    return definition.start + timedelta(hours=hours)


class TestTime:
    @given(definitions(), st.integers(0, 600), st.integers(0, 600))
    def test_time_only_adds_keys(self, definition, hours, more):
        """What has a number keeps it: pages and backfills may remember numbers."""
        before = definition.keys(now=later(definition, hours))
        after = definition.keys(now=later(definition, hours + more))
        assert after[: len(before)] == before
        assert definition.count(later(definition, hours)) == len(before)

    @given(definitions(), st.integers(0, 400))
    def test_periods_follow_each_other_without_overlap(self, definition, hours):
        keys = definition.keys(now=later(definition, hours))
        periods = [definition.period(key) for key in keys]
        assert all(begin < end for begin, end in periods)
        assert all(end <= begin for (_, end), (begin, _) in pairwise(periods))
        if not definition.exclusions:
            assert all(end == begin for (_, end), (begin, _) in pairwise(periods))

    @given(definitions(), st.integers(0, 400))
    def test_without_an_offset_exactly_the_periods_that_have_ended_exist(self, definition, hours):
        now = later(definition, hours)
        plain = TimePartitions(
            definition.cadence,
            definition.start,
            timezone=definition.timezone,
            exclusions=definition.exclusions,
        )
        many = TimePartitions(
            definition.cadence,
            definition.start,
            timezone=definition.timezone,
            exclusions=definition.exclusions,
            end_offset=3,
        )
        ended = [key for key in many.keys(now=now) if many.period(key)[1] <= now]
        assert list(plain.keys(now=now)) == ended

    @given(definitions(exclusions=st.just([])), EXCLUSIONS, st.integers(0, 400))
    @example(TimePartitions("day", "2026-09-04", timezone="America/Santiago"), ["0 0 * * 6,0"], 100)
    @example(TimePartitions("30 2 * * *", "2026-03-06", timezone="America/New_York"), ["* 3-4 * * *"], 100)
    def test_exclusions_take_keys_away_and_leave_periods_as_they_are(self, whole, exclusions, hours):
        now = later(whole, hours)
        fewer = TimePartitions(
            whole.cadence,
            whole.start,
            timezone=whole.timezone,
            end_offset=whole.end_offset,
            exclusions=exclusions,
        )
        kept = [key for key in whole.keys(now=now) if not left_out(named(whole, key), exclusions)]
        assert list(fewer.keys(now=now)) == kept
        assert [fewer.period(key) for key in kept] == [whole.period(key) for key in kept]
        for key in set(whole.keys(now=now)) - set(kept):
            with pytest.raises(InvalidKey):
                fewer.index(key)

    @given(definitions(), st.integers(0, 300), st.integers(0, 300))
    def test_slices_are_those_of_the_whole(self, definition, start, length):
        now = later(definition, 700)
        keys = definition.keys(now=now)
        assert definition.keys(start, start + length, now) == keys[start : start + length]
        assert definition.first(now) == (keys[0] if keys else None)
        assert definition.last(now) == (keys[-1] if keys else None)


class TestTimetables:
    @given(
        st.sampled_from(
            ["0 * * * *", "*/20 * * * *", "30 2 * * *", "0 0-4 * * *", "15 6 * * 1-5", "@weekly"]
        ),
        st.sampled_from(ZONES),
        st.sampled_from(["", "%Y-%m-%d", "%Y-%m-%dT%H", "%Y-%m", "%G-W%V"]),
        STARTS,
        st.integers(0, 500),
    )
    @settings(max_examples=200)
    def test_the_partitions_of_a_timetable_are_the_keys_of_its_ticks(
        self, cron, zone, key_format, start, hours
    ):
        timetable = CronPartitionTimetable(cron, timezone=zone, key_format=key_format)
        begin = timetable.resolve(timetable.format.format(start.replace(tzinfo=UTC), timetable.zone))
        now = start.replace(tzinfo=UTC) + timedelta(hours=hours)
        ticks = list(timetable.ticks(begin - timedelta(microseconds=1), now))
        assume(ticks)
        definition = partitions_of(timetable, begin)
        assert set(definition.keys(now=now)) >= {tick.partition_key for tick in ticks}
        whole = partitions_of(timetable, datetime(2025, 1, 1, tzinfo=UTC))
        named = dict.fromkeys(tick.partition_key for tick in ticks)
        assert [definition.partition_date(key) for key in named] == [
            whole.partition_date(key) for key in named
        ]


WORKING_DAYS = DailyPartitions("2026-03-01", "2026-06-01", exclusions=[BusinessCalendar()])
ALL_DAYS = WORKING_DAYS.keys()


class TestSelections:
    DAYS = WORKING_DAYS
    BOTH = MultiPartitions({"region": StaticPartitions(["us", "eu", "ap"]), "day": DAYS})
    DATES = st.dates(date(2026, 2, 20), date(2026, 6, 10))

    @given(DATES, DATES)
    def test_a_range_of_days_is_what_lies_between_them(self, first, last):
        wanted = [key for key in ALL_DAYS if first.isoformat() <= key <= last.isoformat()]
        try:
            found = list(keys_of(self.DAYS, select(f"[{first}...{last}]", self.DAYS)))
        except InvalidSelection:
            found = []
        assert found == wanted

    @given(st.sets(st.sampled_from(["us", "eu", "ap"]), min_size=1), DATES)
    def test_a_rectangle_is_every_key_of_its_sides(self, regions, first):
        wanted = {
            self.BOTH.key_of([region, day]) for region in regions for day in ALL_DAYS if day >= str(first)
        }
        assume(wanted)
        text = ", ".join(f"{region}|[{first}...]" for region in sorted(regions))
        assert set(keys_of(self.BOTH, select(text, self.BOTH))) == wanted

    @given(st.sets(st.integers(0, 60), min_size=1))
    def test_what_is_written_is_read_back(self, numbers):
        subset = select(", ".join(self.DAYS.key_at(number) for number in sorted(numbers)), self.DAYS)
        assert set(subset) == numbers
        assert select(text_of(self.DAYS, subset), self.DAYS) == subset


def named(whole, key):
    """The wall time at which the period is to start: clocks that skip it make it start later."""
    shown = whole.period(key)[0].astimezone(whole.zone).replace(tzinfo=None)
    return max(at for at in wall_times(CRONS.get(whole.cadence, whole.cadence), shown) if at <= shown)


def left_out(shown, exclusions):
    """Whether a period that starts then is named by an exclusion, found the slow way."""
    for each in exclusions:
        if isinstance(each, str) and shown in wall_times(each, shown):
            return True
        if isinstance(each, BusinessCalendar) and not each.is_business_day(shown):
            return True
        if isinstance(each, date) and each == shown.date():
            return True
    return False


def wall_times(cron, around):
    """The wall times of a cron on one day, as if clocks never changed."""
    midnight = datetime(around.year, around.month, around.day, tzinfo=UTC)
    found = occurrences_of(parse(cron), ZoneInfo("UTC")).between(midnight, midnight + timedelta(days=1))
    return {at.replace(tzinfo=None) for at in found}
