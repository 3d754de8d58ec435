"""Fan-outs: one upstream key to many."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.errors import CannotMap, InvalidDefinition, MismatchedDefinition
from scheduling.algebra.mappers import AllowedKeyMapper, FixedKeyMapper, IdentityMapper
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.spreads import FanOutMapper
from scheduling.algebra.temporal import (
    StartOfDayMapper,
    StartOfHourMapper,
    StartOfMinuteMapper,
    StartOfMonthMapper,
    StartOfQuarterMapper,
    StartOfWeekMapper,
    StartOfYearMapper,
)
from scheduling.algebra.windows import (
    DayWindow,
    HourWindow,
    MonthWindow,
    QuarterWindow,
    SegmentWindow,
    WeekWindow,
    YearWindow,
)


class TestAWeek:
    """Slide 84 of the talk, and TC-37."""

    def test_feeds_its_days(self):
        mapper = FanOutMapper(StartOfWeekMapper(input_format="%Y-%m-%d"), WeekWindow(), max_downstream_keys=7)
        assert mapper.to_downstream("2026-03-09") == (
            *(
                "2026-03-09",
                "2026-03-10",
                "2026-03-11",
                "2026-03-12",
                "2026-03-13",
                "2026-03-14",
                "2026-03-15",
            ),
        )
        assert mapper.max_downstream_keys == 7
        assert not mapper.is_rollup
        assert not mapper.is_one_to_one
        assert mapper.required("2026-03-10") is None
        assert mapper.wait_policy is None

    @pytest.mark.parametrize(
        ("direction", "first", "last"),
        [
            ("forward", "2024-03-04", "2024-03-10"),
            ("following", "2024-03-11", "2024-03-17"),
            ("backward", "2024-02-27", "2024-03-04"),
        ],
    )
    def test_may_feed_the_days_around_it(self, direction, first, last):
        upstream = StartOfWeekMapper(input_format="%G-W%V", output_format="%G-W%V")
        made = FanOutMapper(upstream, WeekWindow(direction=direction)).to_downstream("2024-W10")
        assert (len(made), made[0], made[-1]) == (7, first, last)

    def test_is_found_from_each_of_its_days(self):
        upstream = StartOfWeekMapper(input_format="%G-W%V", output_format="%G-W%V")
        mapper = FanOutMapper(upstream, WeekWindow())
        assert mapper.upstream_keys("2026-03-15") == ("2026-W11",)
        assert mapper.upstream_keys("2026-03-16") == ("2026-W12",)

    def test_is_not_where_its_keys_are_finer(self):
        assert FanOutMapper(StartOfWeekMapper(), WeekWindow()).upstream_keys("2026-03-15") is None


class TestDefaultForms:
    @pytest.mark.parametrize(
        ("mapper", "key", "count", "first"),
        [
            (FanOutMapper(StartOfDayMapper(), DayWindow()), "2026-03-10T05:00:00", 24, "2026-03-10T00"),
            (FanOutMapper(StartOfMonthMapper(), MonthWindow()), "2026-02-10T05:00:00", 28, "2026-02-01"),
            (FanOutMapper(StartOfQuarterMapper(), QuarterWindow()), "2026-02-10T05:00:00", 90, "2026-01-01"),
            (
                FanOutMapper(StartOfQuarterMapper(), QuarterWindow(members="month")),
                "2026-02-10T05:00:00",
                3,
                "2026-01",
            ),
            (
                FanOutMapper(StartOfYearMapper(), YearWindow(members="quarter")),
                "2026-02-10T05:00:00",
                4,
                "2026-Q1",
            ),
            (FanOutMapper(StartOfDayMapper(), WeekWindow()), "2026-02-27T05:00:00", 7, "2026-02-27"),
            (FanOutMapper(StartOfMonthMapper(), WeekWindow()), "2026-02-27T05:00:00", 7, "2026-02-01"),
        ],
    )
    def test_follow_the_members(self, mapper, key, count, first):
        made = mapper.to_downstream(key)
        assert (len(made), made[0]) == (count, first)
        assert mapper.samples()

    def test_of_minutes_must_be_given(self):
        with pytest.raises(InvalidDefinition, match="needs a downstream_mapper") as refusal:
            FanOutMapper(StartOfHourMapper(), HourWindow())
        assert refusal.value.path == "downstream_mapper"
        made = FanOutMapper(StartOfHourMapper(), HourWindow(), StartOfMinuteMapper()).to_downstream(
            "2026-03-10T09:00:00"
        )
        assert len(made) == 60

    def test_of_segments_must_be_given(self):
        with pytest.raises(InvalidDefinition, match="IdentityMapper"):
            FanOutMapper(IdentityMapper(), SegmentWindow(["us"]))

    @pytest.mark.parametrize("cls", [StartOfDayMapper, StartOfMonthMapper])
    def test_work_in_the_zone_of_the_upstream_mapper(self, cls):
        window = DayWindow() if cls is StartOfDayMapper else MonthWindow()
        mapper = FanOutMapper(cls("America/New_York"), window)
        made = mapper.to_downstream("2026-03-01T12:00:00")
        assert mapper.partition_date(made[0]) == datetime(2026, 3, 1, 5, tzinfo=UTC)


class TestRealMembers:
    @pytest.mark.parametrize(("key", "count"), [("2026-03-08T12:00:00", 23), ("2026-11-01T12:00:00", 25)])
    def test_are_fed_where_keys_tell_them_apart(self, key, count):
        mapper = FanOutMapper(
            StartOfDayMapper("America/New_York"),
            DayWindow(),
            StartOfHourMapper(output_format="%Y-%m-%dT%H%z"),
        )
        assert len(mapper.to_downstream(key)) == count


class TestTheDownstreamMapper:
    def test_normalises(self):
        """Every member of a month belongs to some week that starts on a Monday."""
        made = FanOutMapper(StartOfMonthMapper(), MonthWindow(), StartOfWeekMapper()).to_downstream(
            "2026-03-10T00:00:00"
        )
        assert made[0] == "2026-02-23 (W09)"
        assert len(made) == 6
        assert all(datetime.fromisoformat(key[:10]).weekday() == 0 for key in made)

    def test_names_each_key_once(self):
        mapper = FanOutMapper(StartOfYearMapper(), YearWindow(members="month"), StartOfQuarterMapper())
        assert mapper.to_downstream("2026-05-05T00:00:00") == ("2026-Q1", "2026-Q2", "2026-Q3", "2026-Q4")

    def test_of_another_zone_converts(self):
        mapper = FanOutMapper(StartOfDayMapper(), DayWindow(), StartOfHourMapper(timezone="Asia/Taipei"))
        made = mapper.to_downstream("2026-03-10T00:00:00")
        assert (made[0], made[-1]) == ("2026-03-10T08", "2026-03-11T07")

    def test_may_be_any_mapper(self):
        assert FanOutMapper(StartOfDayMapper(), DayWindow(), FixedKeyMapper("k")).to_downstream(
            "2026-03-10T00:00:00"
        ) == ("k",)
        made = FanOutMapper(
            StartOfQuarterMapper(), QuarterWindow(members="month"), IdentityMapper()
        ).to_downstream("2026-03-10T00:00:00")
        assert made == ("2026-01-01T00:00:00", "2026-02-01T00:00:00", "2026-03-01T00:00:00")

    def test_may_refuse_a_member(self):
        with pytest.raises(CannotMap):
            FanOutMapper(StartOfDayMapper(), DayWindow(), AllowedKeyMapper(["x"])).to_downstream(
                "2026-03-10T00:00:00"
            )


class TestSegments:
    def test_are_fed_in_order(self):
        mapper = FanOutMapper(AllowedKeyMapper(["go"]), SegmentWindow(["us", "eu", "apac"]), IdentityMapper())
        assert mapper.to_downstream("go") == ("us", "eu", "apac")
        assert mapper.samples() == ("us", "eu", "apac")
        assert mapper.upstream_keys("us") is None
        assert mapper.partition_date("us") is None

    def test_are_fed_only_by_what_the_upstream_mapper_takes(self):
        mapper = FanOutMapper(AllowedKeyMapper(["go"]), SegmentWindow(["us"]), IdentityMapper())
        with pytest.raises(CannotMap):
            mapper.to_downstream("stop")

    def test_that_the_downstream_mapper_refuses_are_refused(self):
        with pytest.raises(InvalidDefinition, match="refuses a segment"):
            FanOutMapper(IdentityMapper(), SegmentWindow(["us"]), StartOfDayMapper())


class TestPartsThatDoNotFit:
    @pytest.mark.parametrize(
        "upstream",
        [
            IdentityMapper(),
            RollupMapper(StartOfDayMapper(), DayWindow()),
            FanOutMapper(StartOfWeekMapper(), WeekWindow()),
        ],
    )
    def test_are_strings_under_a_window_of_time(self, upstream):
        with pytest.raises(MismatchedDefinition, match="needs instants"):
            FanOutMapper(upstream, WeekWindow())

    @pytest.mark.parametrize(
        ("fields", "path"),
        [
            ({"upstream_mapper": None, "window": WeekWindow()}, "upstream_mapper"),
            ({"upstream_mapper": StartOfDayMapper(), "window": "week"}, "window"),
            (
                {"upstream_mapper": StartOfDayMapper(), "window": DayWindow(), "downstream_mapper": 5},
                "downstream_mapper",
            ),
            (
                {"upstream_mapper": StartOfDayMapper(), "window": DayWindow(), "max_downstream_keys": 0},
                "max_downstream_keys",
            ),
        ],
    )
    def test_are_named(self, fields, path):
        with pytest.raises(InvalidDefinition) as refusal:
            FanOutMapper(**fields)
        assert refusal.value.path == path

    @pytest.mark.parametrize("key", ["tw", "2026-03-10", "9999-12-31T00:00:00"])
    def test_are_keys_that_cannot_be_read_or_followed(self, key):
        with pytest.raises(CannotMap):
            FanOutMapper(StartOfDayMapper(), DayWindow(direction="following")).to_downstream(key)

    def test_of_a_month_is_any_day_but_the_first(self):
        mapper = FanOutMapper(StartOfDayMapper(), MonthWindow())
        assert len(mapper.to_downstream("2026-03-01T00:00:00")) == 31
        with pytest.raises(CannotMap, match="no first of a month"):
            mapper.to_downstream("2026-03-02T00:00:00")


@given(st.dates(date(1990, 1, 1), date(2060, 1, 1)), st.sampled_from(["forward", "backward", "following"]))
def test_every_day_is_fed_by_exactly_the_week_it_names(day, direction):
    week = StartOfWeekMapper(input_format="%G-W%V", output_format="%G-W%V")
    mapper = FanOutMapper(week, WeekWindow(direction=direction))
    (fed_by,) = mapper.upstream_keys(day.isoformat())
    assert day.isoformat() in mapper.to_downstream(fed_by)
    for weeks in (-2, -1, 1, 2):
        iso = (datetime.fromisoformat(day.isoformat()) + timedelta(weeks=weeks)).isocalendar()
        other = f"{iso.year:04}-W{iso.week:02}"
        assert (day.isoformat() in mapper.to_downstream(other)) == (other == fed_by)


def test_warnings_come_from_both_sides():
    mapper = FanOutMapper(StartOfDayMapper("America/New_York"), DayWindow())
    assert len(mapper.warnings()) == 2
