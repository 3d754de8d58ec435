"""What a typed key means to an asset, and when to ask whether somebody means it."""

import pytest

from core.models import Asset, Dag
from scheduling import asset_keys, meaning
from scheduling.algebra import specs
from scheduling.algebra.errors import InvalidKey
from scheduling.asset_keys import AssetKey
from scheduling.sdk import DailyPartitions
from tests.engine import world
from tests.engine.world import DAILY, HOURS_TO_DAY, NOW, RUNTIME, asset

pytestmark = pytest.mark.django_db
NOT_BEGUN = "its period has not begun yet"
HOURS = {
    "type": "TimePartitions",
    "cadence": "hour",
    "start": "2010-01-01",
    "timezone": "America/Los_Angeles",
    "key_format": "%Y-%m-%dT%H",
}
BY_CITY = {
    "type": "MultiPartitions",
    "dimensions": [
        {"name": "city", "partitions": {"type": "StaticPartitions", "keys": ["seattle"]}},
        {"name": "hour", "partitions": HOURS},
    ],
}


def meant(row: Asset, key: str) -> AssetKey:
    return asset_keys.of_key(row, key, now=NOW)


class TestByItsDefinition:
    def test_the_time_of_a_composite_key_is_said_in_its_zone(self):
        found = meant(asset("hourly", partitions=BY_CITY), "seattle|2010-03-14T03")
        assert (found.words, found.doubt) == ("Sunday 14 March 2010, 03:00 America/Los_Angeles", "")

    @pytest.mark.parametrize("key", ["rubbish", "seattle|2010-3-14T03", "tacoma|2010-03-14T03"])
    def test_what_is_none_of_its_keys_has_a_doubt_and_no_words(self, key):
        found = meant(asset("hourly", partitions=BY_CITY), key)
        assert found.words == ""
        assert found.doubt.startswith("it is none of the keys that hourly should have: ")

    @pytest.mark.parametrize(
        ("key", "doubt"),
        [
            ("2026-03-11T01", ""),
            ("2026-03-11T02", "its period is not over yet"),
            ("2026-03-11T03", NOT_BEGUN),
        ],
    )
    def test_a_period_that_is_to_come_has_one_too(self, key, doubt):
        assert meant(asset("hourly", partitions=HOURS), key).doubt == doubt

    @pytest.mark.parametrize(("key", "doubt"), [("2026-03-12", ""), ("2026-03-13", NOT_BEGUN)])
    def test_a_period_to_come_that_is_expected_has_none(self, key, doubt):
        ahead = specs.dump(DailyPartitions("2026-03-01", end_offset=2))
        world.dag("plan", DAILY, writes=["plans"])
        Asset.objects.filter(name="plans").update(partitions=ahead)
        assert meant(asset("plans"), key).doubt == doubt
        assert meaning.of_key(Dag.objects.get(), key, now=NOW).doubts == ((doubt,) if doubt else ())

    def test_a_key_without_time_is_one_of_its_keys(self):
        stores = asset("stores", partitions={"type": "StaticPartitions", "keys": ["north"]})
        assert meant(stores, "north") == AssetKey("one of the keys of stores")

    def test_a_definition_that_cannot_be_read_says_nothing(self):
        assert meant(asset("odd", partitions={"type": "Unheard"}), "x") == AssetKey()


class TestByItsProducer:
    def test_reads_it_as_the_producer_does(self):
        world.dag("nightly", {**DAILY, "timezone": "Europe/Ljubljana"}, writes=["daily"])
        assert meant(asset("daily"), "2026-03-10").words == "Tuesday 10 March 2026 (Europe/Ljubljana)"
        assert meant(asset("daily"), "10.3.2026").doubt.startswith("nightly, which writes daily, has no such")

    def test_of_two_one_that_can_read_it_is_enough(self):
        world.dag("hand", DAILY, writes=["daily"])
        world.consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        assert meant(asset("daily"), "2026-03-10").doubt == ""

    def test_where_runs_name_their_keys_nobody_knows(self):
        world.dag("fill", RUNTIME, writes=["shelves"])
        assert meant(asset("shelves"), "anything") == AssetKey()


def test_what_can_be_no_key_at_all_is_refused():
    with pytest.raises(InvalidKey):
        meant(asset("hourly"), " x")
