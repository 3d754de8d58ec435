"""Formats of keys: what they write they read, and nothing else."""

import os
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.errors import InvalidDefinition, InvalidKey
from scheduling.algebra.keys import KeyFormat
from scheduling.algebra.periods import Grain, start_of, zone

NEW_YORK, SANTIAGO, APIA = zone("America/New_York"), zone("America/Santiago"), zone("Pacific/Apia")
UTC_ZONE = zone("UTC")

MOMENT = datetime(2026, 3, 10, 9, 37, 51, tzinfo=UTC)
WRITTEN = [
    ("%Y-%m-%dT%H:%M:%S", Grain.SECOND, "2026-03-10T09:37:51"),
    ("%Y-%m-%dT%H:%M", Grain.MINUTE, "2026-03-10T09:37"),
    ("%Y-%m-%dT%H", Grain.HOUR, "2026-03-10T09"),
    ("%Y-%m-%d", Grain.DAY, "2026-03-10"),
    ("%Y-%m-%d (W%V)", Grain.DAY, "2026-03-10 (W11)"),
    ("%Y%m%d%H%M", Grain.MINUTE, "202603100937"),
    ("%d.%m.%Y", Grain.DAY, "10.03.2026"),
    ("%d/%m/%Y %H:%M", Grain.MINUTE, "10/03/2026 09:37"),
    ("%d/%m/%Y %I %p", Grain.HOUR, "10/03/2026 09 AM"),
    ("%b %d %Y", Grain.DAY, "Mar 10 2026"),
    ("%A, %d %B %Y", Grain.DAY, "Tuesday, 10 March 2026"),
    ("%a %j-%Y", Grain.DAY, "Tue 069-2026"),
    ("%y%m%d", Grain.DAY, "260310"),
    ("%Y-W%W-%w", Grain.DAY, "2026-W10-2"),
    ("%Y-U%U-%u", Grain.DAY, "2026-U10-2"),
    ("%G-W%V-%u", Grain.DAY, "2026-W11-2"),
    ("%G-W%V", Grain.WEEK, "2026-W11"),
    ("%Y-%m", Grain.MONTH, "2026-03"),
    ("%B %Y", Grain.MONTH, "March 2026"),
    ("%Y-Q{quarter}", Grain.QUARTER, "2026-Q1"),
    ("%Y", Grain.YEAR, "2026"),
    ("FY%y", Grain.YEAR, "FY26"),
    ("100%% {{%Y}}", Grain.YEAR, "100% {2026}"),
    ("%Y-%m-%dT%H:%M%z", Grain.MINUTE, "2026-03-10T09:37+0000"),
]
REFUSED = [
    *("%Y-W%V", "%m-%d", "%d", "%H", "%A", "%G", "%V", "{quarter}", "literal", "", "%Y-%d", "%Y %M"),
    *("%Y-%m %H", "%Y-%m-%d %M", "%Y-%m-%d %I", "%Y-%m-%d %p", "%G-W%V %Y", "%Y-W%W", "%z"),
    *("%", "%Q", "%c", "%Z", "{x}", "{}", "%Y-Q{quarter", "%Y-Q{quarter}}", "%Y %Y", "{quarter}{quarter} %Y"),
]
FORMATS = [text for text, _, _ in WRITTEN]


class TestAFormat:
    @pytest.mark.parametrize(("text", "grain", "key"), WRITTEN)
    def test_writes_and_reads_one_form(self, text, grain, key):
        form = KeyFormat(text)
        assert form.grain is grain
        assert form.format(MOMENT, UTC_ZONE) == key
        assert form.parse(key, UTC_ZONE) == start_of(grain, MOMENT, UTC_ZONE)

    @pytest.mark.parametrize("text", REFUSED)
    def test_that_cannot_be_read_back_is_refused_when_defined(self, text):
        with pytest.raises(InvalidDefinition, match="key format"):
            KeyFormat(text)

    @pytest.mark.parametrize("text", [None, 5, ["%Y"], b"%Y"])
    def test_is_text(self, text):
        with pytest.raises(InvalidDefinition, match="a key format is text"):
            KeyFormat(text)

    def test_is_one_value(self):
        assert KeyFormat("%Y-%m") == KeyFormat("%Y-%m")
        assert len({KeyFormat("%Y-%m"), KeyFormat("%Y-%m"), KeyFormat("%Y")}) == 2

    def test_gives_an_example_of_itself(self):
        assert KeyFormat("%Y-Q{quarter}").example == "2026-Q1"

    @given(st.sampled_from(FORMATS), st.datetimes(datetime(1970, 1, 1), datetime(2067, 1, 1)))
    def test_reads_every_key_it_writes(self, text, moment):
        form = KeyFormat(text)
        instant = moment.replace(tzinfo=UTC)
        key = form.format(instant, UTC_ZONE)
        assert form.parse(key, UTC_ZONE) == start_of(form.grain, instant, UTC_ZONE)
        assert form.format(form.parse(key, UTC_ZONE), UTC_ZONE) == key

    @given(
        st.sampled_from(["%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H%z", "%Y-%m-%d%z"]),
        st.datetimes(datetime(1990, 1, 1), datetime(2036, 1, 1)),
        st.sampled_from(["America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns"]),
    )
    def test_with_an_offset_reads_every_key_it_writes_anywhere(self, text, moment, name):
        form, found = KeyFormat(text), zone(name)
        instant = moment.replace(tzinfo=UTC)
        key = form.format(instant, found)
        assert form.format(form.parse(key, found), found) == key

    @given(st.sampled_from(FORMATS), st.text(max_size=24))
    def test_reads_nothing_but_what_it_writes(self, text, key):
        form = KeyFormat(text)
        try:
            instant = form.parse(key, UTC_ZONE)
        except InvalidKey:
            return
        assert form.format(instant, UTC_ZONE) == key


class TestASloppyKey:
    @pytest.mark.parametrize(
        ("text", "key"),
        [
            ("%Y-%m-%d", "2024-3-1"),
            ("%Y-%m-%d", "２０２４-03-01"),
            ("%Y-%m-%d", " 2024-03-01"),
            ("%Y-%m-%d", "2024-03-01\n"),
            ("%Y-%m-%d", "2024-02-30"),
            ("%Y-%m-%d", "0000-01-01"),
            ("%Y-%m-%d", "2024-03-01T00"),
            ("%Y-%m-%dT%H:%M:%S", "2024-03-01t00:00:00"),
            ("%Y-%m-%dT%H:%M:%S", "2024-03-01 00:00:00"),
            ("%Y-%m-%dT%H:%M:%S", "2024-03-01T24:00:00"),
            ("%Y-%m-%dT%H:%M:%S", "2024-03-01T00:00:60"),
            ("%Y-%m-%dT%H:%M:%S", "2024-03-01T00:00:00Z"),
            ("%Y-%m-%dT%H:%M:%S", "2024-03-01T00:00"),
            ("%Y-%m-%dT%H:%M:%S", "2024-W10-5T00:00:00"),
            ("%Y-%m-%dT%H:%M:%S", "20240301T00:00:00"),
            ("%Y-%m-%dT%H", "2024-03-01T00:00"),
            ("%Y-%m-%dT%H", "2024-03-01T00+01:00"),
            ("%Y%m%d", "2024111"),
            ("%b %d %Y", "feb 29 2024"),
            ("%Y-%m-%d (W%V)", "2024-03-11 (W99)"),
            ("%Y-%m-%d (W%V)", "2024-03-11 (W10)"),
            ("%G-W%V", "2024-W53"),
            ("%G-W%V-%u", "2021-W53-1"),
            ("%j %Y", "366 2023"),
            ("%j %Y", "000 2023"),
            ("%Y-W%W-%w", "2024-W00-0"),
            ("%Y-Q{quarter}", "2026-Q5"),
            ("%Y-Q{quarter}", "2026-q1"),
            ("%Y", "26"),
        ],
    )
    def test_is_refused(self, text, key):
        with pytest.raises(InvalidKey):
            KeyFormat(text).parse(key, UTC_ZONE)

    @pytest.mark.parametrize("key", [None, 5, b"2024-03-01", ["2024-03-01"]])
    @pytest.mark.parametrize("text", ["%Y-%m-%d", "%Y-%m"])
    def test_may_be_no_text_at_all(self, text, key):
        with pytest.raises(InvalidKey):
            KeyFormat(text).parse(key, UTC_ZONE)

    def test_is_told_the_right_form(self):
        with pytest.raises(InvalidKey, match=r"of the form %Y-%m-%d, such as 2026-03-10"):
            KeyFormat("%Y-%m-%d").parse("10.03.2026", UTC_ZONE)


class TestATwoDigitYear:
    def test_names_a_hundred_years(self):
        form = KeyFormat("%y%m%d")
        assert form.parse("690101", UTC_ZONE) == datetime(1969, 1, 1, tzinfo=UTC)
        assert form.parse("681231", UTC_ZONE) == datetime(2068, 12, 31, tzinfo=UTC)

    @pytest.mark.parametrize("year", [1968, 2069])
    def test_names_no_others(self, year):
        with pytest.raises(InvalidKey, match="1969 to 2068"):
            KeyFormat("%y%m%d").format(datetime(year, 6, 1, tzinfo=UTC), UTC_ZONE)


class TestAnEarlyYear:
    def test_has_four_digits(self):
        assert KeyFormat("%Y-%m").format(datetime(7, 5, 1, tzinfo=UTC), UTC_ZONE) == "0007-05"
        assert KeyFormat("%Y-%m-%dT%H").format(datetime(7, 5, 1, tzinfo=UTC), UTC_ZONE) == "0007-05-01T00"

    def test_beyond_the_calendar_is_no_key(self):
        with pytest.raises(InvalidKey):
            KeyFormat("%Y-%m-%d").parse("0001-01-01", zone("Asia/Taipei"))


class TestAnIsoWeek:
    """TC-23."""

    @pytest.mark.parametrize(
        ("day", "monday", "label"),
        [
            ("2024-12-30", "2024-12-30", "2025-W01"),
            ("2026-01-01", "2025-12-29", "2026-W01"),
            ("2026-12-31", "2026-12-28", "2026-W53"),
            ("2027-01-01", "2026-12-28", "2026-W53"),
            ("2027-01-04", "2027-01-04", "2027-W01"),
        ],
    )
    def test_is_named_by_the_year_of_its_thursday(self, day, monday, label):
        form = KeyFormat("%G-W%V")
        assert form.format(datetime.fromisoformat(f"{day}T12:00:00+00:00"), UTC_ZONE) == label
        assert form.parse(label, UTC_ZONE) == datetime.fromisoformat(f"{monday}T00:00:00+00:00")


class TestRead:
    """Reading a key as a wall time, as mappers do."""

    @pytest.mark.parametrize("offset", ["+0000", "+00:00", "Z", "-0000"])
    def test_takes_an_offset_in_any_spelling(self, offset):
        wall = KeyFormat("%Y-%m-%dT%H:%M:%S%z").read(f"2024-11-03T06:30:00{offset}", NEW_YORK)
        assert wall == datetime(2024, 11, 3, 1, 30)
        assert wall.fold == 1

    def test_takes_odd_offsets(self):
        form = KeyFormat("%Y-%m-%dT%H:%M%z")
        assert form.read("2024-01-01T00:00+05:45", UTC_ZONE) == datetime(2023, 12, 31, 18, 15)
        assert form.read("2024-01-01T00:00-0456", UTC_ZONE) == datetime(2024, 1, 1, 4, 56)

    @pytest.mark.parametrize("offset", ["+2400", "+0060", "+5", "", "UTC"])
    def test_refuses_what_is_no_offset(self, offset):
        with pytest.raises(InvalidKey):
            KeyFormat("%Y-%m-%dT%H:%M%z").read(f"2024-01-01T00:00{offset}", UTC_ZONE)

    def test_keeps_a_time_that_clocks_skip(self):
        assert KeyFormat("%Y-%m-%dT%H:%M").read("2026-03-08T02:30", NEW_YORK) == datetime(2026, 3, 8, 2, 30)


def test_names_of_months_do_not_depend_on_the_locale(monkeypatch):
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert KeyFormat("%B %Y").format(MOMENT, UTC_ZONE) == "March 2026"


def test_nothing_depends_on_the_zone_of_the_machine(monkeypatch):
    before = os.environ.get("TZ")
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        assert KeyFormat("%Y-%m-%dT%H").parse("2026-03-10T09", NEW_YORK) == datetime(
            2026, 3, 10, 13, tzinfo=UTC
        )
    finally:
        monkeypatch.undo()
        assert os.environ.get("TZ") == before
        time.tzset()
