"""Keys of times that clocks repeat or skip."""

from datetime import UTC, datetime, timedelta

import pytest

from scheduling.algebra.errors import InvalidKey
from scheduling.algebra.keys import KeyFormat
from scheduling.algebra.periods import zone

NEW_YORK, SANTIAGO, APIA = zone("America/New_York"), zone("America/Santiago"), zone("Pacific/Apia")


class TestTimesThatClocksRepeat:
    """TC-04."""

    def test_have_two_keys_with_an_offset(self):
        form = KeyFormat("%Y-%m-%dT%H:%M%z")
        first, second = datetime(2026, 11, 1, 5, tzinfo=UTC), datetime(2026, 11, 1, 6, tzinfo=UTC)
        assert form.format(first, NEW_YORK) == "2026-11-01T01:00-0400"
        assert form.format(second, NEW_YORK) == "2026-11-01T01:00-0500"
        assert form.parse("2026-11-01T01:00-0400", NEW_YORK) == first
        assert form.parse("2026-11-01T01:00-0500", NEW_YORK) == second

    def test_of_los_angeles_are_four_different_hours(self):
        form, found = KeyFormat("%Y-%m-%dT%H:%M%z"), zone("America/Los_Angeles")
        keys = [form.format(datetime(2023, 11, 5, hour, tzinfo=UTC), found) for hour in (7, 8, 9, 10)]
        assert [key[11:] for key in keys] == ["00:00-0700", "01:00-0700", "01:00-0800", "02:00-0800"]

    def test_have_one_key_without_and_it_is_the_first(self):
        form = KeyFormat("%Y-%m-%dT%H:%M:%S")
        assert form.parse("2026-11-01T01:00:00", NEW_YORK) == datetime(2026, 11, 1, 5, tzinfo=UTC)

    def test_typed_bare_are_ambiguous_and_both_are_offered(self):
        with pytest.raises(InvalidKey, match=r"ambiguous .* 2026-11-01T01:00-0400 or 2026-11-01T01:00-0500"):
            KeyFormat("%Y-%m-%dT%H:%M%z").parse("2026-11-01T01:00", NEW_YORK)

    def test_are_the_only_ones_offered_twice(self):
        with pytest.raises(InvalidKey, match="lacks its offset from UTC; write 2026-12-01T01:00-0500"):
            KeyFormat("%Y-%m-%dT%H:%M%z").parse("2026-12-01T01:00", NEW_YORK)

    def test_with_the_offset_of_another_zone_are_told_their_own(self):
        with pytest.raises(InvalidKey, match="is written 2026-11-01T01:00-0400 in America/New_York"):
            KeyFormat("%Y-%m-%dT%H:%M%z").parse("2026-11-01T05:00+0000", NEW_YORK)


class TestTimesThatClocksSkip:
    @pytest.mark.parametrize("text", ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M%z"])
    def test_do_not_exist(self, text):
        with pytest.raises(InvalidKey, match="does not exist in America/New_York"):
            KeyFormat(text).parse("2026-03-08T02:00", NEW_YORK)

    def test_do_not_take_their_day_along(self):
        """TC-02: the key stays the date, though its midnight never was."""
        assert KeyFormat("%Y-%m-%d").parse("2026-09-06", SANTIAGO) == datetime(2026, 9, 6, 4, tzinfo=UTC)

    def test_can_be_a_whole_day(self):
        """TC-03."""
        with pytest.raises(InvalidKey, match="does not exist in Pacific/Apia"):
            KeyFormat("%Y-%m-%d").parse("2011-12-30", APIA)

    def test_may_be_half_an_hour(self):
        """The hour from 02:30 on is there, under the name of its hour."""
        lord_howe, form = zone("Australia/Lord_Howe"), KeyFormat("%Y-%m-%dT%H")
        begins = datetime(2024, 10, 5, 15, 30, tzinfo=UTC)
        assert form.parse("2024-10-06T02", lord_howe) == begins
        assert form.format(begins + timedelta(minutes=29), lord_howe) == "2024-10-06T02"
        assert KeyFormat("%Y-%m-%dT%H%z").format(begins, lord_howe) == "2024-10-06T02+1030"
