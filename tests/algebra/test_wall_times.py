"""What periods are named by, the zones they are in, and wall times."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.periods import (
    Grain,
    exists,
    floor_wall,
    grain_of,
    instants_of,
    shift_wall,
    wall_of,
    week_starting,
    zone,
)
from tests.algebra.zones import CHANGING
from tests.moments import utc

NEW_YORK, SANTIAGO, APIA = zone("America/New_York"), zone("America/Santiago"), zone("Pacific/Apia")


class TestGrain:
    def test_is_ordered_by_length(self):
        assert sorted([Grain.YEAR, Grain.SECOND, Grain.WEEK]) == [Grain.SECOND, Grain.WEEK, Grain.YEAR]
        assert Grain.MINUTE < Grain.YEAR
        assert Grain.DAY >= Grain.HOUR

    def test_compares_with_nothing_else(self):
        with pytest.raises(TypeError):
            Grain.DAY < 3  # noqa: B015

    def test_knows_what_daylight_saving_can_touch(self):
        assert [grain for grain in Grain if grain.is_subday] == [Grain.SECOND, Grain.MINUTE, Grain.HOUR]

    def test_holds_what_it_is_made_of(self):
        assert Grain.MONTH.holds(Grain.DAY)
        assert Grain.QUARTER.holds(Grain.MONTH)
        assert not Grain.MONTH.holds(Grain.WEEK)
        assert not Grain.DAY.holds(Grain.DAY)
        assert not Grain.DAY.holds(Grain.MONTH)

    def test_is_read_from_its_name(self):
        assert grain_of("quarter") is Grain.QUARTER
        assert grain_of(Grain.DAY) is Grain.DAY

    @pytest.mark.parametrize("name", ["days", "DAY", "", None, 5])
    def test_is_refused_by_another_name(self, name):
        with pytest.raises(InvalidDefinition, match="use one of minute, hour, day"):
            grain_of(name)


class TestZone:
    def test_is_found_by_its_name(self):
        assert zone("Europe/Berlin") is zone("Europe/Berlin")
        assert zone(ZoneInfo("Europe/Berlin")).key == "Europe/Berlin"
        assert zone("utc").key == "UTC"
        assert zone("EST5EDT").key == "EST5EDT"

    @pytest.mark.parametrize(
        "name",
        ["Mars/X", "", "+08:00", "../etc/passwd", "/etc/localtime", "a\x00b", None, 3600, ["UTC"], "America"],
    )
    def test_is_refused_with_a_sentence(self, name):
        with pytest.raises(InvalidDefinition, match="is not a time zone"):
            zone(name)


class TestWeekStart:
    def test_is_monday_or_sunday(self):
        assert week_starting("monday") == "monday"
        assert week_starting("sunday") == "sunday"

    @pytest.mark.parametrize("name", ["Monday", "tuesday", None, 1])
    def test_is_nothing_else(self, name):
        with pytest.raises(InvalidDefinition, match="monday or sunday"):
            week_starting(name)


class TestWallTimes:
    @pytest.mark.parametrize(
        ("grain", "floor"),
        [
            (Grain.SECOND, "2026-05-13T09:37:51"),
            (Grain.MINUTE, "2026-05-13T09:37:00"),
            (Grain.HOUR, "2026-05-13T09:00:00"),
            (Grain.DAY, "2026-05-13T00:00:00"),
            (Grain.WEEK, "2026-05-11T00:00:00"),
            (Grain.MONTH, "2026-05-01T00:00:00"),
            (Grain.QUARTER, "2026-04-01T00:00:00"),
            (Grain.YEAR, "2026-01-01T00:00:00"),
        ],
    )
    def test_are_floored_to_their_period(self, grain, floor):
        assert floor_wall(grain, datetime(2026, 5, 13, 9, 37, 51, 5)) == datetime.fromisoformat(floor)

    def test_of_a_week_may_start_on_sunday(self):
        assert floor_wall(Grain.WEEK, datetime(2026, 5, 13), "sunday") == datetime(2026, 5, 10)
        assert floor_wall(Grain.WEEK, datetime(2026, 5, 10), "sunday") == datetime(2026, 5, 10)
        assert floor_wall(Grain.WEEK, datetime(2026, 5, 10), "monday") == datetime(2026, 5, 4)

    @pytest.mark.parametrize(
        ("grain", "periods", "moved"),
        [
            (Grain.MINUTE, 61, "2024-02-01T01:01:00"),
            (Grain.HOUR, -1, "2024-01-31T23:00:00"),
            (Grain.DAY, 29, "2024-03-01T00:00:00"),
            (Grain.WEEK, 2, "2024-02-15T00:00:00"),
            (Grain.MONTH, -2, "2023-12-01T00:00:00"),
            (Grain.MONTH, 11, "2025-01-01T00:00:00"),
            (Grain.QUARTER, 4, "2025-02-01T00:00:00"),
            (Grain.YEAR, -24, "2000-02-01T00:00:00"),
        ],
    )
    def test_are_moved_by_periods(self, grain, periods, moved):
        assert shift_wall(grain, datetime(2024, 2, 1), periods) == datetime.fromisoformat(moved)

    @pytest.mark.parametrize(("grain", "periods"), [(Grain.YEAR, -1), (Grain.MONTH, -1), (Grain.DAY, -1)])
    def test_do_not_leave_the_calendar(self, grain, periods):
        with pytest.raises(OverflowError):
            shift_wall(grain, datetime(1, 1, 1), periods)

    def test_come_once_twice_or_never(self):
        assert len(instants_of(datetime(2026, 6, 1, 12), NEW_YORK)) == 1
        assert instants_of(datetime(2026, 11, 1, 1), NEW_YORK) == (
            utc("2026-11-01T05:00"),
            utc("2026-11-01T06:00"),
        )
        assert instants_of(datetime(2026, 3, 8, 2, 30), NEW_YORK) == ()

    def test_are_what_clocks_show(self):
        assert wall_of(utc("2026-11-01T06:00"), NEW_YORK) == datetime(2026, 11, 1, 1)

    @given(
        st.sampled_from(CHANGING),
        st.datetimes(datetime(1950, 1, 1), datetime(2060, 1, 1)),
    )
    def test_exist_exactly_where_some_instant_shows_them(self, name, moment):
        found = zone(name)
        wall = moment.replace(second=0, microsecond=0)
        assert exists(Grain.MINUTE, wall, found) == bool(instants_of(wall, found))
