"""Look-back windows, declared once and derived both ways."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.errors import CannotMap, InvalidDefinition, InvalidKey
from scheduling.algebra.policies import MinimumCount, WaitForAll
from scheduling.algebra.sliding import SlidingWindowMapper

DAILY = "%Y-%m-%d"


class TestSevenDaysBack:
    def test_needs_eight_days(self):
        mapper = SlidingWindowMapper(member="day", before=7, input_format=DAILY)
        assert mapper.required("2026-03-10") == tuple(f"2026-03-{day:02}" for day in range(3, 11))
        assert mapper.is_rollup
        assert mapper.wait_policy == WaitForAll()
        assert mapper.member_noun == "days"
        assert mapper.partition_date("2026-03-10") == datetime(2026, 3, 10, tzinfo=UTC)

    def test_feeds_eight_days(self):
        mapper = SlidingWindowMapper(member="day", before=7, input_format=DAILY)
        assert mapper.to_downstream("2026-03-10") == tuple(f"2026-03-{day:02}" for day in range(10, 18))

    def test_is_not_cut_at_the_turn_of_a_year(self):
        assert SlidingWindowMapper(before=7, input_format=DAILY).required("2026-01-03")[0] == "2025-12-27"

    def test_counts_any_time_of_a_day_as_the_day(self):
        mapper = SlidingWindowMapper(before=1)
        assert mapper.counts_as("2026-03-10T09:37:51") == "2026-03-10T00:00:00"
        assert mapper.counts_as("2026-03-10T09:37:51") in mapper.required("2026-03-11")
        assert mapper.to_downstream("2026-03-10T09:37:51") == ("2026-03-10", "2026-03-11")

    def test_is_the_default(self):
        assert SlidingWindowMapper() == SlidingWindowMapper("day", 7, 0)


class TestOtherMembers:
    @pytest.mark.parametrize(
        ("mapper", "key", "required"),
        [
            (
                SlidingWindowMapper("day", 1, 1, input_format=DAILY),
                "2026-03-01",
                ("2026-02-28", "2026-03-01", "2026-03-02"),
            ),
            (SlidingWindowMapper("day", 0, 0, input_format=DAILY), "2026-03-01", ("2026-03-01",)),
            (
                SlidingWindowMapper("month", 2, input_format="%Y-%m"),
                "2026-01",
                ("2025-11", "2025-12", "2026-01"),
            ),
            (
                SlidingWindowMapper("quarter", 1, input_format="%Y-Q{quarter}"),
                "2026-Q1",
                ("2025-Q4", "2026-Q1"),
            ),
            (SlidingWindowMapper("year", 1, input_format="%Y"), "2026", ("2025", "2026")),
            (
                SlidingWindowMapper("week", 1, input_format="%G-W%V", output_format="%G-W%V"),
                "2026-W01",
                ("2025-W52", "2026-W01"),
            ),
            (
                SlidingWindowMapper("hour", 2, input_format="%Y-%m-%dT%H"),
                "2026-03-10T01",
                ("2026-03-09T23", "2026-03-10T00", "2026-03-10T01"),
            ),
            (
                SlidingWindowMapper("minute", 1, input_format="%Y-%m-%dT%H:%M"),
                "2026-03-10T00:00",
                ("2026-03-09T23:59", "2026-03-10T00:00"),
            ),
        ],
    )
    def test_step_by_their_own_length(self, mapper, key, required):
        assert mapper.required(key) == required

    def test_may_be_weeks_from_sunday(self):
        mapper = SlidingWindowMapper("week", 1, week_start="sunday", input_format=DAILY)
        assert mapper.required("2026-03-08 (W10)") == ("2026-03-01", "2026-03-08")


class TestTheCalendar:
    def test_skips_days_that_never_were(self):
        mapper = SlidingWindowMapper(before=2, timezone="Pacific/Apia", input_format=DAILY)
        assert mapper.required("2011-12-31") == ("2011-12-28", "2011-12-29", "2011-12-31")
        with pytest.raises(CannotMap, match="clocks skip that day"):
            mapper.to_downstream("2011-12-30")
        with pytest.raises(InvalidKey):
            mapper.required("2011-12-30")

    def test_steps_over_hours_that_clocks_skip(self):
        mapper = SlidingWindowMapper("hour", 1, timezone="America/New_York", input_format="%Y-%m-%dT%H")
        assert mapper.required("2026-03-08T03") == ("2026-03-08T01", "2026-03-08T03")

    def test_tells_repeated_hours_apart_where_the_format_can(self):
        form = "%Y-%m-%dT%H%z"
        mapper = SlidingWindowMapper(
            "hour", 1, timezone="America/New_York", input_format=form, output_format=form
        )
        assert mapper.required("2026-11-01T01-0500") == ("2026-11-01T01-0400", "2026-11-01T01-0500")
        assert mapper.to_downstream("2026-11-01T01-0400") == ("2026-11-01T01-0400", "2026-11-01T01-0500")
        assert mapper.counts_as("2026-11-01T06+0000") == "2026-11-01T01-0500"

    def test_takes_repeated_hours_together_where_it_cannot(self):
        mapper = SlidingWindowMapper("hour", 1, timezone="America/New_York", input_format="%Y-%m-%dT%H")
        assert mapper.required("2026-11-01T01") == ("2026-11-01T00", "2026-11-01T01")
        assert mapper.to_downstream("2026-11-01T01") == ("2026-11-01T01", "2026-11-01T02")
        (warning,) = mapper.warnings(datetime(2026, 1, 1, tzinfo=UTC))
        assert "come twice" in warning

    @pytest.mark.parametrize("key", ["0001-01-03", "9999-12-31"])
    def test_has_an_end(self, key):
        mapper = SlidingWindowMapper(before=7, after=7, input_format=DAILY)
        with pytest.raises(InvalidKey, match="beyond the calendar"):
            mapper.required(key)
        with pytest.raises(CannotMap, match="beyond the calendar"):
            mapper.to_downstream(key)


class TestADefinition:
    @pytest.mark.parametrize(
        ("fields", "path"),
        [
            ({"member": "fortnight"}, "member"),
            ({"before": -1}, "before"),
            ({"before": 1.5}, "before"),
            ({"before": True}, "before"),
            ({"before": 10**6}, "before"),
            ({"after": "1"}, "after"),
            ({"timezone": "Mars/X"}, "timezone"),
            ({"week_start": "friday"}, "week_start"),
            ({"input_format": "%Y-%m"}, "input_format"),
            ({"output_format": "%Y"}, "output_format"),
            ({"input_format": "%d"}, "input_format"),
            ({"wait_policy": None}, "wait_policy"),
            ({"wait_policy": MinimumCount(9)}, "wait_policy"),
            ({"max_downstream_keys": 0}, "max_downstream_keys"),
        ],
    )
    def test_that_cannot_work_names_the_field(self, fields, path):
        with pytest.raises(InvalidDefinition) as refusal:
            SlidingWindowMapper(**fields)
        assert refusal.value.path == path

    def test_may_be_content_with_fewer(self):
        assert SlidingWindowMapper(wait_policy=MinimumCount(8)).wait_policy == MinimumCount(8)

    @pytest.mark.parametrize("key", ["tw", "2026-3-1", "", "2026-03-10T00:00:00"])
    def test_reads_only_its_keys(self, key):
        mapper = SlidingWindowMapper(input_format=DAILY)
        with pytest.raises(CannotMap):
            mapper.to_downstream(key)
        with pytest.raises(InvalidKey):
            mapper.required(key)
        assert mapper.counts_as(key) == key

    def test_shows_examples_of_its_keys(self):
        assert SlidingWindowMapper().samples()[0] == "2026-01-10"


@given(
    st.dates(date(1990, 1, 1), date(2060, 1, 1)),
    st.integers(0, 9),
    st.integers(0, 4),
    st.integers(-12, 12),
    st.sampled_from(["UTC", "America/Santiago", "Asia/Kolkata"]),
)
def test_required_and_to_downstream_are_each_others_inverse(day, before, after, distance, name):
    mapper = SlidingWindowMapper("day", before, after, timezone=name, input_format=DAILY)
    upstream, downstream = day.isoformat(), (day + timedelta(days=distance)).isoformat()
    assert (upstream in mapper.required(downstream)) == (downstream in mapper.to_downstream(upstream))
    assert (upstream in mapper.required(downstream)) == (-after <= distance <= before)


@given(
    st.integers(-400, 400),
    st.integers(0, 3),
    st.integers(-400, 400),
    st.sampled_from(["%Y-%m-%dT%H", "%Y-%m-%dT%H%z"]),
)
def test_so_they_are_around_a_change_of_clocks(minutes, before, others, form):
    mapper = SlidingWindowMapper(
        "hour", before, timezone="America/New_York", input_format=form, output_format=form
    )
    change = datetime(2026, 11, 1, 6, tzinfo=UTC)
    upstream, downstream = (
        mapper.slide.input.format(change + timedelta(minutes=each), mapper.slide.keys.zone)
        for each in (minutes, others)
    )
    assert (mapper.counts_as(upstream) in mapper.required(downstream)) == (
        downstream in mapper.to_downstream(upstream)
    )
