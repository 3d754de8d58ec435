"""What a Dag's page says about its definition, worked out when definitions are written."""

import pytest

from tests.sdk.problematic import DAILY, HOURLY, consumer, definer
from tests.sdk.writing import LATER, dag, sentences

pytestmark = pytest.mark.django_db


@pytest.fixture
def define(directory):
    return definer(directory)


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
