"""The example of a timetable of one's own."""

from datetime import UTC, datetime

import pytest

from scheduling.algebra import specs
from scheduling.algebra.errors import InvalidDefinition, InvalidKey
from scheduling.algebra.registry import find
from scheduling.examples.plugins.landings import LandingTimetable

MORNINGS = LandingTimetable("0 6-9 * * 1-5", timezone="Europe/Berlin", looks_for="the sales file")


class TestLandingTimetable:
    def test_is_known_by_its_name(self):
        assert find("LandingTimetable", "timetable") is LandingTimetable

    def test_is_stored_like_any_other(self):
        spec = specs.dump(MORNINGS)
        assert spec["looks_for"] == "the sales file"
        assert specs.load(spec, "timetable") == MORNINGS

    def test_ticks_without_a_key(self):
        ticks = list(MORNINGS.ticks(datetime(2026, 3, 9, tzinfo=UTC), datetime(2026, 3, 10, tzinfo=UTC)))
        assert [(tick.at.hour, tick.partition_key) for tick in ticks] == [
            (5, None),
            (6, None),
            (7, None),
            (8, None),
        ]

    def test_leaves_the_key_to_the_run(self):
        assert (MORNINGS.partitioned, MORNINGS.at_runtime) == (False, True)
        assert MORNINGS.accept_key("2026-03-09") == "2026-03-09"
        with pytest.raises(InvalidKey):
            MORNINGS.accept_key("")

    def test_says_what_it_is_for(self):
        hourly = LandingTimetable("0 * * * *")
        assert hourly.words() == "every hour (UTC), to look for new data"

    @pytest.mark.parametrize(
        ("fields", "path"), [({"looks_for": " "}, "looks_for"), ({"timezone": "X"}, "timezone")]
    )
    def test_refuses_what_cannot_work(self, fields, path):
        with pytest.raises(InvalidDefinition) as refusal:
            LandingTimetable("@daily", **fields)
        assert refusal.value.path == path

    def test_a_stored_one_has_its_cron_read(self):
        with pytest.raises(InvalidDefinition) as refusal:
            specs.load({"type": "LandingTimetable", "cron": "no cron"}, "timetable")
        assert refusal.value.path == "cron"
