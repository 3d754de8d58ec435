"""What consumers can make of the keys that their producers emit, known before the first event."""

import pytest

from tests.engine import world
from tests.sdk.problematic import DAILY, HOURLY, consumer, definer
from tests.sdk.writing import LATER, dag, sentences

pytestmark = pytest.mark.django_db


@pytest.fixture
def define(directory):
    return definer(directory)


class TestHoursLost:
    """A mapper without %z, in the range of the keys that it maps."""

    def night(self, define, last: str) -> list[str]:
        define(
            f"""
            @asset(schedule=None, partitions=HourlyPartitions("2010-01-01", "{last}",
                timezone="America/Los_Angeles", key_format="%Y-%m-%dT%H:%M:%S"))
            def hourly(self): ...
            """,
            consumer("hourly", 'StartOfDayMapper(timezone="America/Los_Angeles")'),
        )
        told = [each for each in dag("c").problems if each["code"] == "hours-lost"]
        return [each["sentence"].partition(" the times from ")[2][:10] for each in told]

    def test_are_warned_of_in_the_range_of_what_it_listens_to(self, define):
        assert self.night(define, "2011-01-01") == ["2010-11-07"]

    def test_are_not_where_that_range_loses_none(self, define):
        assert self.night(define, "2010-11-01") == []


class TestKeysOfProducers:
    def test_that_meet_are_no_problem(self, define):
        define(HOURLY, DAILY, consumer("hourly & daily", "StartOfDayMapper()", "{daily: IdentityMapper()}"))
        assert dag("c").problems == []

    def test_that_cannot_meet_are_an_error_before_the_first_event(self, define):
        define(HOURLY, DAILY, consumer("hourly & daily"))
        [sentence] = sentences("c")
        assert "can never equal" in sentence
        assert "hourly" in sentence
        assert "daily" in sentence

    def test_that_one_alternative_has_are_no_error(self, define):
        define(HOURLY, DAILY, consumer("hourly | daily"))
        assert sentences("c") == []

    def test_that_a_rollup_never_gets_are_an_error(self, define):
        """A day needs 24 hours; at a quarter past there are none that are exactly the hour."""
        define(
            HOURLY.replace("0 * * * *", "15 * * * *"),
            consumer("hourly", "RollupMapper(StartOfDayMapper(), DayWindow())"),
        )
        [sentence] = sentences("c")
        assert "hourly, which never emits it but" in sentence

    def test_that_a_rollup_gets_are_no_problem(self, define):
        define(HOURLY, consumer("hourly", "RollupMapper(StartOfDayMapper(), DayWindow())"))
        assert dag("c").problems == []

    def test_that_a_mapper_cannot_read_are_an_error(self, define):
        define(DAILY, consumer("daily", "StartOfDayMapper()"))
        [sentence] = sentences("c")
        assert sentence.startswith("daily emits keys that StartOfDayMapper cannot read: ")

    def test_that_map_to_more_than_are_queued_are_an_error(self, define, settings):
        mapper = 'SlidingWindowMapper("day", before=7)'
        define(HOURLY, consumer("hourly", mapper))
        assert dag("c").problems == []
        settings.PARTITION_MAPPER_MAX_DOWNSTREAM_KEYS = 7
        define(HOURLY, consumer("hourly", mapper), at=LATER)
        assert "maps to 8 downstream keys, over the limit of 7: none is queued" in sentences("c")[0]

    def test_are_told_by_the_partitions_of_an_asset_rather_than_by_its_producer(self, define):
        define(
            """
            regions = Asset("regions", partitions=StaticPartitions(["tw", "jp"]))
            with DAG("ingest", schedule=PartitionedAtRuntime()):
                @task(outlets=[regions])
                def ingest(): ...
            """,
            consumer("regions", "StartOfDayMapper()"),
        )
        assert sentences("c")[0].startswith("regions emits keys that StartOfDayMapper cannot read: ")

    def test_are_followed_through_consumers_that_produce(self, define):
        define(
            HOURLY,
            """
            @asset(schedule=PartitionedAssetTimetable(assets=hourly, partition_mapper=StartOfDayMapper()))
            def days(self): ...

            @asset(schedule=PartitionedAssetTimetable(assets=days))
            def again(self): ...
            """,
            consumer("again", 'StartOfMonthMapper(input_format="%Y-%m")'),
        )
        assert sentences("days") == sentences("again") == []
        assert "again emits keys that StartOfMonthMapper cannot read: '2" in sentences("c")[0]

    def test_are_not_known_of_an_asset_that_feeds_itself(self, define):
        define(
            """
            own = Asset("own")
            with DAG("loop", schedule=PartitionedAssetTimetable(assets=own)):
                @task(outlets=[own])
                def write(): ...
            """
        )
        assert [each["code"] for each in dag("loop").problems] == ["circle"]

    def test_are_not_known_of_an_asset_with_different_producers(self, define):
        text = """
            with DAG("{0}", schedule=CronPartitionTimetable("{1}", key_format="{2}")):
                @task(outlets=[Asset("mixed")])
                def write(): ...
        """
        define(
            text.format("one", "0 0 * * *", "%Y-%m-%d"),
            text.format("two", "0 * * * *", "%Y-%m-%dT%H"),
            consumer('Asset("mixed")', "StartOfDayMapper()"),
        )
        assert dag("c").problems == []

    def test_that_were_seen_stand_for_those_that_are_not_known(self, define):
        texts = 'free = Asset("free")', consumer("free", "StartOfDayMapper()")
        define(*texts)
        assert dag("c").problems == []
        world.emit("free", "tw", "jp")
        define(*texts, at=LATER)
        assert sentences("c")[0].startswith("free emits keys that StartOfDayMapper cannot read: ")


def test_a_producer_that_changes_is_a_problem_of_its_consumers(directory):
    directory.write("producer", DAILY)
    directory.write(
        "consumer",
        """DAG("c", schedule=PartitionedAssetTimetable(
        assets=Asset("daily"), partition_mapper=StartOfMonthMapper(input_format="%Y-%m-%d")))""",
    )
    directory.sync()
    assert dag("c").problems == []
    directory.write("producer", DAILY.replace("%Y-%m-%d", "%d.%m.%Y"))
    directory.sync(LATER)
    assert sentences("c")[0].startswith("daily emits keys that StartOfMonthMapper cannot read: ")
