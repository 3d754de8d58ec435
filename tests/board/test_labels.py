from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.board.labels import DAY, HOUR, MINUTE, MONTH, YEAR, Place, label_of, places, unit_of

MOMENTS = st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2099, 12, 31))


class TestLabelOf:
    @pytest.mark.parametrize(
        ("text", "label"),
        [
            ("2026", "2026"),
            ("2026-03", "2026-03"),
            ("2026-03-10", "2026-03-10"),
            ("2026-03-10T09", "2026-03-10T09"),
            ("2026-03-10T09:30", "2026-03-10T09:30"),
            ("2026-03-10T09:30:59", "2026-03-10T09:30"),
            ("2026-03-10 09:30", "2026-03-10T09:30"),
            ("2026-03-10T0930", "2026-03-10T09:30"),
            ("2026-03-10T09:30:59.123456", "2026-03-10T09:30"),
            ("2026-11-01T01:00:00-0700", "2026-11-01T01:00"),
            ("2026-11-01T01:00:00+05:30", "2026-11-01T01:00"),
            ("2026-03-10T09:37Z", "2026-03-10T09:37"),
            ("2026-W11", "2026-W11"),
            ("2026-Q1", "2026-Q1"),
            ("2026-03-09 (W11)", "2026-03-09"),
        ],
    )
    def test_reads_the_moment_as_it_is_written(self, text, label):
        assert label_of(text) == label

    @pytest.mark.parametrize(
        "text",
        [
            *(
                "0000",
                "0000-01-01",
                "2026-00",
                "2026-13",
                "2026-00-10",
                "2026-13-45",
                "2026-02-29",
                "9999-99-99",
            ),
            *(
                "2026-W00",
                "2026-W54",
                "2026-01-01T24",
                "2026-01-01T25:00",
                "2026-01-01T09:60",
                "2026-13-01T05",
            ),
        ],
    )
    def test_takes_no_date_that_never_was_for_one(self, text):
        assert label_of(text) == ""

    @pytest.mark.parametrize(
        "text", ["", "tw", "20260310", "2026-3-1", "2026-Q5", "v2026-03", "2026-03-10x", "10.3.2026", "²026"]
    )
    def test_leaves_everything_else_alone(self, text):
        assert label_of(text) == ""

    @given(MOMENTS, MOMENTS)
    def test_labels_sort_as_time_does(self, one, other):
        one, other = one.replace(second=0, microsecond=0), other.replace(second=0, microsecond=0)
        labels = [label_of(f"{moment:%Y-%m-%dT%H:%M:%S}") for moment in (one, other)]
        assert (labels[0] < labels[1]) == (one < other)

    @given(MOMENTS)
    def test_a_label_begins_with_those_of_the_periods_it_lies_in(self, moment):
        label = label_of(f"{moment:%Y-%m-%dT%H:%M}")
        for size, form in {YEAR: "%Y", MONTH: "%Y-%m", DAY: "%Y-%m-%d", HOUR: "%Y-%m-%dT%H"}.items():
            assert label[:size] == label_of(moment.strftime(form)) == moment.strftime(form)


class TestPlaces:
    @pytest.mark.parametrize("stray", ["1970-01-01", "1026-03-02", "2062-03-02"])
    def test_a_key_far_from_all_others_has_no_place_among_them(self, stray):
        days = [f"2026-03-{day:02}" for day in range(1, 31)]
        assert [place.key for place in places([*days, stray]) if not place.label] == [stray]

    def test_two_that_lie_on_either_side_have_none_either(self):
        days = [f"2026-{month:02}-{day:02}" for month in (3, 4) for day in range(1, 31)]
        found = places(["1970-01-01", *days, "2999-01-01"])
        assert [place.key for place in found if not place.label] == ["1970-01-01", "2999-01-01"]

    @pytest.mark.parametrize(
        "keys",
        [
            ["1970-01-01", "2026-03-01"],
            [f"{year}-01-01" for year in (1990, *range(2000, 2026))],
            [*(f"2020-03-{day:02}" for day in range(1, 9)), *(f"2026-03-{day:02}" for day in range(1, 9))],
            ["2024-12-31", *(f"2026-03-{day:02}" for day in range(1, 31))],
        ],
    )
    def test_a_history_with_gaps_is_one_calendar(self, keys):
        assert all(place.label for place in places(keys))

    def test_the_time_is_the_segment_that_is_a_moment(self):
        assert places(["tw|2026-03-10", "jp|2026-03-11"]) == [
            Place("tw|2026-03-10", "2026-03-10", ("tw",)),
            Place("jp|2026-03-11", "2026-03-11", ("jp",)),
        ]

    def test_the_time_may_stand_anywhere_in_a_key(self):
        [place] = places(["2026-03-10|tw|store 7"])
        assert (place.label, place.others) == ("2026-03-10", ("tw", "store 7"))

    def test_of_two_moments_the_last_is_the_time(self):
        [place] = places(["2026|2026-03-10"])
        assert (place.label, place.others) == ("2026-03-10", ("2026",))

    def test_hours_written_to_the_second_have_labels_of_hours(self):
        keys = [f"2026-03-10T{hour:02}:00:00" for hour in range(24)]
        assert [place.label for place in places(keys)] == [key[:HOUR] for key in keys]

    def test_hours_of_a_zone_at_half_past_are_hours(self):
        keys = [f"2026-03-10T{hour:02}:30" for hour in range(24)]
        assert unit_of(place.label for place in places(keys)) == HOUR

    def test_days_written_as_midnights_have_labels_of_days(self):
        keys = [f"2026-03-{day:02}T00:00:00" for day in range(1, 30)]
        assert unit_of(place.label for place in places(keys)) == DAY

    def test_minutes_stay_minutes(self):
        start = datetime(2026, 3, 10, 9)
        keys = [f"{start + timedelta(minutes=number):%Y-%m-%dT%H:%M}" for number in range(90)]
        assert unit_of(place.label for place in places(keys)) == MINUTE

    def test_a_lone_key_keeps_its_whole_label(self):
        assert places(["2026-03-10T00:00:00"])[0].label == "2026-03-10T00:00"

    def test_keys_without_time_have_no_label(self):
        assert places(["red", "green|big"]) == [Place("red"), Place("green|big", "", ("green", "big"))]

    def test_a_stray_key_does_not_spoil_the_calendar_of_the_others(self):
        keys = [f"2026-03-{day:02}" for day in range(1, 10)] + ["oops"]
        assert [place.label for place in places(keys)] == [*keys[:-1], ""]

    def test_a_key_with_too_few_segments_is_a_stray(self):
        found = places([*(f"tw|2026-03-0{day}" for day in range(1, 9)), "tw"])
        assert found[-1] == Place("tw", "", ("tw",))

    def test_a_day_among_hours_is_a_stray(self):
        keys = [f"tw|2026-03-10T{hour:02}:00:00" for hour in range(24)]
        found = places(["tw|2026-03-10", *keys])
        assert [place.label for place in found] == ["", *(key[3:16] for key in keys)]

    def test_a_minute_among_hours_stands_at_its_hour(self):
        keys = [f"2026-03-10T{hour:02}" for hour in range(24)]
        assert places([*keys, "2026-03-10T07:30"])[-1].label == "2026-03-10T07"

    def test_where_few_keys_are_moments_none_is_taken_for_one(self):
        assert [place.label for place in places(["red", "green", "2026"])] == ["", "", ""]

    def test_an_escaped_delimiter_is_part_of_its_segment(self):
        [place] = places([r"a\|b|2026-03-10"])
        assert place.others == ("a|b",)

    def test_no_keys_have_no_places(self):
        assert places([]) == []
