"""Windows: which members a downstream key stands for, and back."""

from dataclasses import dataclass
from datetime import datetime

import pytest

from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.periods import Grain, zone
from scheduling.algebra.windows import (
    DayWindow,
    Direction,
    HourWindow,
    MonthWindow,
    QuarterWindow,
    SegmentWindow,
    WeekWindow,
    Window,
    YearWindow,
    check_window,
)

UTC_ZONE, NEW_YORK, LORD_HOWE = zone("UTC"), zone("America/New_York"), zone("Australia/Lord_Howe")


def walls(window, anchor, found=UTC_ZONE):
    return [wall.isoformat() for wall in window.walls(datetime.fromisoformat(anchor), found)]


class TestShippedWindows:
    @pytest.mark.parametrize(
        ("window", "anchor", "count", "first", "last"),
        [
            (HourWindow(), "2026-03-10T09:00", 60, "2026-03-10T09:00:00", "2026-03-10T09:59:00"),
            (DayWindow(), "2026-03-10", 24, "2026-03-10T00:00:00", "2026-03-10T23:00:00"),
            (WeekWindow(), "2026-03-09", 7, "2026-03-09T00:00:00", "2026-03-15T00:00:00"),
            (MonthWindow(), "2026-02-01", 28, "2026-02-01T00:00:00", "2026-02-28T00:00:00"),
            (QuarterWindow(), "2026-01-01", 90, "2026-01-01T00:00:00", "2026-03-31T00:00:00"),
            (YearWindow(), "2024-01-01", 366, "2024-01-01T00:00:00", "2024-12-31T00:00:00"),
            (QuarterWindow(members="month"), "2026-01-01", 3, "2026-01-01T00:00:00", "2026-03-01T00:00:00"),
            (YearWindow(members="month"), "2026-01-01", 12, "2026-01-01T00:00:00", "2026-12-01T00:00:00"),
            (YearWindow(members="quarter"), "2026-01-01", 4, "2026-01-01T00:00:00", "2026-10-01T00:00:00"),
            (MonthWindow(members="hour"), "2026-02-01", 672, "2026-02-01T00:00:00", "2026-02-28T23:00:00"),
            (DayWindow(members="minute"), "2026-03-10", 1440, "2026-03-10T00:00:00", "2026-03-10T23:59:00"),
        ],
    )
    def test_have_the_members_of_their_period(self, window, anchor, count, first, last):
        found = walls(window, anchor)
        assert (len(found), found[0], found[-1]) == (count, first, last)

    @pytest.mark.parametrize(
        ("window", "noun"),
        [
            (DayWindow(), "hours"),
            (HourWindow(), "minutes"),
            (YearWindow(members="month"), "months"),
            (SegmentWindow(["a"]), "keys"),
        ],
    )
    def test_call_their_members_by_name(self, window, noun):
        assert window.member_noun == noun

    def test_are_values(self):
        assert DayWindow() == DayWindow(direction="forward", members="hour")
        assert len({DayWindow(), DayWindow(direction=Direction.FORWARD), WeekWindow()}) == 2
        assert DayWindow() != WeekWindow()


class TestDirections:
    """TC-37 and slide 86 of the talk, for the key 2026-03-09."""

    @pytest.mark.parametrize(
        ("direction", "first", "last"),
        [
            ("forward", "2026-03-09T00:00:00", "2026-03-15T00:00:00"),
            ("backward", "2026-03-03T00:00:00", "2026-03-09T00:00:00"),
            ("following", "2026-03-16T00:00:00", "2026-03-22T00:00:00"),
        ],
    )
    def test_choose_the_week(self, direction, first, last):
        found = walls(WeekWindow(direction=direction), "2026-03-09")
        assert (len(found), found[0], found[-1]) == (7, first, last)

    def test_count_february_where_it_lies(self):
        found = walls(WeekWindow(direction="backward"), "2024-03-04")
        assert found[0] == "2024-02-27T00:00:00"
        assert "2024-02-29T00:00:00" in found

    @pytest.mark.parametrize(("direction", "count"), [("forward", 31), ("backward", 28), ("following", 30)])
    def test_choose_the_length_of_a_month(self, direction, count):
        assert len(walls(MonthWindow(direction=direction), "2026-03-01")) == count

    def test_are_known_by_the_window(self):
        assert Window.Direction.BACKWARD is Direction.BACKWARD
        assert DayWindow(direction=Window.Direction.FOLLOWING).direction == "following"

    @pytest.mark.parametrize("direction", ["sideways", "FORWARD", "", None, 1])
    def test_are_three(self, direction):
        with pytest.raises(InvalidDefinition, match="forward, backward, following") as refusal:
            DayWindow(direction=direction)
        assert refusal.value.path == "direction"

    def test_are_given_by_name(self):
        with pytest.raises(TypeError):
            DayWindow("forward")


class TestMembers:
    @pytest.mark.parametrize(
        ("window", "members"),
        [
            (MonthWindow, "week"),
            (YearWindow, "week"),
            (DayWindow, "day"),
            (DayWindow, "month"),
            (HourWindow, "hour"),
        ],
    )
    def test_are_whole_in_their_period(self, window, members):
        with pytest.raises(InvalidDefinition, match="is made of whole") as refusal:
            window(members=members)
        assert refusal.value.path == "members"

    def test_are_a_grain(self):
        with pytest.raises(InvalidDefinition, match="is not a grain"):
            YearWindow(members="fortnight")

    @pytest.mark.parametrize(
        ("window", "members"),
        [(MonthWindow, "second"), (QuarterWindow, "minute"), (YearWindow, "minute"), (YearWindow, "second")],
    )
    def test_are_not_more_than_anyone_could_look_for(self, window, members):
        with pytest.raises(InvalidDefinition, match="a window has at most 100,000 members") as refusal:
            window(members=members)
        assert refusal.value.path == "members"

    def test_are_as_many_as_a_month_has_minutes(self):
        assert MonthWindow(members="minute").most() == 31 * 24 * 60

    def test_are_those_that_exist(self):
        assert len(walls(DayWindow(), "2026-03-08", NEW_YORK)) == 23
        assert len(walls(DayWindow(), "2026-11-01", NEW_YORK)) == 25
        assert "2026-03-08T02:00:00" not in walls(DayWindow(), "2026-03-08", NEW_YORK)
        assert len(walls(MonthWindow(members="hour"), "2026-11-01", NEW_YORK)) == 721

    @pytest.mark.parametrize(
        ("anchor", "count"), [("2026-10-04T02:00", 30), ("2026-04-05T01:00", 90), ("2026-06-01T01:00", 60)]
    )
    def test_of_an_hour_are_its_real_minutes(self, anchor, count):
        assert len(walls(HourWindow(), anchor, LORD_HOWE)) == count

    @pytest.mark.parametrize("fold", [0, 1])
    def test_of_a_repeated_hour_are_those_of_one_of_the_two(self, fold):
        found = HourWindow().walls(datetime(2026, 11, 1, 1, fold=fold), NEW_YORK)
        assert len(found) == 60
        assert {wall.fold for wall in found} == {fold}

    def test_before_a_repeated_hour_are_counted_in_real_time(self):
        backward = HourWindow(direction="backward")
        second = backward.walls(datetime(2026, 11, 1, 1, fold=1), NEW_YORK)
        assert len(second) == 60
        assert [(wall.hour, wall.minute, wall.fold) for wall in (second[0], second[-1])] == [
            (1, 1, 0),
            (1, 0, 1),
        ]

    def test_after_the_hour_before_a_gap_are_those_after_it(self):
        found = HourWindow(direction="following").walls(datetime(2026, 3, 8, 1), NEW_YORK)
        assert {wall.hour for wall in found} == {3}


class TestSegmentWindow:
    def test_keeps_its_segments_in_order_and_once(self):
        assert SegmentWindow(["us", "eu", "us", "日本"]).segments == ("us", "eu", "日本")
        assert SegmentWindow(("us",)) == SegmentWindow(["us"])

    @pytest.mark.parametrize(
        "segments", [[], "us", {"us": 1}, None, [""], ["a", ""], ["a", 1], [None], [["a"]], [" "]]
    )
    def test_refuses_what_are_no_segments(self, segments):
        with pytest.raises(InvalidDefinition) as refusal:
            SegmentWindow(segments)
        assert refusal.value.path == "segments"

    def test_has_no_direction(self):
        with pytest.raises(TypeError):
            SegmentWindow(["a"], direction="forward")


class TestCheckWindow:
    def test_takes_a_window(self):
        assert check_window(DayWindow()) == DayWindow()

    @pytest.mark.parametrize("value", [None, "DayWindow", 5, DayWindow, {"type": "DayWindow"}])
    def test_refuses_anything_else(self, value):
        with pytest.raises(InvalidDefinition, match="is a window such as"):
            check_window(value)

    def test_refuses_a_window_that_can_change(self):
        @dataclass(frozen=True, slots=True, kw_only=True)
        class HolidayWindow(WeekWindow):
            holidays: list[int]

        with pytest.raises(InvalidDefinition, match="tuples, not lists"):
            check_window(HolidayWindow(holidays=[1]))


def test_grains_name_windows():
    assert {
        window.period
        for window in (HourWindow, DayWindow, WeekWindow, MonthWindow, QuarterWindow, YearWindow)
    } == {*(Grain.HOUR, Grain.DAY, Grain.WEEK, Grain.MONTH, Grain.QUARTER, Grain.YEAR)}
