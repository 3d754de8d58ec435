"""Counting and indexing wall times, against listing them."""

from datetime import datetime, timedelta
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.cron import parse
from scheduling.algebra.walls import by_day, count, nth, walls

CRONS = st.sampled_from(["0 */6 * * *", "30 2 * * 1-5", "0 0 L * *", "*/20 9-11 1,15 * *", "0 0 29 2 *"])
STARTS = st.datetimes(datetime(2019, 1, 1), datetime(2025, 1, 1))
LENGTHS = st.timedeltas(timedelta(0), timedelta(days=500))


class TestCount:
    @given(CRONS, STARTS, LENGTHS)
    def test_is_how_many_there_are(self, cron, start, length):
        pattern = parse(cron)
        assert count(pattern, start, start + length) == len(list(walls(pattern, start, start + length)))

    def test_of_an_empty_or_reversed_span_is_zero(self):
        at = datetime(2024, 1, 1)
        assert count(parse("* * * * *"), at, at) == 0
        assert count(parse("* * * * *"), at, at - timedelta(days=400)) == 0

    def test_of_a_century_of_minutes_needs_no_list(self):
        assert count(parse("* * * * *"), datetime(1950, 1, 1), datetime(2050, 1, 1)) == 36525 * 1440


class TestNth:
    @given(CRONS, STARTS, LENGTHS, st.integers(0, 2000))
    def test_is_the_one_that_so_many_precede(self, cron, start, length, number):
        pattern = parse(cron)
        listed = next(islice(walls(pattern, start, start + length), number, None), None)
        assert nth(pattern, start, start + length, number) == listed


class TestByDay:
    def test_gives_each_day_its_times(self):
        span = datetime(2024, 2, 28, 13), datetime(2024, 3, 1, 1)
        hours = [
            (midnight.day, [time.seconds // 3600 for time in times]) for midnight, times in quarters(span)
        ]
        assert hours == [(28, [18]), (29, [0, 6, 12, 18]), (1, [0])]

    @given(CRONS, STARTS, LENGTHS)
    def test_backwards_is_the_reverse(self, cron, start, length):
        pattern = parse(cron)
        back = [
            midnight + time
            for midnight, times in by_day(pattern, start, start + length, -1)
            for time in times
        ]
        assert back == list(walls(pattern, start, start + length))[::-1]


def quarters(span):
    return by_day(parse("0 */6 * * *"), *span)
