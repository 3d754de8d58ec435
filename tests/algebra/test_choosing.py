"""Which keys of a definition a typed selection means."""

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.calendars import BusinessCalendar
from scheduling.algebra.choosing import select, select_among
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.partitions import StaticPartitions
from scheduling.algebra.selections import InvalidSelection, quoted
from scheduling.algebra.subsets import keys_of
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.algebra.time_shorthands import (
    DailyPartitions,
    HourlyPartitions,
    MinutelyPartitions,
    YearlyPartitions,
)
from tests.algebra.picking import text_of

NOW = datetime(2026, 7, 1, tzinfo=UTC)
DAYS = DailyPartitions("2026-03-01")
HOURS = HourlyPartitions("2026-06-18", "2026-06-20")
REGIONS = StaticPartitions(["tw", "jp", "us"])
BOTH = MultiPartitions({"region": REGIONS, "day": DAYS})


def chosen(text, definition, now=NOW, **how):
    return list(keys_of(definition, select(text, definition, now, **how), now))


class TestSelect:
    def test_both_ends_are_included(self):
        assert chosen("[2026-03-01...2026-03-03], 2026-04-01", DAYS) == [
            "2026-03-01",
            "2026-03-02",
            "2026-03-03",
            "2026-04-01",
        ]

    def test_tc19_days(self):
        days = DailyPartitions("2024-01-01")
        text = "[2024-09-05...2024-09-07]"
        assert len(chosen(text, days)) == 3
        assert len(chosen(text, days, end_exclusive=True)) == 2

    def test_tc19_minutes(self):
        minutes = MinutelyPartitions("2026-05-01")
        assert len(chosen("[2026-05-01T01:00...2026-05-01T01:05]", minutes)) == 6

    def test_tc19_a_year_by_its_dates(self):
        assert chosen("[2021-01-01...2021-12-31]", YearlyPartitions("2019-01-01")) == ["2021"]

    def test_tc19_ticks_of_three_months(self):
        ninth = TimePartitions("0 9 1 * *", "2018-01-01", timezone="Europe/Berlin")
        assert chosen("[2019-01-01...2019-03-31]", ninth) == ["2019-01-01", "2019-02-01", "2019-03-01"]

    def test_tc19_a_start_after_the_end(self):
        with pytest.raises(InvalidSelection, match=r"starts after its end \(character 1 of"):
            select("[2026-03-05...2026-03-01]", DAYS, NOW)
        with pytest.raises(InvalidSelection, match="starts after its end"):
            select("[us...tw]", REGIONS)

    def test_tc19_a_range_that_hits_nothing_names_the_nearest(self):
        weekdays = DailyPartitions("2026-03-02", exclusions=[BusinessCalendar()])
        with pytest.raises(InvalidSelection, match="no partition; the nearest: 2026-03-06 and 2026-03-09"):
            select("[2026-03-07...2026-03-08]", weekdays, NOW)
        with pytest.raises(InvalidSelection, match=r"the nearest: 2026-06-30 \(character"):
            select("[2026-07-02...2026-08-01]", DAYS, NOW)

    def test_tc18_hours(self):
        assert len(chosen("[2026-06-18T08...2026-06-18T09]", HOURS)) == 2
        assert len(chosen("[2026-06-18T08...2026-06-18T08]", HOURS)) == 1
        assert chosen("2026-06-18T08", HOURS) == ["2026-06-18T08"]

    def test_an_end_in_days_takes_all_of_its_hours(self):
        assert len(chosen("[2026-06-18...2026-06-19]", HOURS)) == 48
        assert len(chosen("[2026-06...2026-06]", HOURS)) == 48
        assert len(chosen("[2026-06-19...2026-06]", HOURS)) == 24
        assert len(chosen("[2026-06-18T22:30...]", HOURS)) == 25

    def test_open_ends(self):
        now = datetime(2026, 3, 6, tzinfo=UTC)
        assert chosen("[2026-03-04...]", DAYS, now) == ["2026-03-04", "2026-03-05"]
        assert chosen("[...2026-03-02]", DAYS, now) == ["2026-03-01", "2026-03-02"]
        assert len(chosen("[...]", DAYS, now)) == len(chosen("*", DAYS, now)) == 5

    def test_weekends_in_a_range_are_passed_over(self):
        weekdays = DailyPartitions("2026-03-02", exclusions=[BusinessCalendar()])
        assert chosen("[2026-03-06...2026-03-09]", weekdays) == ["2026-03-06", "2026-03-09"]

    def test_what_is_typed_twice_is_chosen_once(self):
        assert chosen("2026-03-01, [2026-03-01...2026-03-02], 2026-03-02", DAYS) == [
            "2026-03-01",
            "2026-03-02",
        ]

    def test_listed_keys_in_their_order(self):
        assert chosen("[tw...jp]", REGIONS) == ["tw", "jp"]
        assert chosen("us, tw", REGIONS) == ["tw", "us"]
        assert chosen("[tw...us]", REGIONS, end_exclusive=True) == ["tw", "jp"]

    def test_an_unknown_key_is_named_with_its_place(self):
        with pytest.raises(
            InvalidSelection,
            match=r"'twx' is not one of the partitions: there are tw, jp, us \(character 5 of 'us, twx'\)",
        ) as refusal:
            select("us, twx", REGIONS)
        assert refusal.value.position == 4

    def test_a_date_that_is_none(self):
        with pytest.raises(InvalidSelection, match="'2026-02-30' is not a key of the form") as refusal:
            select("[2026-02-30...]", DAYS, NOW)
        assert refusal.value.position == 1

    def test_segments(self):
        now = datetime(2026, 3, 4, tzinfo=UTC)
        assert chosen("tw|[2026-03-02...]", BOTH, now) == ["tw|2026-03-02", "tw|2026-03-03"]
        assert chosen("*|2026-03-01", BOTH, now) == ["tw|2026-03-01", "jp|2026-03-01", "us|2026-03-01"]
        assert chosen("[tw...jp]|[...2026-03-02]", BOTH, now) == [
            "tw|2026-03-01",
            "jp|2026-03-01",
            "tw|2026-03-02",
            "jp|2026-03-02",
        ]
        assert select("*", BOTH, now).ranges == select("*|*", BOTH, now).ranges == ((0, 9),)

    def test_a_rectangle_of_whole_days_is_one_range(self):
        assert select("*|[2026-03-02...2026-03-05]", BOTH, NOW).ranges == ((3, 15),)

    @pytest.mark.parametrize(
        ("text", "example"),
        [
            ("tw|2026-03-01|x", "tw|2026-03-01"),
            ("mars", "tw|2026-03-01"),
            ("jp", "jp|*"),
            ("[tw...jp]", "[tw...jp]|*"),
            ("2026-03-01", "*|2026-03-01"),
            ("[2026-03-01 ... 2026-03-02]", "*|[2026-03-01...2026-03-02]"),
            ("[2026-03-01...]", "*|[2026-03-01...]"),
        ],
    )
    def test_the_number_of_segments_must_be_right_and_one_is_completed(self, text, example):
        expected = re.escape(f"expected region|day, such as {example}, and not ")
        with pytest.raises(InvalidSelection, match=rf"{expected}\d segments? \("):
            select(text, BOTH, NOW)
        select(example, BOTH, NOW)

    @given(st.sets(st.integers(0, 30), min_size=1))
    def test_the_text_of_a_subset_chooses_it_again(self, numbers):
        subset = select(text_of(DAYS, select("*", DAYS, NOW)), DAYS, NOW)
        assert subset.count == DAYS.count(NOW)
        few = select(", ".join(DAYS.key_at(number) for number in numbers), DAYS, NOW)
        assert set(few) == numbers
        assert select(text_of(DAYS, few), DAYS, NOW) == few


class TestSelectAmong:
    KEYS = ("tw|2026-03-01T09", "tw|2026-03-02T10", "us|2026-03-02T10", "odd")

    def among(self, text, delimiter="|"):
        return [self.KEYS[place] for place in select_among(text, self.KEYS, delimiter)]

    def test_keys_that_were_seen(self):
        assert self.among("odd") == ["odd"]
        assert self.among("*") == list(self.KEYS)
        assert self.among("tw|2026-03-01T09, odd") == ["tw|2026-03-01T09", "odd"]

    def test_ranges_compare_text_and_include_what_begins_with_the_end(self):
        assert self.among("*|[2026-03-02...2026-03-02]") == ["tw|2026-03-02T10", "us|2026-03-02T10"]
        assert self.among("tw|[...2026-03-01]") == ["tw|2026-03-01T09"]

    def test_without_segments(self):
        assert self.among("tw|2026-03-01T09", None) == ["tw|2026-03-01T09"]

    def test_none_that_is_meant_is_an_error(self):
        with pytest.raises(InvalidSelection, match=r"none of the known keys is meant \(character 6 of"):
            self.among("odd, mars")


def test_tc35_odd_keys_can_be_selected():
    keys = ["Report, Q1 2024.pdf", '{"k1":"v1","k2":"v2"}', "my|key", "a/b?c#d&e=%2F", "Zürich", "東京"]
    definition = StaticPartitions(keys)
    text = ", ".join(quoted(key) for key in keys[:2])
    assert chosen(text, definition) == keys[:2]
    assert chosen("my|key, 東京", definition) == ["my|key", "東京"]


def test_one_period_of_many_keys_is_answered_with_how_all_of_them_are_written():
    days = MultiPartitions({"city": StaticPartitions(["sf"]), "day": DailyPartitions("2026-03-01")})
    with pytest.raises(InvalidSelection, match=r"all keys of that period are \[2026-03\.\.\.2026-03\]"):
        select("sf|2026-03", days, datetime(2026, 4, 2, tzinfo=UTC))
    with pytest.raises(InvalidSelection) as refusal:
        select("sf|rubbish", days, datetime(2026, 4, 2, tzinfo=UTC))
    assert "of that period" not in str(refusal.value)
