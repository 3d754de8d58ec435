"""Cron expressions: what is accepted, and which wall times are meant."""

from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice

import pytest
from croniter import CroniterBadDateError, croniter
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.algebra.cron import parse
from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.walls import by_day, walls

FAR = datetime(2060, 1, 1)


def first(text, after, count):
    """The first wall times after a moment, as text."""
    found = walls(parse(text), datetime.fromisoformat(after) + timedelta(microseconds=1), FAR)
    return [f"{wall:%Y-%m-%dT%H:%M}" for wall in islice(found, count)]


class TestParse:
    @pytest.mark.parametrize(
        ("preset", "fields"),
        [
            ("@hourly", "0 * * * *"),
            ("@daily", "0 0 * * *"),
            ("@midnight", "0 0 * * *"),
            ("@weekly", "0 0 * * 0"),
            ("@monthly", "0 0 1 * *"),
            ("@quarterly", "0 0 1 */3 *"),
            ("@yearly", "0 0 1 1 *"),
            ("@annually", "0 0 1 1 *"),
        ],
    )
    def test_reads_presets(self, preset, fields):
        assert first(preset, "2026-01-01", 30) == first(fields, "2026-01-01", 30)

    @pytest.mark.parametrize(
        "text",
        [
            "not a cron",
            "60 * * * *",
            "",
            "* * * *",
            "0 0 * * * * *",
            "@every 5m",
            "@once",
            "0 0 0 * *",
            "1 2 3 4 x",
        ],
    )
    def test_refuses_what_is_no_cron(self, text):
        with pytest.raises(InvalidDefinition, match="is not a cron expression"):
            parse(text)

    @pytest.mark.parametrize("text", ["0 0 30 2 *", "0 0 31 4,6,9,11 *"])
    def test_refuses_a_day_that_no_month_has(self, text):
        with pytest.raises(InvalidDefinition, match="never ticks"):
            parse(text)

    @pytest.mark.parametrize("text", ["H * * * *", "R/5 * * * *", "0 H(0-7) * * *"])
    def test_refuses_random_times(self, text):
        with pytest.raises(InvalidDefinition, match="at random"):
            parse(text)

    @pytest.mark.parametrize("value", [None, 5, ["0 0 * * *"]])
    def test_refuses_what_is_no_text(self, value):
        with pytest.raises(InvalidDefinition, match="write five fields"):
            parse(value)

    @pytest.mark.parametrize(
        ("text", "wild"),
        [
            ("0 * * * *", True),
            ("*/15 3 * * *", True),
            ("0 */2 * * *", True),
            ("0 0-23 * * *", True),
            ("30 2 * * *", False),
            ("0 0-4 * * *", False),
            ("0,30 9-17 * * 1-5", False),
            ("@daily", False),
        ],
    )
    def test_tells_intervals_from_fixed_times(self, text, wild):
        assert parse(text).wild is wild

    def test_keeps_what_was_written(self):
        assert parse("@daily").text == "@daily"
        assert parse("@daily") != parse("0 0 * * *")
        assert parse("0 0 * * *") == parse("0 0 * * *")

    @given(st.text(max_size=20))
    def test_never_fails_in_another_way(self, text):
        with suppress(InvalidDefinition):
            parse(text)

    @given(st.lists(st.sampled_from(list("0123456789*/-,#LW?HR ")), max_size=18).map("".join))
    @settings(max_examples=300)
    def test_never_fails_in_another_way_near_the_syntax(self, text):
        with suppress(InvalidDefinition):
            parse(text)


class TestWalls:
    def test_tc25_29_february(self):
        assert first("0 9 29 2 *", "2016-02-29T09:00", 2) == ["2020-02-29T09:00", "2024-02-29T09:00"]

    def test_tc25_a_day_or_a_weekday(self):
        sundays = ["2020-06-07T14:48", "2020-06-14T14:48", "2020-06-21T14:48", "2020-06-28T14:48"]
        assert first("48 14 31 6 0", "2020-06-01", 4) == sundays

    def test_tc25_the_last_day_of_the_month(self):
        last_days = ["2024-08-31T00:00", "2024-09-30T00:00", "2024-10-31T00:00", "2024-11-30T00:00"]
        assert first("0 0 31,L * *", "2024-08-01", 4) == last_days

    def test_tc25_day_zero_is_refused(self):
        with pytest.raises(InvalidDefinition):
            parse("0 0 0 * *")

    def test_the_second_monday(self):
        assert first("0 0 ? * 1#2", "2024-01-01", 2) == ["2024-01-08T00:00", "2024-02-12T00:00"]

    def test_the_last_friday(self):
        assert first("0 0 * * L5", "2024-02-01", 2) == ["2024-02-23T00:00", "2024-03-29T00:00"]

    def test_the_working_day_nearest_to_the_fifteenth(self):
        assert first("0 0 15W * *", "2024-06-01", 2) == ["2024-06-14T00:00", "2024-07-15T00:00"]

    def test_seconds_come_last(self):
        found = list(walls(parse("0 0 * * * */20"), datetime(2024, 1, 1), datetime(2024, 1, 2)))
        assert [wall.second for wall in found] == [0, 20, 40]

    def test_includes_the_start_and_not_the_end(self):
        day = walls(parse("0 * * * *"), datetime(2024, 1, 1), datetime(2024, 1, 1, 3))
        assert [wall.hour for wall in day] == [0, 1, 2]

    def test_backwards_is_the_reverse(self):
        span = datetime(2023, 11, 5, 1, 30), datetime(2024, 3, 5, 7, 15)
        cron = parse("*/45 */7 * * 1,3")
        back = [midnight + time for midnight, times in by_day(cron, *span, -1) for time in times]
        assert back == list(walls(cron, *span))[::-1]

    FIELDS = st.tuples(
        st.sampled_from(["*", "0", "59", "*/7", "10-50/15", "1,2,58", "0-59"]),
        st.sampled_from(["*", "0", "23", "*/5", "8-18", "3,4"]),
        st.sampled_from(["*", "?", "1", "31", "L", "29,30", "*/10", "1-7", "15W", "1W", "31W"]),
        st.sampled_from(["*", "2", "1,7", "jan-mar", "*/5", "DEC"]),
        st.sampled_from(["*", "?", "0", "7", "mon-fri", "sat,sun", "L5", "1#2", "3#5", "5-7"]),
    )

    @given(FIELDS, st.datetimes(datetime(1995, 1, 1), datetime(2035, 1, 1)))
    @settings(max_examples=400)
    def test_are_those_of_croniter_where_no_clock_changes(self, fields, after):
        text = " ".join(fields)
        try:
            oracle = croniter(text, after, ret_type=datetime, max_years_between_matches=45)
            wanted = [oracle.get_next() for _ in range(4)]
        except CroniterBadDateError:
            return
        found = walls(parse(text), after + timedelta(microseconds=1), after + timedelta(days=366 * 170))
        assert list(islice(found, 4)) == wanted
