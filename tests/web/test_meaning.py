"""What a typed key means, said beside it before the form is sent."""

import pytest

from scheduling import runs
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import (
    ALICE,
    HOURS_TO_DAY,
    LOCAL_DAY,
    NOW,
    RUNTIME,
    consumer,
    emit,
    hours,
    turn,
)
from tests.web.reading import read

pytestmark = pytest.mark.django_db


class TestMeaning:
    def test_a_key_is_said_in_words(self, visitor):
        world.dag("nightly", LOCAL_DAY)
        assert (
            "Tuesday 10 March 2026" in read(visitor.part("/meaning?dag=nightly&key=2026-03-10", "means")).text
        )

    def test_the_zone_is_that_of_the_mapper(self, visitor):
        day = {
            **HOURS_TO_DAY,
            "upstream_mapper": {"type": "StartOfDayMapper", "timezone": "America/Los_Angeles"},
        }
        consumer("sum", {"hourly": day})
        text = read(visitor.part("/meaning?dag=sum&key=2026-03-10", "means")).text
        assert "Tuesday 10 March 2026 (America/Los_Angeles)" in text

    @pytest.mark.parametrize(
        ("key", "words", "is_good"),
        [
            ("2025-03-10T03", "Monday 10 March 2025, 03:00 America/Los_Angeles", True),
            ("rubbish", "It is none of the keys that hours, which fill writes, should have.", False),
            ("2999-03-11T02", "Its period has not begun yet.", False),
        ],
    )
    def test_where_runs_name_their_keys_it_is_what_the_asset_says(self, visitor, key, words, is_good):
        hours = {"type": "TimePartitions", "cadence": "hour", "timezone": "America/Los_Angeles"}
        world.asset("hours", partitions=hours | {"start": "2025-03-01", "key_format": "%Y-%m-%dT%H"})
        world.dag("fill", RUNTIME, writes=["hours"])
        page = read(visitor.part(f"/meaning?dag=fill&key={key}", "means"))
        assert words in page.text
        assert (page.elements[0].attributes["class"] == "means good") == is_good
        assert "without a time" not in page.text

    def test_nothing_is_said_of_a_key_of_which_nobody_knows(self, visitor):
        world.dag("fill", RUNTIME)
        page = read(visitor.part("/meaning?dag=fill&key=2026-03-10", "means"))
        assert (page.text, page.elements[0].attributes["class"]) == ("", "means")

    def test_a_wrong_key_is_refused_with_the_right_form(self, visitor):
        world.dag("nightly", LOCAL_DAY)
        page = read(visitor.part("/meaning?dag=nightly&key=10.3.2026", "means"))
        assert "%Y-%m-%d" in page.elements[0].attributes["data-wrong"]
        assert page.elements[0].attributes["class"] == "means wrong"

    def test_a_key_that_ran_already_says_how(self, visitor):
        run = runs.trigger(world.dag("nightly", LOCAL_DAY), Ask("2026-03-10"), deed=ALICE, at=NOW)
        page = read(visitor.part("/meaning?dag=nightly&key=2026-03-10", "means"))
        assert page.links["its latest run is queued"] == f"/runs/{run.pk}"

    def test_a_key_that_is_done_says_since_when(self, visitor):
        daily = world.dag("nightly", LOCAL_DAY, writes=["daily"])
        run = runs.trigger(daily, Ask("2026-03-10"), deed=ALICE, at=NOW)
        world.finish(world.start(run), "daily")
        page = read(visitor.part("/meaning?dag=nightly&key=2026-03-10", "means"))
        assert "already succeeded at 2026-03-11 09:10:00 UTC" in page.text

    def test_a_held_key_asks_whether_the_run_settles_it(self, visitor):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours("2026-03-10", 1))
        turn()
        page = read(visitor.part("/meaning?dag=sum&key=2026-03-10", "means"))
        assert page.fields["settle"] == "yes"
        assert "checked" in page.all("input", type="checkbox")[0].attributes

    @pytest.mark.parametrize(
        ("key", "words"),
        [
            ("2030-01-01T00:00", "Tuesday 1 January 2030, 00:00 UTC"),
            ("2030-01-01T05:33", "Tuesday 1 January 2030, 05:33 UTC"),
        ],
    )
    def test_a_key_with_a_time_says_it_at_midnight_too(self, visitor, key, words):
        minutes = {"type": "CronPartitionTimetable", "cron": "* * * * *", "key_format": "%Y-%m-%dT%H:%M"}
        world.dag("minutely", minutes)
        assert words in read(visitor.part(f"/meaning?dag=minutely&key={key}", "means")).text

    def test_nothing_typed_means_nothing(self, visitor):
        world.dag("nightly", LOCAL_DAY)
        page = read(visitor.part("/meaning?dag=nightly&key=", "means"))
        assert (page.text, page.elements[0].attributes["class"]) == ("", "means")
