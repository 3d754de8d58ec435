"""The shapes in which partitions are drawn, and what a square tells."""

import pytest

from core.models import Partition
from scheduling import runs
from scheduling.algebra import specs
from scheduling.runs import Ask
from scheduling.sdk import (
    DailyPartitions,
)
from tests.engine import world
from tests.engine.world import ALICE, NOW, asset, emit
from tests.web.reading import read, squares

pytestmark = pytest.mark.django_db


class TestShapes:
    def test_days_are_a_calendar(self, visitor):
        asset("daily", partitions=specs.dump(DailyPartitions("2026-03-01", "2026-03-05")))
        assert squares(read(visitor.get("/assets/daily")))["2026-03-04: missing"] == "?key=2026-03-04"

    def test_plain_keys_stand_beside_their_squares(self, visitor):
        emit("sizes", "small", "large")
        page = read(visitor.get("/assets/sizes"))
        assert [each.text for each in page.all("a", class_="key")] == ["large", "small"]
        assert squares(page) == {"large: materialized": "?key=large", "small: materialized": "?key=small"}

    def test_two_segments_are_a_matrix(self, visitor):
        emit("prices", "tw|s", "tw|m", "jp|s")
        found = squares(read(visitor.get("/assets/prices")))
        assert found["tw|m: materialized"] == "?key=tw%7Cm"

    def test_an_asset_without_partitions_is_told_how_to_get_one(self, visitor):
        asset("daily")
        page = read(visitor.get("/assets/daily"))
        assert "No partitions yet" in page.text
        assert "/api/v2/assets/events" in page.text

    def test_a_key_outside_the_calendar_is_named(self, visitor):
        emit("daily", *(f"2026-03-0{day}" for day in range(1, 9)), "oops")
        page = read(visitor.get("/assets/daily"))
        assert "Keys outside this calendar" in page.text
        assert page.links["oops"] == "?key=oops"


class TestReadout:
    """What one sees of a square under the pointer, asked for when somebody rests on it."""

    def test_tells_age_attempt_and_numbers(self, visitor):
        made = world.dag("nightly", {"type": "PartitionedAtRuntime"}, writes=["daily"])
        run = runs.trigger(made, Ask("2026-03-09"), deed=ALICE, at=NOW)
        world.finish(world.start(run), "daily")
        Partition.objects.update(extra={"rows": 1200, "is_whole": True, "stats": {"mean": 2.5}, "by": "<b>"})
        page = read(visitor.part("/assets/daily?key=2026-03-09", "readout"))
        assert {each.tag for each in page.elements} == {"span", "time", "b"}
        words = [each.text for each in page.all("span")]
        assert words[0].startswith("data ")
        assert words[1:] == ["latest attempt success, nightly, took 0 ms", "rows 1,200", "stats.mean 2.5"]

    def test_of_what_never_came_says_so(self, visitor):
        asset("daily")
        page = read(visitor.part("/assets/daily?key=2026-03-09", "readout"))
        assert page.text == "nothing has come"
