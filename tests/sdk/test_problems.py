"""What a Dag's page says about its definition, worked out when definitions are written."""

from datetime import datetime
from textwrap import dedent

import pytest

from tests.engine import world
from tests.sdk.writing import LATER, NOW, Directory, dag, sentences

pytestmark = pytest.mark.django_db

HOURLY = """
    @asset(schedule=CronPartitionTimetable("0 * * * *"))
    def hourly(self): ...
"""
DAILY = """
    @asset(schedule=CronPartitionTimetable("0 0 * * *", key_format="%Y-%m-%d"))
    def daily(self): ...
"""


@pytest.fixture
def define(directory: Directory):
    def load(*texts: str, at: datetime = NOW) -> None:
        directory.write("defs", "\n".join(dedent(text) for text in texts))
        directory.sync(at)

    return load


def consumer(assets: str, mapper: str = "IdentityMapper()", config: str = "{}") -> str:
    return f"""
    DAG("c", schedule=PartitionedAssetTimetable(
        assets={assets}, default_partition_mapper={mapper}, partition_mapper_config={config}
    ))
    """


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


class TestWarnings:
    def test_of_a_timetable(self, define):
        define(HOURLY, """DAG("plain", schedule=hourly)""")
        assert sentences("plain", "warning") == [
            "events of hourly that have a partition key will not start it"
        ]

    def test_of_a_format_that_names_two_hours_alike(self, define):
        define(
            """
            DAG("local", schedule=CronPartitionTimetable(
                "0 * * * *", timezone="Europe/Berlin", key_format="%Y-%m-%dT%H"
            ))
            """
        )
        [sentence] = sentences("local", "warning")
        assert "Europe/Berlin" in sentence
        assert "2026-10-25" in sentence

    def test_of_the_partitions_of_what_it_writes(self, define):
        define(
            """
            @asset(schedule=PartitionedAtRuntime(), partitions=HourlyPartitions(
                "2026-01-01", timezone="Europe/Berlin", key_format="%Y-%m-%dT%H"
            ))
            def local(self): ...
            """
        )
        [sentence] = sentences("local", "warning")
        assert sentence.startswith("local: ")
        assert "2026-10-25" in sentence

    def test_come_once(self, define):
        define(
            """
            x = Asset("x", partitions=HourlyPartitions(
                "2026-01-01", timezone="Europe/Berlin", key_format="%Y-%m-%dT%H"
            ))
            with DAG("local", schedule=PartitionedAtRuntime()):
                @task(outlets=[x])
                def one(): ...
                @task(outlets=[x])
                def two(): ...
            """
        )
        assert len(dag("local").problems) == 1


class TestPlugins:
    MAPPER = """
    from dataclasses import dataclass

    @register
    @dataclass(frozen=True)
    class {0}(Mapper):
        def to_downstream(self, key): return (key,)
        def warnings(self, now=None): return ("it is stubborn",)
        def {1}(self, *rest): raise RuntimeError("no")
    """

    def test_say_what_they_have_to_say(self, define):
        define(self.MAPPER.format("Stubborn", "unrelated"), HOURLY, consumer("hourly", "Stubborn()"))
        assert sentences("c", "warning") == ["it is stubborn"]

    def test_that_fail_spoil_one_page_and_no_more(self, define):
        define(
            self.MAPPER.format("Failing", "to_downstream"),
            HOURLY,
            DAILY,
            consumer("hourly & daily", "Failing()"),
        )
        assert dag("c").problems[0]["code"] == "agreement-unknown"
        assert "RuntimeError: no" in sentences("c", "warning")[0]
        assert dag("hourly").problems == dag("daily").problems == []

    def test_that_fail_to_warn_spoil_no_more_either(self, define):
        define(self.MAPPER.format("Silent", "warnings"), HOURLY, consumer("hourly", "Silent()"))
        assert [each["code"] for each in dag("c").problems] == ["warnings-unknown"]
        assert "RuntimeError: no" in sentences("c", "warning")[0]
        assert dag("hourly").problems == []


def test_problems_go_when_they_are_mended(define):
    define(HOURLY, DAILY, consumer("hourly & daily"))
    assert dag("c").problems
    define(
        HOURLY,
        DAILY,
        consumer("hourly & daily", "StartOfDayMapper()", "{daily: IdentityMapper()}"),
        at=LATER,
    )
    assert dag("c").problems == []


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
