"""Mappers to the start of a period."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.errors import CannotMap, InvalidDefinition, InvalidKey
from scheduling.algebra.temporal import (
    StartOfDayMapper,
    StartOfHourMapper,
    StartOfMinuteMapper,
    StartOfMonthMapper,
    StartOfQuarterMapper,
    StartOfWeekMapper,
    StartOfYearMapper,
)

ALL = [
    StartOfMinuteMapper,
    StartOfHourMapper,
    StartOfDayMapper,
    StartOfWeekMapper,
    StartOfMonthMapper,
    StartOfQuarterMapper,
    StartOfYearMapper,
]
KEY = "2026-03-10T09:37:51"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class TestTheFamily:
    """Slide 59 of the talk."""

    @pytest.mark.parametrize(
        ("mapper", "key", "date"),
        [
            (StartOfMinuteMapper(), "2026-03-10T09:37", "2026-03-10T09:37"),
            (StartOfHourMapper(), "2026-03-10T09", "2026-03-10T09:00"),
            (StartOfDayMapper(), "2026-03-10", "2026-03-10T00:00"),
            (StartOfWeekMapper(), "2026-03-09 (W11)", "2026-03-09T00:00"),
            (StartOfMonthMapper(), "2026-03", "2026-03-01T00:00"),
            (StartOfQuarterMapper(), "2026-Q1", "2026-01-01T00:00"),
            (StartOfYearMapper(), "2026", "2026-01-01T00:00"),
            (StartOfWeekMapper(week_start="sunday"), "2026-03-08 (W10)", "2026-03-08T00:00"),
            (StartOfWeekMapper(output_format="%G-W%V"), "2026-W11", "2026-03-09T00:00"),
            (StartOfQuarterMapper(output_format="Q{quarter} %Y"), "Q1 2026", "2026-01-01T00:00"),
            (StartOfMonthMapper(output_format="%B %Y"), "March 2026", "2026-03-01T00:00"),
            (StartOfYearMapper(output_format="%Y-%m-%d"), "2026-01-01", "2026-01-01T00:00"),
            (StartOfHourMapper(timezone="Asia/Taipei"), "2026-03-10T09", "2026-03-10T01:00"),
        ],
    )
    def test_maps_one_instant_to_the_start_of_its_period(self, mapper, key, date):
        assert mapper.to_downstream(KEY) == (key,)
        assert mapper.partition_date(key) == datetime.fromisoformat(date).replace(tzinfo=UTC)

    @pytest.mark.parametrize("cls", ALL)
    def test_waits_for_nothing(self, cls):
        mapper = cls()
        assert mapper.is_one_to_one
        assert not mapper.is_rollup
        assert mapper.required(mapper.to_downstream(KEY)[0]) is None

    @pytest.mark.parametrize("cls", ALL)
    @given(moment=st.datetimes(datetime(1971, 1, 1), datetime(2060, 1, 1)))
    def test_maps_its_representative_back(self, cls, moment):
        mapper = cls()
        (key,) = mapper.to_downstream(moment.replace(microsecond=0).isoformat())
        assert mapper.to_downstream(mapper.representative(key)) == (key,)

    @pytest.mark.parametrize("cls", ALL)
    def test_shows_examples_of_its_keys(self, cls):
        mapper = cls(timezone="America/New_York")
        for sample in mapper.samples():
            assert mapper.partition_date(sample) is not None


class TestWeeks:
    """TC-23."""

    @pytest.mark.parametrize(
        ("day", "label"),
        [
            ("2024-12-30", "2024-12-30 (W01)"),
            ("2026-01-01", "2025-12-29 (W01)"),
            ("2026-12-31", "2026-12-28 (W53)"),
            ("2027-01-01", "2026-12-28 (W53)"),
            ("2027-01-04", "2027-01-04 (W01)"),
        ],
    )
    def test_are_labelled_by_their_monday(self, day, label):
        assert StartOfWeekMapper(input_format="%Y-%m-%d").to_downstream(day) == (label,)

    def test_of_a_format_without_the_iso_year_are_refused(self):
        with pytest.raises(InvalidDefinition) as refusal:
            StartOfWeekMapper(output_format="%Y-W%V")
        assert refusal.value.path == "output_format"

    def test_from_sunday_have_no_iso_name(self):
        with pytest.raises(InvalidDefinition, match="several weeks one name"):
            StartOfWeekMapper(week_start="sunday", output_format="%G-W%V")

    @pytest.mark.parametrize("key", ["2024-03-13 (W11)", "2024-03-11 (W99)", "2024-03-11"])
    def test_are_read_only_as_they_are_written(self, key):
        with pytest.raises(InvalidKey):
            StartOfWeekMapper().partition_date(key)


class TestAnInputWithAnOffset:
    FORMAT = "%Y-%m-%dT%H:%M:%S%z"

    @pytest.mark.parametrize(
        ("key", "hour"),
        [
            ("2024-03-10T06:59:59+0000", "2024-03-10T01"),
            ("2024-03-10T07:00:00+0000", "2024-03-10T03"),
            ("2024-01-01T02:00:00+0900", "2023-12-31T12"),
            ("2024-10-27T00:30:00Z", "2024-10-26T20"),
            ("2024-10-27T01:30:00+00:00", "2024-10-26T21"),
            ("2024-11-03T05:30:00+0000", "2024-11-03T01"),
            ("2024-11-03T06:30:00+0000", "2024-11-03T01"),
        ],
    )
    def test_is_converted_to_the_zone_first(self, key, hour):
        mapper = StartOfHourMapper(timezone="America/New_York", input_format=self.FORMAT)
        assert mapper.to_downstream(key) == (hour,)

    def test_keeps_repeated_hours_apart_in_an_output_with_one(self):
        mapper = StartOfHourMapper("America/New_York", self.FORMAT, "%Y-%m-%dT%H%z")
        assert mapper.to_downstream("2024-11-03T05:30:00+0000") == ("2024-11-03T01-0400",)
        assert mapper.to_downstream("2024-11-03T06:30:00+0000") == ("2024-11-03T01-0500",)
        assert mapper.partition_date("2024-11-03T01-0500") == datetime(2024, 11, 3, 6, tzinfo=UTC)


class TestTimesThatClocksSkip:
    @pytest.mark.parametrize("key", ["2026-03-08T02:00:00", "2026-03-08T02:59:59"])
    def test_are_no_hour(self, key):
        with pytest.raises(CannotMap, match="clocks skip that hour"):
            StartOfHourMapper(timezone="America/New_York").to_downstream(key)

    def test_still_lie_in_their_day(self):
        mapper = StartOfDayMapper(timezone="America/New_York")
        assert mapper.to_downstream("2026-03-08T02:30:00") == ("2026-03-08",)

    @pytest.mark.parametrize("output", [None, "%Y%m%d"])
    def test_can_be_a_whole_day(self, output):
        mapper = StartOfDayMapper(timezone="Pacific/Apia", output_format=output)
        with pytest.raises(CannotMap, match="clocks skip that day"):
            mapper.to_downstream("2011-12-30T12:00:00")

    def test_may_leave_half_an_hour(self):
        mapper = StartOfHourMapper(timezone="Australia/Lord_Howe")
        assert mapper.to_downstream("2024-10-06T02:45:00") == ("2024-10-06T02",)
        assert mapper.to_downstream("2024-10-06T02:00:00") == ("2024-10-06T02",)


class TestAKeyThatIsNoTime:
    @pytest.mark.parametrize(
        "key",
        [
            *("", " ", "2024", "2024-03-13", "2024-02-30T00:00:00", "2024-01-01T24:00:00", "not-a-date"),
            *(
                "us|2024-03-13T10:42:15",
                "2024-03-13T10:42:15Z",
                "2024-03-13T10:42:15.123",
                "10000-01-01T00:00:00",
            ),
            *("%Y-%m-%dT%H:%M:%S", "x" * 300),
            None,
        ],
    )
    @pytest.mark.parametrize("mapper", [StartOfHourMapper(), StartOfMonthMapper(timezone="Europe/Berlin")])
    def test_is_a_mapping_problem(self, mapper, key):
        with pytest.raises(CannotMap):
            mapper.to_downstream(key)

    def test_is_told_the_form(self):
        with pytest.raises(CannotMap, match="'tw' is not a key of the form %Y-%m-%dT%H:%M:%S"):
            StartOfDayMapper().to_downstream("tw")


class TestUpstreamKeys:
    def test_are_known_where_they_are_as_coarse_as_the_period(self):
        mapper = StartOfMonthMapper(input_format="%Y-%m", output_format="%Y%m")
        assert mapper.upstream_keys("202603") == ("2026-03",)

    def test_are_not_where_they_are_finer(self):
        assert StartOfDayMapper().upstream_keys("2026-03-10") is None
        assert StartOfDayMapper(input_format="%Y-%m-%d%z").upstream_keys("2026-03-10") is None


@given(
    st.sampled_from(ALL),
    st.sampled_from(["UTC", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Europe/Berlin"]),
    st.datetimes(datetime(1971, 1, 1), datetime(2036, 1, 1)),
)
def test_the_period_of_a_key_holds_its_instant(cls, name, moment):
    """Mapping by text and mapping by arithmetic are one."""
    mapper = cls(timezone=name, input_format="%Y-%m-%dT%H:%M:%S%z", output_format="%Y-%m-%dT%H:%M:%S%z")
    instant = moment.replace(microsecond=0, tzinfo=UTC)
    (key,) = mapper.to_downstream(instant.strftime("%Y-%m-%dT%H:%M:%S+0000"))
    assert mapper.partition_date(key) <= instant
    assert mapper.to_downstream(key) == (key,)


@given(st.sampled_from(ALL), st.datetimes(datetime(1971, 1, 1), datetime(2060, 1, 1)))
def test_a_short_cut_says_what_the_long_way_says(cls, moment):
    """ISO keys in UTC are cut; the same mapper in another zone without changes computes."""
    key = moment.replace(microsecond=0).isoformat()
    assert cls().to_downstream(key) == cls(timezone="Etc/GMT+3").to_downstream(key)
